"""Counting, listing and drawing the members of a language."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice, product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.automata import language, token_dfas
from tokdfa import TokenAlphabet
from tokdfa.automata.boolean import complement, union
from tokdfa.automata.language import Language
from tokdfa.automata.protocol import accepts
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.errors import AutomatonError, LimitExceededError


@given(token_dfas("ab", max_states=5))
def test_members_are_counted_and_listed_in_order(dfa: TokenDFA) -> None:
    members = sorted(language(dfa, 6), key=lambda member: (len(member), member))
    counts = Counter(map(len, members))
    found = Language(dfa)
    assert [found.count(length) for length in range(7)] == [counts[length] for length in range(7)]
    assert list(islice(found, len(members))) == members


@given(token_dfas("ab", max_states=5))
def test_membership_is_that_of_the_automaton(dfa: TokenDFA) -> None:
    found = Language(dfa)
    for length in range(5):
        for word in product(range(len(dfa.alphabet)), repeat=length):
            assert (word in found) == (list(word) in found) == accepts(dfa, word)
    assert not any(other in found for other in ((-1,), (len(dfa.alphabet),), ("a",), (None,), "a", 0, None))


@given(token_dfas("ab", max_states=5))
def test_finiteness_is_by_pumping(dfa: TokenDFA) -> None:
    found = Language(dfa)
    # A member longer than there are states repeats one of them.
    members = language(dfa, 2 * dfa.n_states)
    long = [member for member in members if len(member) >= dfa.n_states]
    verdict = found.finiteness()
    assert bool(verdict) == (not long)
    assert found.is_empty() == (not members)
    if verdict:
        assert found.longest == max(map(len, members), default=-1)
        assert list(found) == sorted(members, key=lambda member: (len(member), member))
    else:
        assert found.longest is None
        x, y, z = verdict.witness
        assert y
        assert all(accepts(dfa, x + y * n + z) for n in range(4))


def test_lazy_automata_have_languages_too() -> None:
    a = TokenDFA.from_edges([(0, "a", 1)], finals=[1], symbols="ab")
    b = TokenDFA.from_edges([(0, "b", 1), (1, "a", 2)], finals=[2], symbols="ab")
    assert list(Language(union(a, b))) == [(0,), (1, 0)]
    assert [Language(complement(a, 2)).count(length) for length in range(4)] == [1, 1, 4, 8]


def test_counts_beyond_machine_integers_are_exact() -> None:
    everything = Language(TokenDFA.universal(b"".join(bytes([i]) for i in range(256))))
    assert everything.count(100) == 256**100
    assert len(everything.sample(100)) == 100


@given(token_dfas("ab", max_states=4), st.integers(0, 5), st.randoms(use_true_random=False))
def test_samples_are_members(dfa: TokenDFA, length: int, rng: random.Random) -> None:
    found = Language(dfa)
    assume(found.count(length))
    for _ in range(5):
        sample = found.sample(length, rng)
        assert len(sample) == length
        assert accepts(dfa, sample)


def test_samples_are_uniform() -> None:
    # Words over a and b without bb: their continuations differ in number, so uniform choices of tokens would not do.
    dfa = TokenDFA.from_edges([(0, "a", 0), (0, "b", 1), (1, "a", 0)], finals=[0, 1])
    found = Language(dfa)
    assert found.count(6) == 21
    rng = random.Random(7)
    drawn = Counter(found.sample(6, rng) for _ in range(21_000))
    assert set(drawn) == {member for member in language(dfa, 6) if len(member) == 6}
    # The sum of squared deviations follows chi² with 20 degrees of freedom; 45.3 is exceeded once in a thousand times.
    assert sum((times - 1000) ** 2 / 1000 for times in drawn.values()) < 45.3


def test_there_must_be_something_to_draw_or_to_count() -> None:
    dfa = TokenDFA.from_edges([(0, "a", 1)], finals=[1])
    with pytest.raises(AutomatonError, match="the language has no member with this number of tokens: 2"):
        Language(dfa).sample(2)
    with pytest.raises(AutomatonError, match="must not be negative"):
        Language(dfa).count(-1)


def test_budgets_are_kept() -> None:
    chain = TokenDFA(TokenAlphabet("ab"), [{0: i + 1, 1: i + 1} for i in range(20)] + [{}], finals=[20])
    assert Language(chain, max_states=21, max_transitions=40).count(20) == 2**20
    with pytest.raises(LimitExceededError, match="20 states"):
        Language(chain, max_states=20)
    with pytest.raises(LimitExceededError, match="39 transitions"):
        Language(chain, max_transitions=39)


def test_depth_is_no_obstacle() -> None:
    n = 1_200
    chain = TokenDFA(TokenAlphabet("a"), [{0: i + 1} for i in range(n)] + [{}], finals=[n])
    found = Language(chain)
    assert list(found) == [(0,) * n]
    assert found.longest == n
