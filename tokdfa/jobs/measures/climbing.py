"""Greatest sums of paths in the graph of canonical streams, by label correcting, and cycles that make them infinite.

Example: let each id weigh its bytes minus 3, as if a token had 3 bytes. If a cycle of ids has a positive sum, its
tokens have more than 3 bytes on average; repeated, it is a text with more. If none has one, then the greatest sum of
any path that ends in a state is finite. These sums are *potentials*: no id raises the potential by less than its
weight. So they prove that no cycle has more than 3 bytes per token.

A path may begin in any of the starting states with the sum 0. Where all states are starting states, only ids with a
weight that keeps a sum positive are followed, so good bounds are proved fast: few paths have positive sums.
"""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import Int64Array, IntegerArray
from tokdfa.jobs.measures.paths import Paths, Reached, StateTable
from tokdfa.jobs.measures.streams import are_first

RESET = -1
"""The step from the end of a text to the beginning of another one."""

_WALKED, _WALKED_EACH = 4, 64


class Climb:
    """The greatest sum of any path that ends in each state, and a path that has it.

    `weight` has an entry an id. With `resets`, a path may continue at the beginning after a stream has ended. If
    `starts` are all states that streams reach, ascending, no sum is below 0.
    """

    def __init__(
        self, paths: Paths, weight: Int64Array, starts: Int64Array, *, are_all: bool = True, resets: bool = False
    ) -> None:
        self._paths, self._weight, self._resets = paths, weight, resets
        self._are_all = are_all
        zero = np.zeros_like(starts)
        self._states = StateTable(*Reached(starts, zero, zero - 1, zero.copy()))
        self._groups: list[Int64Array] = []
        self.frontier = starts

    @property
    def codes(self) -> Int64Array:
        """The states that are reached so far, ascending."""
        return self._states.codes

    @property
    def ends(self) -> Int64Array:
        """Those of them where a stream may end."""
        return self.codes[self._paths.are_final(self.codes)]

    @property
    def highest(self) -> int:
        """The greatest sum of a path that ends with a text."""
        return int(self.sum_of(self.ends).max())

    def advance(self) -> Int64Array:
        """Follow all paths that are new by one id; return the states with greater sums than before."""
        codes, paths = self.frontier, self._paths
        found: list[Reached] = []
        for group, sum in paths.groups(codes, self.sum_of(codes)):
            base, _ = paths.parts(int(codes[group[0]]))
            useful = self._weight > -sum if self._are_all else None
            after, ids = paths.following(base, codes[group] % paths.streams.n_rows, useful)
            found.append(self._made(codes[group], after, sum + self._weight[ids], ids))
            if self._resets and sum > 0 and paths.streams.is_final(base):
                zero = np.zeros(1, dtype=np.int64)
                found.append(self._made(codes[group], zero, zero + sum, zero + RESET))
        self.frontier = self._improved(Reached.joined(found))
        return self.frontier

    def _made(self, before: Int64Array, codes: Int64Array, sums: Int64Array, ids: IntegerArray) -> Reached:
        self._groups.append(before)
        return Reached(codes, sums, np.full(len(codes), len(self._groups) - 1), ids.astype(np.int64))

    def _improved(self, found: Reached) -> Int64Array:
        """Enter the states that have greater sums than before; return them."""
        found = found.at(np.lexsort((-found.sums, found.codes)))
        found = found.at(are_first(found.codes))
        at, known = self._states.find(found.codes)
        better = known & (found.sums > self._states.values[0][at])
        for values, new in zip(self._states.values, found[1:], strict=True):
            values[at[better]] = new[better]
        if not self._are_all and not known.all():
            self._states.enter(*found.at(~known))
            better |= ~known
        return found.codes[better]

    def sum_of(self, codes: Int64Array) -> Int64Array:
        """Return the greatest sums of paths that end in states that are reached."""
        found: Int64Array = self._states.values[0][np.searchsorted(self.codes, codes)]
        return found

    def path(self, code: int) -> tuple[list[int], list[int], int | None]:
        """Return the states and steps of the path to a state, and where in it a cycle begins, if one does.

        A path with a cycle ends with it: its last state is that at the index returned.
        """
        states, steps, seen = [code], list[int](), {code: 0}
        _, of_group, ids = self._states.values
        while True:
            at = int(np.searchsorted(self.codes, code))
            if of_group[at] < 0:
                return states[::-1], steps[::-1], None
            group = self._groups[of_group[at]]
            steps.append(int(ids[at]))
            code = int(group[0 if steps[-1] == RESET else self._paths.before(group, steps[-1], code)])
            states.append(code)
            if code in seen:
                begin = seen[code]
                return states[begin:][::-1], steps[begin:][::-1], 0
            seen[code] = len(states) - 1

    def cycle(self) -> tuple[int, list[int]] | None:
        """Advance until a cycle with a positive sum is found: its first state and its steps; None if there is none."""
        n_advances = 0
        while len(improved := self.advance()):
            n_advances += 1
            if n_advances % (n_advances // _WALKED_EACH + 1):
                continue  # PERF: paths are long by now; bounds of one text of 3,000 bytes take 5 s instead of 14.
            highest = improved[np.argsort(-self.sum_of(improved), kind="stable")[:_WALKED]]
            for code in highest.tolist():
                states, steps, begin = self.path(code)
                if begin is not None and sum(int(self._weight[id]) for id in steps if id != RESET) > 0:
                    return states[0], steps
        return None


def start_of(paths: Paths, start: int = 0) -> Climb:
    """Return the paths that begin in a state, none of them followed so far."""
    return Climb(paths, np.zeros_like(paths.weights.size[0]), np.array([start]), are_all=False)


def reach(paths: Paths, start: int = 0, *, up_to_end: bool = False, up_to: int | None = None) -> Climb:
    """Return all states that streams reach from a state, with paths of the fewest ids; or some, up to a final one.

    Or those up to the state `up_to`.
    """
    climb = start_of(paths, start)
    while len(climb.frontier) and not (up_to_end and paths.are_final(climb.frontier).any()):
        if up_to in climb.frontier:
            break
        climb.advance()
    return climb


def end_of(paths: Paths, climb: Climb) -> list[int]:
    """Return the ids of a path to a final state that was reached last."""
    return climb.path(int(climb.frontier[paths.are_final(climb.frontier)][0]))[1]
