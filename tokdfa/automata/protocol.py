"""The protocol that every token automaton implements, checks of its numbers, and the warning about dead ends."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, Protocol, TypeVar, runtime_checkable

from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.base.errors import AutomatonError, LimitExceededError

S = TypeVar("S", bound=Hashable)


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
        raise LimitExceededError(f"{of} more than {limit} {what}", hint=f"raise max_{what}")


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
