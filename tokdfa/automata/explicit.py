"""The reachable part of any token automaton as an explicit DFA."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

from tokdfa.alphabet import TokenAlphabet
from tokdfa.automata.boolean import Combination
from tokdfa.automata.checks import check_budget
from tokdfa.automata.exploration import explore
from tokdfa.automata.product import intersect_explicit
from tokdfa.automata.protocol import TokenAutomaton
from tokdfa.automata.token_dfa import TokenDFA

__all__ = ["write_out"]

S = TypeVar("S", bound=Hashable)


def write_out(automaton: TokenAutomaton[S], alphabet: TokenAlphabet, max_states: int, max_transitions: int) -> TokenDFA:
    """Return the explicit DFA of the reachable part; see :meth:`TokenDFA.from_automaton`."""
    if (product := _intersection(automaton, alphabet, max_states, max_transitions)) is not None:
        return product
    transitions: list[dict[int, int]] = []
    finals: list[int] = []
    for state, row in explore(
        automaton,
        lambda count: check_budget("states", count, max_states),
        lambda count: check_budget("transitions", count, max_transitions),
    ):
        if automaton.is_final(state):
            finals.append(len(transitions))
        transitions.append(row)
    return TokenDFA(alphabet, transitions, finals=finals)


def _intersection(automaton: object, alphabet: TokenAlphabet, max_states: int, max_transitions: int) -> TokenDFA | None:
    """Return the intersection of two explicit automata; None if the automaton is something else."""
    if not isinstance(automaton, Combination) or not automaton.is_intersection:
        return None
    first, second = automaton.first, automaton.second
    if not (isinstance(first, TokenDFA) and isinstance(second, TokenDFA) and first.alphabet == second.alphabet):
        return None
    if first.alphabet != alphabet:
        return None
    return intersect_explicit(first, second, max_states=max_states, max_transitions=max_transitions)
