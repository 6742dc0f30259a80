"""Context-invariance, against all pairs of short runs."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.support.automata import all_runs, token_dfas
from tokdfa.automata.fold import context_invariance
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.errors import LimitExceededError


def assert_decided_by_runs(dfa: TokenDFA, longest: int) -> None:
    """Compare the decision with all runs of up to `longest` symbols."""
    read: dict[object, set[tuple[int, ...]]] = {}
    for _, tau, _ in all_runs(dfa, longest):
        read.setdefault(dfa.alphabet.text(tau), set()).add(tau)
    ambiguous = [text for text, taus in read.items() if len(taus) > 1]
    verdict = context_invariance(dfa)
    if verdict:
        assert not ambiguous
        return
    text, first, second = verdict.witness
    assert first.tokens != second.tokens
    for run in (first, second):
        assert dfa.alphabet.text(run.tokens) == text
        for i, token in enumerate(run.tokens):
            assert dfa.run([token], run.states[i]) == run.states[i + 1]
    if len(text) <= longest:
        assert len(text) == min(map(len, ambiguous))
        fewest = min(
            sum(sorted(map(len, taus))[:2]) for word, taus in read.items() if len(word) == len(text) and len(taus) > 1
        )
        assert len(first.tokens) + len(second.tokens) == fewest
    else:
        assert not ambiguous


@given(token_dfas("ab", ["ab", "ba", "aba", "bb"], max_states=4))
def test_dense_automata(dfa: TokenDFA) -> None:
    assert_decided_by_runs(dfa, 5)


@given(token_dfas("a", ["aa", "aaa", "aaaaa"], max_states=6))
def test_automata_over_one_symbol_are_decided(dfa: TokenDFA) -> None:
    assert_decided_by_runs(dfa, 8)


@given(token_dfas("abc", ["abc", "bca", "cab", "ca"], max_states=3))
def test_long_overhangs(dfa: TokenDFA) -> None:
    assert_decided_by_runs(dfa, 6)


def test_pairs_that_mislead_are_looked_into() -> None:
    # a≀b and b≀c occur, so by its pairs abc could be a≀b≀c as well; but no run reads that.
    edges = [(0, "a", 1), (1, "b", 2), (3, "b", 4), (4, "c", 5), (6, "abc", 7)]
    assert context_invariance(TokenDFA.from_edges(edges, finals=[]))
    verdict = context_invariance(TokenDFA.from_edges([*edges, (2, "c", 5)], finals=[]))
    assert not verdict
    assert (verdict.witness.first.tokens, verdict.witness.second.tokens) == (("a", "b", "c"), ("abc",))


def test_useless_states_count() -> None:
    dfa = TokenDFA.from_edges([(0, "a", 0), (1, "aa", 1)], finals=[0])
    verdict = context_invariance(dfa)
    assert not verdict
    assert verdict.witness.text == "aa"
    assert context_invariance(dfa.trim())
    assert verdict.reason == "two runs read 'aa' differently: 0 –a→ 0 –a→ 0 and 1 –aa→ 1"


def test_the_search_has_a_budget() -> None:
    dfa = TokenDFA.from_edges([(0, "a", 1), (1, "a", 0), (0, "aaaaaaa", 1), (1, "aaaaaaaaa", 0)], finals=[0])
    with pytest.raises(LimitExceededError, match="max_configurations"):
        context_invariance(dfa, max_configurations=5)
    assert not context_invariance(dfa)
