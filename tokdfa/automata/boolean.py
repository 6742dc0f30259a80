"""Boolean operations on token automata, built lazily by running any two automata of the protocol side by side."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from operator import eq
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from tokdfa.automata.alphabet import TokenAlphabet
from tokdfa.automata.protocol import ListedAutomaton, MaskedAutomaton, TokenAutomaton, warn_of_dead_end
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.arrays import BoolArray
from tokdfa.base.errors import AutomatonError
from tokdfa.base.verdict import Displayed

S = TypeVar("S", bound=Hashable)
T = TypeVar("T", bound=Hashable)

# Up to this many moves are tried one by one rather than listed on both sides.
_FEW = 1000

Pair: TypeAlias = tuple[S | None, T | None]


class Combination(Displayed, Generic[S, T]):
    """Two token automata run side by side; a state is the pair of their states, None where one has no run left.

    Lazy: states and transitions are computed when they are needed. It implements the protocol of
    :class:`~tokdfa.automata.protocol.TokenAutomaton`. Tokens have the same numbers in both automata; one may have more.
    It accepts when `accepting` has the pair (the first accepts, the second accepts).

    An AutomatonError says that `accepting` has (False, False), which needs :func:`complement` because that knows all
    tokens, or that a token number means different words in the alphabets of the two.
    """

    def __init__(
        self, first: TokenAutomaton[S], second: TokenAutomaton[T], accepting: Iterable[tuple[bool, bool]]
    ) -> None:
        self.first = first
        self.second = second
        self._accepting = frozenset(accepting)
        if (False, False) in self._accepting:
            raise AutomatonError("a combination cannot accept what neither automaton accepts", hint="use complement")
        self._spelling = _common_spelling(_spelling(first), _spelling(second))
        # Whether something can still be accepted when the other automaton has no run left.
        self._first_alone = (True, False) in self._accepting
        self._second_alone = (False, True) in self._accepting

    @property
    def is_intersection(self) -> bool:
        """Whether the combination accepts if and only if both do."""
        return self._accepting == {(True, True)}

    @property
    def initial(self) -> Pair[S, T]:
        """The pair of initial states."""
        return self.first.initial, self.second.initial

    def step(self, state: Pair[S, T], token: int) -> Pair[S, T] | None:
        """Return the pair of states reached on `token`, or None if nothing can be accepted any more."""
        p, q = state
        p_next = None if p is None else self.first.step(p, token)
        if p_next is None and not self._second_alone:
            return None
        q_next = None if q is None else self.second.step(q, token)
        if q_next is None and (p_next is None or not self._first_alone):
            return None
        return p_next, q_next

    def is_final(self, state: Pair[S, T]) -> bool:
        """Return whether the combination accepts in `state`."""
        p, q = state
        accepted = (p is not None and self.first.is_final(p), q is not None and self.second.is_final(q))
        return accepted in self._accepting

    def moves(self, state: Pair[S, T]) -> Iterator[tuple[int, Pair[S, T]]]:
        """Yield every transition out of `state` as (token, target), tokens ascending."""
        p, q = state
        if not (self._first_alone or self._second_alone):
            if p is not None and q is not None:
                yield from self._common_moves(p, q)
            return
        first = {} if p is None else dict(self.first.moves(p))
        second = {} if q is None else dict(self.second.moves(q))
        for token in sorted(first.keys() | second.keys()):
            if (self._first_alone or token in second) and (self._second_alone or token in first):
                yield token, (first.get(token), second.get(token))

    def allowed_mask(self, state: Pair[S, T]) -> BoolArray:
        """Return whether `state` has a transition on each token, as a bool array over the token numbers.

        The mask is computed lazily, so a transition may lead to a dead end, from which nothing is accepted. The masks
        of ``TokenDFA.from_automaton(combination, alphabet).trim()`` have no dead ends. Where one is reached that allows
        no token at all, there is a :class:`~tokdfa.automata.protocol.DeadEndWarning`. An automaton without masks is an
        AutomatonError.
        """
        mask = self._mask(state)
        warn_of_dead_end(self, state, mask)
        return mask

    def _mask(self, state: Pair[S, T]) -> BoolArray:
        p, q = state
        first = None if p is None else _mask(self.first, p)
        second = None if q is None else _mask(self.second, q)
        if first is None or second is None:
            alone = self._first_alone if second is None else self._second_alone
            mask = first if second is None else second
            assert mask is not None
            return mask if alone else np.zeros_like(mask)
        if self._first_alone and self._second_alone:
            return first | second
        return first if self._first_alone else second if self._second_alone else first & second

    def _common_moves(self, p: S, q: T) -> Iterator[tuple[int, Pair[S, T]]]:
        # One state may have a hundred thousand transitions and the other one three. Listing both in lockstep until one
        # list ends costs twice the shorter list.
        if isinstance(self.second, ListedAutomaton):
            tokens, targets = self.second.move_arrays(q)
            if len(tokens) < _FEW:
                for token, q_next in zip(tokens.tolist(), targets.tolist(), strict=True):
                    if (p_next := self.first.step(p, token)) is not None:
                        yield token, (p_next, q_next)
                return
        first, second = self.first.moves(p), self.second.moves(q)
        p_moves: list[tuple[int, S]] = []
        q_moves: list[tuple[int, T]] = []
        while True:
            p_move = next(first, None)
            if p_move is None:
                stepped = ((token, (p_next, self.second.step(q, token))) for token, p_next in p_moves)
                yield from ((token, pair) for token, pair in stepped if pair[1] is not None)
                return
            q_move = next(second, None)
            if q_move is None:
                turned = ((token, (self.first.step(p, token), q_next)) for token, q_next in q_moves)
                yield from ((token, pair) for token, pair in turned if pair[0] is not None)
                return
            p_moves.append(p_move)
            q_moves.append(q_move)

    def __repr__(self) -> str:
        names = {
            frozenset({(True, True)}): "intersection",
            frozenset({(True, False)}): "difference",
            frozenset({(True, False), (False, True)}): "symmetric difference",
            frozenset({(True, True), (True, False), (False, True)}): "union",
        }
        return f"<{names.get(self._accepting, 'combination')} of {self.first!r} and {self.second!r}>"


class Complement(Displayed, Generic[S]):
    """The token automaton of everything over `n_tokens` tokens that `automaton` does not accept; None is its sink.

    Lazy, like :class:`Combination`.
    """

    def __init__(self, automaton: TokenAutomaton[S], n_tokens: int) -> None:
        self.automaton = automaton
        self.n_tokens = n_tokens

    @property
    def initial(self) -> tuple[S | None]:
        """The initial state."""
        return (self.automaton.initial,)

    def step(self, state: tuple[S | None], token: int) -> tuple[S | None] | None:
        """Return the state reached on `token`; None only for numbers that are not tokens."""
        if not 0 <= token < self.n_tokens:
            return None
        (p,) = state
        return (None if p is None else self.automaton.step(p, token),)

    def is_final(self, state: tuple[S | None]) -> bool:
        """Return whether `state` is final: it is if the state of the automaton is not."""
        (p,) = state
        return p is None or not self.automaton.is_final(p)

    def moves(self, state: tuple[S | None]) -> Iterator[tuple[int, tuple[S | None]]]:
        """Yield the transitions out of `state`, one on each token, ascending."""
        (p,) = state
        known = {} if p is None else dict(self.automaton.moves(p))
        return ((token, (known.get(token),)) for token in range(self.n_tokens))

    def __repr__(self) -> str:
        return f"<complement of {self.automaton!r} over {self.n_tokens} tokens>"


def _spelling(automaton: object) -> TokenAlphabet | None:
    if isinstance(automaton, Combination):
        return automaton._spelling
    if isinstance(automaton, Complement):
        return _spelling(automaton.automaton)
    alphabet = getattr(automaton, "alphabet", None)
    return alphabet if isinstance(alphabet, TokenAlphabet) else None


def _common_spelling(first: TokenAlphabet | None, second: TokenAlphabet | None) -> TokenAlphabet | None:
    """Return the longer of two alphabets, after checking that it begins with the other one."""
    if first is None or second is None or first is second:
        return second if first is None else first
    if not all(map(eq, first, second)):
        number = list(map(eq, first, second)).index(False)
        raise AutomatonError(
            "the automata number their tokens differently",
            value=(first[number], second[number]),
            where=f"token {number}",
            hint="convert explicit automata to one alphabet with TokenDFA.over",
        )
    return max(first, second, key=len)


def _mask(automaton: object, state: Any) -> BoolArray:
    # A dead end of one automaton need not be one of both.
    if isinstance(automaton, Combination):
        return automaton._mask(state)
    if isinstance(automaton, TokenDFA):
        return automaton.mask_of_moves(state)
    if not isinstance(automaton, MaskedAutomaton):
        raise AutomatonError("this automaton has no masks", value=automaton)
    return automaton.allowed_mask(state)


def intersection(first: TokenAutomaton[S], second: TokenAutomaton[T]) -> Combination[S, T]:
    """Return the lazy automaton of the tokenizations that both automata accept."""
    return Combination(first, second, {(True, True)})


def union(first: TokenAutomaton[S], second: TokenAutomaton[T]) -> Combination[S, T]:
    """Return the lazy automaton of the tokenizations that at least one of the automata accepts."""
    return Combination(first, second, {(True, True), (True, False), (False, True)})


def difference(first: TokenAutomaton[S], second: TokenAutomaton[T]) -> Combination[S, T]:
    """Return the lazy automaton of the tokenizations that only the first automaton accepts."""
    return Combination(first, second, {(True, False)})


def symmetric_difference(first: TokenAutomaton[S], second: TokenAutomaton[T]) -> Combination[S, T]:
    """Return the lazy automaton of the tokenizations that exactly one of the automata accepts."""
    return Combination(first, second, {(True, False), (False, True)})


def complement(automaton: TokenAutomaton[S], n_tokens: int) -> Complement[S]:
    """Return the lazy automaton of the sequences of tokens below `n_tokens` that `automaton` does not accept."""
    return Complement(automaton, n_tokens)
