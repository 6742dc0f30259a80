"""Emptiness, inclusion and equivalence of any token automata, with the shortest witness."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

from tokdfa.automata.boolean import difference, symmetric_difference
from tokdfa.automata.protocol import TokenAutomaton, accepts, shortest_way
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.errors import LimitExceededError
from tokdfa.base.verdict import Verdict

__all__ = ["emptiness", "equivalence", "inclusion", "shortest"]

S = TypeVar("S", bound=Hashable)
T = TypeVar("T", bound=Hashable)

DEFAULT_MAX_STATES = 1_000_000


def shortest(automaton: TokenAutomaton[S], *, max_states: int = DEFAULT_MAX_STATES) -> tuple[int, ...] | None:
    """Return the accepted tokenization with the fewest tokens, and of these the least in token order; None if none.

    Raises
    ------
    LimitExceededError
        If more than `max_states` states have been visited and none is final.
    """

    def check(count: int) -> None:
        if count > max_states:
            raise LimitExceededError(f"nothing accepted within {max_states} states", hint="raise max_states")

    # Tokens ascend, so the path is the least of the shortest ones.
    way = shortest_way(automaton.initial, automaton.moves, automaton.is_final, check)
    return None if way is None else tuple(way)


def emptiness(automaton: TokenAutomaton[S], *, max_states: int = DEFAULT_MAX_STATES) -> Verdict[tuple[int, ...]]:
    """Decide whether `automaton` accepts nothing; the witness against it is its shortest member.

    Raises
    ------
    LimitExceededError
        As for :func:`shortest`.
    """
    member = shortest(automaton, max_states=max_states)
    if member is None:
        return Verdict(True, None, "no tokenization is accepted")
    return Verdict(False, member, f"a tokenization of {len(member)} tokens is accepted")


def inclusion(
    first: TokenAutomaton[S], second: TokenAutomaton[T], *, max_states: int = DEFAULT_MAX_STATES
) -> Verdict[tuple[int, ...]]:
    """Decide whether the second automaton accepts everything that the first accepts.

    Returns
    -------
    Verdict
        Its witness is a tokenization that only the first accepts: the least in token order of those with the fewest
        tokens.

    Raises
    ------
    LimitExceededError
        If more than `max_states` pairs of states have been met without an answer.
    """
    member = shortest(difference(first, second), max_states=max_states)
    if member is None:
        return Verdict(True, None, "the second accepts everything that the first accepts")
    return Verdict(False, member, f"only the first accepts a tokenization of {len(member)} tokens")


def equivalence(
    first: TokenAutomaton[S], second: TokenAutomaton[T], *, max_states: int = DEFAULT_MAX_STATES
) -> Verdict[tuple[int, ...]]:
    """Decide whether both automata accept the same tokenizations, as token numbers.

    Returns
    -------
    Verdict
        Its witness is a tokenization that exactly one of them accepts: the least in token order of those with the
        fewest tokens.

    Raises
    ------
    LimitExceededError
        If more than `max_states` pairs of states have been met without an answer.
    """
    if _are_equivalent_explicit(first, second):
        return Verdict(True, None, "both accept the same language")
    member = shortest(symmetric_difference(first, second), max_states=max_states)
    if member is None:
        return Verdict(True, None, "both accept the same language")
    accepting = "first" if accepts(first, member) else "second"
    return Verdict(False, member, f"only the {accepting} accepts a tokenization of {len(member)} tokens")


def _are_equivalent_explicit(first: object, second: object) -> bool:
    """Return whether both are explicit automata and equivalent, decided by compiled code."""
    return (
        isinstance(first, TokenDFA)
        and isinstance(second, TokenDFA)
        and first.alphabet == second.alphabet
        and bool(first.equivalence(second))
    )
