"""Greatest sums of paths in the graph of canonical streams, by label correcting, and cycles that make them infinite.

Example: let each id weigh its bytes minus 3, as if a token had 3 bytes. If a cycle of ids has a positive sum, its
tokens have more than 3 bytes on average; repeated, it is a text with more. If none has one, then the greatest sum of
any path that ends in a state is finite. These sums are *potentials*: no id raises the potential by less than its
weight. So they prove that no cycle has more than 3 bytes a token.

A path may begin in any of the starting states with the sum 0. Where all states are starting states, only ids with a
weight that keeps a sum positive are followed, so good bounds are proved fast: few paths have positive sums.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int64Array, IntegerArray
from tokdfa.jobs.measures.paths import Paths
from tokdfa.jobs.measures.streams import grouped

RESET = -1
"""The step from the end of a text to the beginning of another one."""

_WALKED, _WALKED_EACH = 4, 64


class _Found(NamedTuple):
    """States that are reached, with the sums of the paths: arrays with an entry a state."""

    codes: Int64Array
    sums: Int64Array
    group: Int64Array  # The states before the last step, as an index of `Climb._groups`; -1 where a path begins
    ids: Int64Array  # The last step


class Climb:
    """The greatest sum of any path that ends in each state, and a path that has it.

    `weight` has an entry an id. With `resets`, a path may continue at the beginning after a stream has ended. If
    `starts` are all states that streams reach, ascending, no sum is below 0.
    """

    def __init__(
        self, paths: Paths, weight: Int64Array, starts: Int64Array, *, are_all: bool = True, resets: bool = False
    ) -> None:
        self._paths, self._weight, self._resets = paths, weight, resets
        self._are_all, self._codes = are_all, starts
        n = len(starts)
        self._sums, self._group = np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
        self._ids = np.zeros(n, dtype=np.int64)
        self._groups: list[Int64Array] = []
        self.frontier = self._codes

    @property
    def codes(self) -> Int64Array:
        """The states that are reached so far, ascending."""
        return self._codes

    def advance(self) -> Int64Array:
        """Follow all paths that are new by one id; return the states with greater sums than before."""
        codes = self.frontier
        sums = self._sums[np.searchsorted(self._codes, codes)]
        _, value = np.unique(sums, return_inverse=True)
        n_rows = self._paths.streams.n_rows
        found: list[_Found] = []
        for group in grouped((codes // n_rows) * (int(value.max(initial=0)) + 1) + value):
            base, _ = self._paths.parts(int(codes[group[0]]))
            sum = int(sums[group[0]])
            useful = self._weight > -sum if self._are_all else None
            after, ids = self._paths.following(base, codes[group] % n_rows, useful)
            found.append(self._made(codes[group], after, sum + self._weight[ids], ids))
            if self._resets and sum > 0 and self._paths.streams.is_final(base):
                zero = np.zeros(1, dtype=np.int64)
                found.append(self._made(codes[group], zero, zero + sum, zero + RESET))
        self.frontier = self._improved(_Found(*(np.concatenate(parts) for parts in zip(*found, strict=True))))
        return self.frontier

    def _made(self, before: Int64Array, codes: Int64Array, sums: Int64Array, ids: IntegerArray) -> _Found:
        self._groups.append(before)
        return _Found(codes, sums, np.full(len(codes), len(self._groups) - 1), ids.astype(np.int64))

    def _improved(self, found: _Found) -> Int64Array:
        """Enter the states that have greater sums than before; return them."""
        order = np.lexsort((-found.sums, found.codes))
        found = _Found(*(part[order] for part in found))
        first = np.append(True, found.codes[1:] != found.codes[:-1])[: len(order)]
        found = _Found(*(part[first] for part in found))
        at = np.minimum(np.searchsorted(self._codes, found.codes), len(self._codes) - 1)
        known = self._codes[at] == found.codes
        better = known & (found.sums > self._sums[at])
        self._sums[at[better]], self._group[at[better]] = found.sums[better], found.group[better]
        self._ids[at[better]] = found.ids[better]
        if not self._are_all and not known.all():
            new = _Found(*(part[~known] for part in found))
            joined = np.append(self._codes, new.codes)
            order = np.argsort(joined, kind="stable")
            self._codes = joined[order]
            self._sums = np.append(self._sums, new.sums)[order]
            self._group = np.append(self._group, new.group)[order]
            self._ids = np.append(self._ids, new.ids)[order]
            better |= ~known
        improved: Int64Array = found.codes[better]
        return improved

    def sum_of(self, codes: Int64Array) -> Int64Array:
        """Return the greatest sums of paths that end in states that are reached."""
        found: Int64Array = self._sums[np.searchsorted(self._codes, codes)]
        return found

    def path(self, code: int) -> tuple[list[int], list[int], int | None]:
        """Return the states and steps of the path to a state, and where in it a cycle begins, if one does.

        A path with a cycle ends with it: its last state is that at the index returned.
        """
        states, steps, seen = [code], list[int](), {code: 0}
        while True:
            at = int(np.searchsorted(self._codes, code))
            if self._group[at] < 0:
                return states[::-1], steps[::-1], None
            steps.append(int(self._ids[at]))
            code = self._before(code, self._groups[self._group[at]], steps[-1])
            states.append(code)
            if code in seen:
                begin = seen[code]
                return states[begin:][::-1], steps[begin:][::-1], 0
            seen[code] = len(states) - 1

    def _before(self, code: int, group: Int64Array, id: int) -> int:
        """Return one of a group of states from which an id leads to a state."""
        if id == RESET:
            return int(group[0])
        streams = self._paths.streams
        edges = streams.edges(self._paths.parts(int(group[0]))[0])
        number, target = int(np.searchsorted(edges.labels, id)), self._paths.parts(code)[0]
        forbidden = streams.forbids(group % streams.n_rows, id)
        leads = np.where(forbidden, edges.cut[number] == target, edges.free[number] == target)
        return int(group[np.flatnonzero(leads)[0]])

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


def are_final(paths: Paths, codes: Int64Array) -> BoolArray:
    """Return whether a stream may end, for each of some states."""
    bases, inverse = np.unique(codes // (paths.n_classes * paths.streams.n_rows), return_inverse=True)
    final = np.array([paths.streams.is_final(base) for base in bases.tolist()], dtype=np.bool_)
    return final[inverse]


def start_of(paths: Paths, start: int = 0) -> Climb:
    """Return the paths that begin in a state, none of them followed so far."""
    return Climb(paths, np.zeros_like(paths.weights.size[0]), np.array([start]), are_all=False)


def reach(paths: Paths, start: int = 0, *, up_to_end: bool = False, up_to: int | None = None) -> Climb:
    """Return all states that streams reach from a state, with paths of the fewest ids; or some, up to a final one.

    Or those up to the state `up_to`.
    """
    climb = start_of(paths, start)
    while len(climb.frontier) and not (up_to_end and are_final(paths, climb.frontier).any()):
        if up_to in climb.frontier:
            break
        climb.advance()
    return climb


def end_of(paths: Paths, climb: Climb) -> list[int]:
    """Return the ids of a path to a final state that was reached last."""
    return climb.path(int(climb.frontier[are_final(paths, climb.frontier)][0]))[1]
