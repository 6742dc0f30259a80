"""Exploring automata and graphs: numbering states, reachability, shortest paths, and runs.

One piece of code does each of these for all kinds of states: of token automata, of transducers and their squares, or of
a pre-tokenizer, where they are sets of hypotheses.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from tokdfa.automata.alphabet import Word, show
from tokdfa.automata.protocol import TokenAutomaton, check_budget
from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.kernels.dfa.explicit import breadth_first, group

if TYPE_CHECKING:
    from tokdfa.automata.token_dfa import TokenDFA

S = TypeVar("S", bound=Hashable)
L = TypeVar("L")


class Numbering(dict[S, int]):
    """The numbers of states, which are assigned when a state is first looked up: ``numbers[state]``.

    The state `start` has number 0. A breadth-first search walks through the list `states` while it looks up their
    successors. `check` is called with the number of states whenever one is added; it raises an error if there are too
    many.

    >>> numbers = Numbering(1)
    >>> [(n, numbers[2 * n % 7]) for n in numbers.states]
    [(1, 1), (2, 2), (4, 0)]
    """

    def __init__(self, start: S, check: Callable[[int], None] | None = None) -> None:
        super().__init__({start: 0})
        self.states = [start]
        self._check = check

    def __missing__(self, state: S) -> int:
        number = self[state] = len(self.states)
        self.states.append(state)
        if self._check is not None:
            self._check(number + 1)
        return number


def explore(
    automaton: TokenAutomaton[S], max_states: int, max_transitions: int, of: str = "the explicit DFA would have"
) -> Iterator[tuple[S, dict[int, int]]]:
    """Yield each reachable state, in breadth-first order, with the numbers of its targets by token, ascending.

    The number of a state is its index in the iteration. A LimitExceededError says what is `of` too many.
    """
    numbers = Numbering(automaton.initial, lambda count: check_budget("states", count, max_states, of))
    n_transitions = 0
    for state in numbers.states:  # grows during the loop
        row = {token: numbers[target] for token, target in automaton.moves(state)}
        n_transitions += len(row)
        check_budget("transitions", n_transitions, max_transitions, of)
        yield state, row


def closure(starts: Iterable[S], following: Callable[[S], Iterable[S]]) -> dict[S, None]:
    """Return the states that walks from some states reach, as keys in the order in which they are met."""
    found = dict.fromkeys(starts)
    queue = [*found]
    for state in queue:  # grows during the loop
        for target in following(state):
            if target not in found:
                found[target] = None
                queue.append(target)
    return found


def reached(sources: Int32Array, targets: Int32Array, starts: npt.ArrayLike) -> BoolArray:
    """Return, for each state, whether it can be reached along the transitions from one of `starts`: O(n + m), compiled.

    With sources and targets exchanged: whether one of `starts` can be reached from it.
    """
    starts = np.asarray(starts, dtype=np.bool_)
    offsets, positions = group(sources, len(starts))
    found = np.zeros(len(starts), dtype=np.bool_)
    found[breadth_first(offsets, targets[positions], np.flatnonzero(starts).astype(np.int32))] = True
    return found


def shortest_way(
    start: S,
    moves: Callable[[S], Iterable[tuple[L, S]]],
    is_goal: Callable[[S], bool],
    check: Callable[[int], None] | None = None,
) -> list[L] | None:
    """Return the labels on a shortest path from `start` to a goal; None if no goal can be reached.

    `moves` gives the transitions out of a state as (label, target). If labels ascend, the path is the least of the
    shortest ones in the order of labels. `check` is called with the number of states met so far, whenever a state that
    is not a goal is met; it raises an error if there are too many.
    """
    if is_goal(start):
        return []
    origin: dict[S, tuple[S, L]] = {}
    met = {start}
    queue = [start]
    for state in queue:  # grows during the loop
        for label, target in moves(state):
            if target in met:
                continue
            origin[target] = state, label
            if is_goal(target):
                return trace(origin, target)
            met.add(target)
            if check is not None:
                check(len(met))
            queue.append(target)
    return None


def trace(origin: Mapping[S, tuple[S, L]], state: S) -> list[L]:
    """Return the labels on the path to `state`, given the origin of each state; the start has no origin."""
    way = []
    while (came := origin.get(state)) is not None:
        state, label = came
        way.append(label)
    way.reverse()
    return way


class Run(NamedTuple):
    """A run: the states that it visits, and the spelled tokens between them."""

    states: tuple[int, ...]
    tokens: tuple[Word, ...]

    def __str__(self) -> str:
        steps = (f" –{show(token)}→ {state}" for token, state in zip(self.tokens, self.states[1:], strict=True))
        return f"{self.states[0]}{''.join(steps)}"


def run_from(dfa: TokenDFA, state: int, tokenization: Sequence[int]) -> Run | None:
    """Return the run from `state` that reads these token numbers, or None if there is none."""
    states = [state]
    for token in tokenization:
        following = dfa.step(states[-1], token)
        if following is None:
            return None
        states.append(following)
    return Run(tuple(states), dfa.alphabet.spell(tokenization))
