"""Degrees of locality, against all tokenizations; pinned degrees of ten languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.automata import iter_tokenizations, token_dfas
from tests.support.languages import LANGUAGES
from tokdfa import Dictionary, TokenAlphabet
from tokdfa.automata.fold import token_dfa
from tokdfa.automata.locality import dloc, k_locality, local_from, states_after
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.errors import AlphabetError, AutomatonError, LimitExceededError

# For T^D(L) of each language, as built and minimal: the number of states, dloc(A, k) for k from 1 to 4, and from which
# k on the automaton is k-local.
FIVE_RULES = Dictionary.from_pairs([("a", "a"), ("a", "b"), ("ab", "a"), ("b", "b"), ("aa", "ab")])
DEGREES = {
    "everything": ((6, [1, 1, 1, 1], 1), (5, [1, 1, 1, 1], 1)),
    "a*": ((2, [1, 1, 1, 1], 1), (2, [1, 1, 1, 1], 1)),
    "(ab)*": ((4, [1, 1, 1, 1], 1), (1, [1, 1, 1, 1], 0)),
    "begins with b": ((7, [1, 1, 1, 1], 1), (6, [1, 1, 1, 1], 1)),
    "third last is a": ((24, [4, 2, 1, 1], 3), (10, [3, 1, 1, 1], 2)),
    "contains aba": ((15, [3, 2, 2, 2], None), (10, [3, 2, 2, 2], None)),
    "no bb": ((6, [1, 1, 1, 1], 1), (5, [1, 1, 1, 1], 1)),
    "even number of a": ((12, [2, 2, 2, 2], None), (8, [2, 2, 2, 2], None)),
    "length divisible by 3": ((18, [3, 3, 3, 3], None), (11, [3, 3, 3, 3], None)),
    "ab, aab, bab or abba": ((11, [4, 2, 1, 0], 3), (6, [3, 1, 1, 0], 2)),
}

AUTOMATA = token_dfas("ab", ["ab"], max_states=5)


def degree_by_trying_everything(dfa: TokenDFA, k: int) -> int:
    degree = 0
    for tau in iter_tokenizations(len(dfa.alphabet), k):
        if len(tau) == k:
            ends = {dfa.run(tau, state) for state in range(dfa.n_states)} - {None}
            degree = max(degree, len(ends))
    return degree


@given(AUTOMATA, st.integers(0, 4))
def test_dloc_is_the_largest_number_of_ends(dfa: TokenDFA, k: int) -> None:
    degree, tokenization, states = dloc(dfa, k)
    assert degree == degree_by_trying_everything(dfa, k)
    if degree:
        assert len(tokenization) == k
        assert len(states) == degree
        assert states == states_after(dfa, tokenization)
    else:
        assert tokenization is None


@given(AUTOMATA, st.integers(0, 12))
def test_is_k_local_says_whether_dloc_is_at_most_one(dfa: TokenDFA, k: int) -> None:
    verdict = k_locality(dfa, k)
    assert bool(verdict) == (dloc(dfa, k).degree <= 1)
    if not verdict:
        first, second = verdict.witness
        assert first.tokens == second.tokens
        assert len(first.tokens) == k
        assert first.states[-1] != second.states[-1]
        for run in (first, second):
            assert dfa.run(run.tokens, run.states[0]) == run.states[-1]


@given(AUTOMATA)
def test_local_from_is_the_least_k_or_none(dfa: TokenDFA) -> None:
    least = local_from(dfa)
    # A path of distinct pairs of at most five states has at most nine steps.
    assert least == next((k for k in range(11) if k_locality(dfa, k)), None)
    if least:
        assert not k_locality(dfa, least - 1)


@pytest.mark.parametrize("name", LANGUAGES)
def test_degrees_of_ten_languages(name: str) -> None:
    built = token_dfa(FIVE_RULES, LANGUAGES[name])
    for dfa, expected in zip((built, built.minimize()), DEGREES[name], strict=True):
        degrees = [dloc(dfa, k).degree for k in range(1, 5)]
        assert (dfa.n_states, degrees, local_from(dfa)) == expected
        assert degrees == [degree_by_trying_everything(dfa, k) for k in range(1, 5)]
    assert dloc(built, 1).degree == dloc(LANGUAGES[name], 1).degree


def test_a_single_state_remembers_nothing() -> None:
    dfa = TokenDFA.universal("ab")
    assert local_from(dfa) == 0
    assert [dloc(dfa, k).degree for k in range(3)] == [1, 1, 1]


def test_without_runs_the_degree_is_zero() -> None:
    dfa = TokenDFA.from_edges([(0, "a", 1), (1, "b", 2)], finals=[2])
    assert [dloc(dfa, k).degree for k in range(5)] == [3, 1, 1, 0, 0]
    assert dloc(dfa, 2).tokenization == ("a", "b")
    assert dloc(dfa, 3) == (0, None, frozenset())


def test_a_counter_is_never_local() -> None:
    even = TokenDFA.from_edges([(0, "a", 1), (1, "a", 0)], finals=[0])
    assert local_from(even) is None
    verdict = k_locality(even, 3)
    assert verdict.reason == "two runs read the same 3 tokens: 0 –a→ 1 –a→ 0 –a→ 1 and 1 –a→ 0 –a→ 1 –a→ 0"


def test_the_degree_belongs_to_the_automaton() -> None:
    dfa = TokenDFA.from_edges([(0, "a", 1), (1, "a", 0)], finals=[0, 1])
    assert dloc(dfa, 1).degree == 2
    assert dloc(dfa.minimize(), 1).degree == 1


def test_a_long_memory() -> None:
    # A chain of 400 a's: its states differ only in where it ends.
    n = 400
    chain = TokenDFA(TokenAlphabet("a"), [{0: p + 1} for p in range(n)] + [{}], finals=[n])
    assert local_from(chain) == n
    assert dloc(chain, n // 2).degree == n // 2 + 1
    assert not k_locality(chain, n - 1)
    assert k_locality(chain, n)


def test_budgets_of_locality_are_kept() -> None:
    n = 30
    alphabet = TokenAlphabet("ab")
    # Černý's automaton: a rotates, b joins two neighbours; its subsets are many.
    rows = [{0: (p + 1) % n, 1: 1 if p == 0 else p} for p in range(n)]
    dfa = TokenDFA(alphabet, rows, finals=[0])
    with pytest.raises(LimitExceededError, match="max_sets"):
        dloc(dfa, 200, max_sets=100)
    with pytest.raises(LimitExceededError, match="max_pairs"):
        k_locality(dfa, 2, max_pairs=100)


def test_as_many_pairs_as_there_are_fit_the_budget() -> None:
    # One token leads from three states to three others, another one from two states to one.
    dfa = TokenDFA.from_edges([(0, "a", 3), (1, "a", 4), (2, "a", 5), (0, "b", 1), (1, "b", 1)], finals=[0])
    assert not k_locality(dfa, 1, max_pairs=3)
    with pytest.raises(LimitExceededError, match="more than 2 transitions"):
        k_locality(dfa, 1, max_pairs=2)


@pytest.mark.parametrize("decide", [dloc, k_locality])
def test_lengths_are_not_negative(decide) -> None:
    with pytest.raises(AutomatonError, match="k: the number of tokens must not be negative: -1"):
        decide(TokenDFA.universal("a"), -1)


def test_states_after_take_spelled_tokens() -> None:
    dfa = TokenDFA.from_edges([(0, "a", 1), (1, "a", 2)], finals=[2])
    assert states_after(dfa, ["a"]) == states_after(dfa, [0]) == {1, 2}
    assert states_after(dfa, []) == {0, 1, 2}
    with pytest.raises(AlphabetError):
        states_after(dfa, ["b"])
