"""Equal languages and equal shapes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.automata import language, spelled_language, token_dfas
from tokdfa import TokenAlphabet
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.errors import AlphabetError


@given(token_dfas(max_states=4), token_dfas(max_states=4))
def test_the_witness_is_a_shortest_difference(first: TokenDFA, second: TokenDFA) -> None:
    verdict = first.equivalence(second)
    # Together they have at most eight states and a sink, so eight tokens distinguish any two.
    differences = language(first, 8) ^ language(second, 8)
    assert bool(verdict) == (not differences)
    if differences:
        witness = first.alphabet.numbers(verdict.witness)
        assert witness in differences
        assert len(witness) == min(map(len, differences))
        assert verdict.reason.startswith("only the first" if first.accepts(witness) else "only the second")


@given(token_dfas("ab", ["ab"], 3), token_dfas("ba", ["ba", "ab"], 3))
def test_tokens_are_compared_as_they_are_spelled(first: TokenDFA, second: TokenDFA) -> None:
    verdict = first.equivalence(second)
    differences = spelled_language(first, 6) ^ spelled_language(second, 6)
    assert bool(verdict) == (not differences)
    assert verdict or verdict.witness in differences


def test_a_token_that_the_other_lacks_is_a_difference() -> None:
    both, one = TokenDFA.universal("ab"), TokenDFA.universal("a")
    assert both.equivalence(one).witness == ("b",)
    assert one.equivalence(both).reason == "only the second accepts b"
    assert one.over(both.alphabet).equivalence(one)


def test_bytes_and_strings_cannot_be_compared() -> None:
    with pytest.raises(AlphabetError, match="over bytes cannot be compared with one over characters"):
        TokenDFA.universal(b"ab").equivalence(TokenDFA.universal("ab"))


@given(token_dfas(tokens=["ab"]), st.randoms(use_true_random=False))
def test_other_names_make_an_isomorphic_automaton(dfa: TokenDFA, rng) -> None:
    names = list(range(dfa.n_states))
    rng.shuffle(names)
    rows: list[dict[int, int]] = [{}] * dfa.n_states
    for p in range(dfa.n_states):
        rows[names[p]] = {token: names[q] for token, q in dfa.moves(p)}
    renamed = TokenDFA(dfa.alphabet, rows, names[dfa.initial], finals=[names[p] for p in dfa.finals])
    verdict = dfa.isomorphism(renamed)
    assert verdict
    assert all(names[p] == q for p, q in verdict.witness.items())
    assert len(verdict.witness) == dfa.reachable().n_states


@given(token_dfas(max_states=4), token_dfas(max_states=4))
def test_isomorphic_automata_are_equal_once_numbered_alike(first: TokenDFA, second: TokenDFA) -> None:
    alike = TokenDFA.from_automaton(first, first.alphabet) == TokenDFA.from_automaton(second, second.alphabet)
    assert bool(first.isomorphism(second)) == alike


@pytest.mark.parametrize(
    ("first", "second", "witness", "reason"),
    [
        ([(0, "a", 1)], [(0, "b", 1)], ("a",), "only one has a run"),
        ([(0, "a", 1), (1, "a", 0)], [(0, "a", 1), (1, "a", 1)], ("a", "a"), "only one returns"),
        ([(0, "a", 1), (1, "a", 2), (2, "a", 2)], [(0, "a", 1), (1, "a", 1)], ("a", "a"), "only one returns"),
    ],
)
def test_shapes_that_differ(first, second, witness, reason) -> None:
    verdict = TokenDFA.from_edges(first, finals=[]).isomorphism(TokenDFA.from_edges(second, finals=[]))
    assert not verdict
    assert verdict.witness == witness
    assert verdict.reason.startswith(reason)


def test_final_states_are_part_of_the_shape() -> None:
    edges = [(0, "a", 1)]
    verdict = TokenDFA.from_edges(edges, finals=[0]).isomorphism(TokenDFA.from_edges(edges, finals=[0, 1]))
    assert not verdict
    assert verdict.witness == ("a",)


def test_unreachable_states_are_no_part_of_the_shape() -> None:
    alphabet = TokenAlphabet("a")
    assert TokenDFA(alphabet, [{0: 0}], finals=[0]).isomorphism(TokenDFA(alphabet, [{0: 0}, {0: 0}], finals=[0, 1]))
