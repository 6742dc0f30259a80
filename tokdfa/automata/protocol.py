"""The protocol that every token automaton implements, checks of its numbers, and exploring automata and graphs.

One piece of code numbers states, and finds those that are reached, shortest paths and runs, for all kinds of states: of
token automata, of transducers and their squares, or of a pre-tokenizer, where they are sets of hypotheses.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from tokdfa.automata.alphabet import Word, show
from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.base.errors import Argument, AutomatonError, Hint, LimitExceededError
from tokdfa.kernels.dfa.explicit import breadth_first, group

if TYPE_CHECKING:
    from tokdfa.automata.token_dfa import TokenDFA


S = TypeVar("S", bound=Hashable)
L = TypeVar("L")


class TokenAutomaton(Protocol[S]):
    """A deterministic automaton over token numbers.

    Explicit, compact and lazily built automata all have these four members, and every algorithm is written once, for
    these members. States are hashable and opaque; tokens are non-negative integers. A missing transition means that
    nothing that begins this way is accepted.
    """

    @property
    def initial(self) -> S:
        """The initial state."""
        ...

    def step(self, state: S, token: int) -> S | None:
        """Return the state reached from `state` on `token`, or None without such a transition."""
        ...

    def is_final(self, state: S) -> bool:
        """Return whether `state` is final."""
        ...

    def moves(self, state: S) -> Iterator[tuple[int, S]]:
        """Yield every transition out of `state` as (token, target), tokens ascending."""
        ...


@runtime_checkable
class MaskedAutomaton(TokenAutomaton[S], Protocol[S]):
    """A token automaton that gives all tokens a state allows at once, as constrained decoding needs them."""

    def allowed_mask(self, state: S) -> BoolArray:
        """Return whether `state` has a transition on each token, as a bool array over the token numbers."""
        ...


@runtime_checkable
class ListedAutomaton(TokenAutomaton[S], Protocol[S]):
    """A token automaton that gives the moves of a state as arrays."""

    def move_arrays(self, state: S) -> tuple[Int32Array, Int32Array]:
        """Return the transitions out of `state`: the tokens, ascending, and their targets."""
        ...


def run(automaton: TokenAutomaton[S], tokenization: Iterable[int], state: S | None = None) -> S | None:
    """Return the state that `automaton` reaches on `tokenization`, from `state` or the initial state, or None."""
    current: S | None = automaton.initial if state is None else state
    for token in tokenization:
        if current is None:
            return None
        current = automaton.step(current, token)
    return current


def accepts(automaton: TokenAutomaton[S], tokenization: Iterable[int]) -> bool:
    """Return whether `tokenization` (token numbers) is in the language of `automaton`."""
    state = run(automaton, tokenization)
    return state is not None and automaton.is_final(state)


def checked(value: int, bound: int, what: str, where: str) -> int:
    """Return `value` after checking that it is an integer from 0 to `bound` - 1."""
    try:
        number = operator.index(value)
    except TypeError:
        raise AutomatonError(f"a {what} must be an integer", value=value, where=where) from None
    if not 0 <= number < bound:
        raise AutomatonError(f"{what} out of range", value=value, where=where, hint=f"0 to {bound - 1} exist")
    return number


def check_budget(what: str, count: int, limit: int, of: str = "the explicit DFA would have") -> None:
    """Raise LimitExceededError if `count` exceeds `limit`."""
    if count > limit:
        raise LimitExceededError(f"{of} more than {limit} {what}", hint=Hint("raise ", Argument(f"max_{what}")))


class DeadEndWarning(UserWarning):
    """The mask of a state from which nothing is accepted; sampling should use a trim automaton."""


def warn_of_dead_end(automaton: TokenAutomaton[Any], state: Any, mask: BoolArray) -> None:
    """Warn if the state of a mask is not final and allows no token: sampling is stuck there."""
    if not mask.any() and not automaton.is_final(state):
        warnings.warn(
            f"state {state} is a dead end: it allows no token and is not final. Sample with the masks of the trim "
            "automaton, TokenDFA.from_automaton(automaton, alphabet).trim(); see the guide on constrained decoding",
            DeadEndWarning,
            stacklevel=3,
        )


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
