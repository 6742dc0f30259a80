"""Emptiness, inclusion and equivalence of any token automata, with the shortest witness."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

from tokdfa.automata.boolean import difference, symmetric_difference
from tokdfa.automata.exploration import shortest_way
from tokdfa.automata.protocol import TokenAutomaton, accepts
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.errors import LimitExceededError
from tokdfa.verdict import Verdict

__all__ = ["emptiness", "equivalence", "inclusion", "shortest"]

S = TypeVar("S", bound=Hashable)
T = TypeVar("T", bound=Hashable)

DEFAULT_MAX_STATES = 1_000_000


def shortest(automaton: TokenAutomaton[S], *, max_states: int = DEFAULT_MAX_STATES) -> tuple[int, ...] | None:
    """Return the accepted tokenization of fewest tokens, the least in token order among these; None if there is none.

    Raises
    ------
    LimitExceededError
        If more than `max_states` states have been met and none is final.
    """

    def check(count: int) -> None:
        if count > max_states:
            raise LimitExceededError(f"nothing accepted within {max_states} states", hint="raise max_states")

    # Tokens ascend, and so the way is the least of the shortest.
    way = shortest_way(automaton.initial, automaton.moves, automaton.is_final, check)
    return None if way is None else tuple(way)


def emptiness(automaton: TokenAutomaton[S], *, max_states: int = DEFAULT_MAX_STATES) -> Verdict[tuple[int, ...]]:
    """Decide whether `automaton` accepts nothing; the witness against it is its shortest member.

    Raises
    ------
    LimitExceededError
        As :func:`shortest`.
    """
    member = shortest(automaton, max_states=max_states)
    if member is None:
        return Verdict(True, None, "no tokenization is accepted")
    return Verdict(False, member, f"a tokenization of {len(member)} tokens is accepted")


def inclusion(
    first: TokenAutomaton[S], second: TokenAutomaton[T], *, max_states: int = DEFAULT_MAX_STATES
) -> Verdict[tuple[int, ...]]:
    """Decide whether everything that the first accepts is accepted by the second.

    Returns
    -------
    Verdict
        Its witness is what only the first accepts: of the fewest tokens, and then the least in token order.

    Raises
    ------
    LimitExceededError
        If more than `max_states` pairs of states have been met without an answer.
    """
    member = shortest(difference(first, second), max_states=max_states)
    if member is None:
        return Verdict(True, None, "the second accepts all that the first accepts")
    return Verdict(False, member, f"only the first accepts a tokenization of {len(member)} tokens")


def equivalence(
    first: TokenAutomaton[S], second: TokenAutomaton[T], *, max_states: int = DEFAULT_MAX_STATES
) -> Verdict[tuple[int, ...]]:
    """Decide whether both accept the same tokenizations, as token numbers.

    Returns
    -------
    Verdict
        Its witness is what exactly one of them accepts: of the fewest tokens, and then the least in token order.

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
    """Tell whether these are explicit automata that are equivalent, which is found out in compiled time."""
    return (
        isinstance(first, TokenDFA)
        and isinstance(second, TokenDFA)
        and first.alphabet == second.alphabet
        and bool(first.equivalence(second))
    )
