"""Folding dictionaries gives exactly the canonical sequences of Algorithm 1."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.campaigns.evidence.tally import Tally
from tests.support.automata import string_dfas
from tests.support.dictionaries import all_proper_dictionaries, all_words, proper_dictionaries
from tokdfa import Dictionary, TokenAlphabet
from tokdfa.automata.alphabet import Word
from tokdfa.automata.bpe import tokenize_single_pass
from tokdfa.automata.fold import apply_merge, iter_token_dfas, token_dfa
from tokdfa.automata.lift import language as regular_language
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.errors import AlphabetError, AutomatonError, ImproperDictionaryError, LimitExceededError, PatternError


def accepted_up_to(dfa: TokenDFA, longest: int) -> set[tuple[Word, ...]]:
    """All accepted sequences that spell up to `longest` symbols, with any number of tokens."""
    words = list(dfa.alphabet)
    accepted: set[tuple[Word, ...]] = set()
    level: list[tuple[tuple[Word, ...], int, int]] = [((), dfa.initial, longest)]
    while level:
        accepted.update(tau for tau, state, _ in level if dfa.is_final(state))
        level = [
            ((*tau, words[token]), target, left - len(words[token]))
            for tau, state, left in level
            for token, target in dfa.moves(state)
            if len(words[token]) <= left
        ]
    return accepted


def check_all_dictionaries(n_rules: int, longest: int, *, up_to_renaming: bool = False) -> tuple[int, int]:
    """Compare both ways for every proper dictionary of `n_rules` rules over ab; count them, and their words."""
    words = list(all_words("ab", longest))
    n_dictionaries = 0
    for dictionary in all_proper_dictionaries("ab", n_rules, up_to_renaming=up_to_renaming):
        n_dictionaries += 1
        expected = {tokenize_single_pass(dictionary, word) for word in words}
        assert accepted_up_to(token_dfa(dictionary), longest) == expected, dictionary
    return n_dictionaries, n_dictionaries * len(words)


@pytest.mark.parametrize(
    ("n_rules", "longest", "cases"),
    [(0, 8, (1, 511)), (1, 8, (4, 2_044)), (2, 8, (32, 16_352)), (3, 7, (448, 114_240)), (4, 3, (4_910, 73_650))],
)
def test_canonical_sequences_are_those_of_algorithm_1(n_rules: int, longest: int, cases: tuple[int, int]) -> None:
    assert check_all_dictionaries(n_rules, longest, up_to_renaming=n_rules == 4) == cases


@pytest.mark.slow
@pytest.mark.parametrize(("n_rules", "longest", "cases"), [(3, 10, (448, 917_056)), (4, 8, (9_820, 5_018_020))])
def test_canonical_sequences_are_those_of_algorithm_1_at_length(
    n_rules: int, longest: int, cases: tuple[int, int], tally: Tally
) -> None:
    assert check_all_dictionaries(n_rules, longest) == cases
    tally("construction", "exhaustive cases", cases[1])


@given(proper_dictionaries(), string_dfas("abc"), st.integers(4, 7))
def test_canonical_sequences_of_a_language(dictionary: Dictionary, language: TokenDFA, longest: int) -> None:
    dictionary = Dictionary(dictionary, "abc")
    words = ["".join(word) for word in accepted_up_to(language, longest)]
    expected = {tokenize_single_pass(dictionary, word) for word in words}
    assert accepted_up_to(token_dfa(dictionary, language), longest) == expected


@given(proper_dictionaries(), string_dfas("abc"))
def test_each_automaton_is_the_last_one_of_its_prefix(dictionary: Dictionary, language: TokenDFA) -> None:
    dictionary = Dictionary(dictionary, "abc")
    automata = list(iter_token_dfas(dictionary, language))
    assert len(automata) == len(dictionary) + 1
    for i, dfa in enumerate(automata):
        assert dfa == token_dfa(dictionary.prefix(i), language)
    assert automata[0] == language.over(automata[0].alphabet)


@given(proper_dictionaries(), string_dfas("abc"))
def test_one_merge_at_a_time_comes_to_the_same(dictionary: Dictionary, language: TokenDFA) -> None:
    dictionary = Dictionary(dictionary, "abc")
    dfa = language
    for rule, expected in zip(dictionary, list(iter_token_dfas(dictionary, language))[1:], strict=True):
        merge = apply_merge(dfa, rule.left, rule.right)
        assert merge.rule == rule
        assert merge.dfa == expected
        assert len(merge.gamma) == merge.dfa.n_states
        assert merge.gamma[: dfa.n_states] == tuple(range(dfa.n_states))
        assert all(merge.gamma[fresh] == state for state, fresh in merge.fresh.items())
        dfa = merge.dfa


def test_the_language_may_be_over_another_alphabet() -> None:
    dictionary = Dictionary.from_pairs([("b", "a")], "ab")
    dfa = token_dfa(dictionary, TokenDFA.universal("b"))
    assert dfa.accepts(["b", "b"])
    assert not dfa.accepts(["a"])
    with pytest.raises(AlphabetError, match="not a token of this alphabet: 'c'"):
        token_dfa(dictionary, TokenDFA.universal("bc"))


def test_the_language_reads_symbols_only() -> None:
    language = TokenDFA.from_edges([(0, "ab", 0)], finals=[0])
    with pytest.raises(AutomatonError, match="reads symbols only: 'ab'"):
        token_dfa(Dictionary.from_pairs([("b", "a")], "ab"), language)


def test_a_language_by_its_expression() -> None:
    dictionary = Dictionary.from_pairs([("a", "a"), ("b", "a")], "ab")
    assert token_dfa(dictionary, "(ab|b)*").equivalence(token_dfa(dictionary, regular_language("(ab|b)*", "ab")))
    with pytest.raises(PatternError):
        token_dfa(dictionary, "(a")


def test_the_empty_language_and_the_empty_word() -> None:
    dictionary = Dictionary.from_pairs([("a", "a")], "a")
    alphabet = TokenAlphabet("a")
    assert token_dfa(dictionary, TokenDFA(alphabet, [{}], finals=[])).finals == frozenset()
    assert token_dfa(dictionary, TokenDFA(alphabet, [{}], finals=[0])).accepts([])


def test_improper_dictionaries_are_refused_unless_asked_for() -> None:
    dictionary = Dictionary.from_pairs([("ab", "a"), ("a", "b")])
    with pytest.raises(ImproperDictionaryError, match="rule 0"):
        token_dfa(dictionary)
    with pytest.raises(ImproperDictionaryError, match="rule 0"):
        list(iter_token_dfas(dictionary))
    assert token_dfa(dictionary, check=False).n_states == 2
    assert [dfa.n_states for dfa in iter_token_dfas(dictionary, check=False)] == [1, 1, 2]


def test_real_size_runs_into_the_budget_and_not_out_of_memory() -> None:
    pairs = [(bytes([i]), bytes([j])) for i in range(256) for j in range(256)]
    with pytest.raises(LimitExceededError, match="CompactTokenDFA"):
        token_dfa(Dictionary.from_pairs(pairs), max_transitions=200_000)


def test_a_merge_needs_symbols_that_exist() -> None:
    with pytest.raises(AlphabetError):
        apply_merge(TokenDFA.universal("ab"), "a", "c")
