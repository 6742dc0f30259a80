"""The reachable part of any token automaton as an explicit DFA; of an intersection, built level by level."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tokdfa.automata.alphabet import TokenAlphabet
from tokdfa.automata.boolean import Combination
from tokdfa.automata.exploration import explore
from tokdfa.automata.protocol import TokenAutomaton, check_budget
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.arrays import Int64Array, running_sum

if TYPE_CHECKING:
    from tokdfa.automata.token_dfa import TokenDFA

__all__ = ["intersect_explicit", "write_out"]

_MOST_ENTRIES = 1 << 25


def intersect_explicit(first: TokenDFA, second: TokenDFA, *, max_states: int, max_transitions: int) -> TokenDFA | None:
    """Return the intersection of two DFAs over one alphabet, its states in breadth-first order, within the limits.

    None if tables of all pairs of states, and of all states and tokens, would be too large.
    """
    n_tokens = len(first.alphabet)
    n_pairs = first.n_states * second.n_states
    if max(n_pairs, (first.n_states + second.n_states) * n_tokens) > _MOST_ENTRIES:
        return None
    tables = [_table(dfa, n_tokens) for dfa in (first, second)]
    number = np.full(n_pairs, -1, dtype=np.int32)
    level = np.array([first.initial * second.n_states + second.initial], dtype=np.int64)
    number[level] = 0
    n_states, n_transitions = 1, 0
    levels, rows = [], []
    while len(level):
        ours, theirs = tables[0][level // second.n_states], tables[1][level % second.n_states]
        targets = np.where((ours >= 0) & (theirs >= 0), ours * second.n_states + theirs, -1)
        n_transitions += int(np.count_nonzero(targets >= 0))
        check_budget("transitions", n_transitions, max_transitions)
        levels.append(level)
        rows.append(targets)
        met, at = np.unique(targets.ravel(), return_index=True)
        is_new = met >= 0
        is_new[is_new] = number[met[is_new]] < 0
        # In the order in which a search from state to state would visit them.
        level = met[is_new][np.argsort(at[is_new])]
        number[level] = np.arange(n_states, n_states + len(level))
        n_states += len(level)
        check_budget("states", n_states, max_states)
    pairs, targets = np.concatenate(levels), np.concatenate(rows)
    places, tokens = np.nonzero(targets >= 0)
    offsets = running_sum(np.bincount(places, minlength=n_states))
    final = first.final[pairs // second.n_states] & second.final[pairs % second.n_states]
    return first.from_arrays(
        first.alphabet, offsets, tokens.astype(np.int32), number[targets[places, tokens]], 0, final
    )


def _table(dfa: TokenDFA, n_tokens: int) -> Int64Array:
    """Return the targets by state and token, -1 if there is none."""
    table = np.full((dfa.n_states, n_tokens), -1, dtype=np.int64)
    table[dfa.sources, dfa.tokens] = dfa.targets
    return table


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
