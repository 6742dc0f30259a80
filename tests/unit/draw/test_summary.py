"""The summary of an automaton too large to draw: counts, and the surroundings of a token."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given

from tests.support.dictionaries import proper_dictionaries
from tokdfa import CompactTokenDFA, Dictionary, token_dfa
from tokdfa.base.errors import AlphabetError
from tokdfa.draw.summary import around, summarize


@given(proper_dictionaries())
def test_counts_are_those_of_the_automaton_written_out(dictionary: Dictionary) -> None:
    dfa = token_dfa(dictionary)
    for automaton in (CompactTokenDFA(dictionary), dfa):
        summary = summarize(automaton, most=2)
        assert (summary.states, summary.transitions) == (dfa.n_states, dfa.n_transitions)
        counts = Counter(target for target, _ in {*zip(dfa.targets.tolist(), dfa.tokens.tolist(), strict=True)})
        assert summary.densest[0].n_tokens == max(counts.values())
        for dense in summary.densest:
            assert dense.n_moves == len(list(dfa.moves(dense.state)))
            assert dense.n_tokens == counts[dense.state]


@pytest.mark.parametrize("kind", [CompactTokenDFA, token_dfa])
def test_around_a_token(kind: type[CompactTokenDFA]) -> None:
    graph = around(kind(Dictionary.from_pairs([("a", "a"), ("b", "a")], "ab")), "b")
    assert [(node.label, node.marked) for node in graph.nodes] == [
        ("0", False),
        ("2", True),
        ("1", False),
        ("a", False),
    ]
    assert [(edge.source, edge.target, edge.labels) for edge in graph.edges[:2]] == [
        ("0", "2", ("b",)),
        ("2", "0", ("aa",)),
    ]
    assert graph.edges[-1].labels == ("never",)
    assert graph.description == "The surroundings of the token b: it leads to 2."
    few = around(kind(Dictionary.from_pairs([("a", "a"), ("b", "a")], "ab")), "b", max_states=1)
    assert "2 more states\nby 2 tokens" in [node.label for node in few.nodes]


def test_around_a_token_that_does_not_occur() -> None:
    dictionary = Dictionary.from_pairs([("a", "b"), ("b", "c"), ("a", "bc")], "abc")
    with pytest.raises(AlphabetError, match="no run reads this token: 'abc'"):
        around(CompactTokenDFA(dictionary), "abc")
    with pytest.raises(AlphabetError):
        around(CompactTokenDFA(dictionary), "cc")
