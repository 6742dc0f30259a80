"""The protocol that every token automaton implements."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Protocol, TypeVar, runtime_checkable

from tokdfa.arrays import BoolArray, Int32Array

__all__ = ["ListedAutomaton", "MaskedAutomaton", "TokenAutomaton", "accepts", "run"]

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
        """Return the state reached from `state` on `token`, or None if there is no such transition."""
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
