"""The fast trainer is the plain one: its kernels share no code with it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.dictionaries import all_words
from tokdfa import TokdfaError
from tokdfa.base.errors import LimitExceededError
from tokdfa.training.greedy import train_greedy
from tokdfa.training.naive import train_naive
from tokdfa.training.rules import COUNT_RULES, TIE_RULES

RULES = [{"tie": tie, "count": count} for tie in TIE_RULES for count in COUNT_RULES]


def assert_equal(pieces: Mapping[Any, int], merges: int, **options: Any) -> None:
    fast, plain = train_greedy(pieces, merges, **options), train_naive(pieces, merges, **options)
    assert fast == plain, (pieces, merges, options)


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: "-".join(rules.values()))
def test_on_every_pair_of_short_words(rules: dict[str, Any]) -> None:
    words = [word for word in all_words("ab", 3) if word]
    for pieces in itertools.permutations(words, 2):
        assert_equal(dict(zip(pieces, (1, 2), strict=True)), 9, min_frequency=1, **rules)


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: "-".join(rules.values()))
def test_on_random_corpora(rules: dict[str, Any]) -> None:
    dice = random.Random(4)
    for _ in range(150):
        symbols = dice.choice(["a", "ab", "abc", "abcdefgh"])
        pieces = {
            "".join(dice.choices(symbols, k=dice.randint(1, dice.choice([4, 12, 60])))): dice.randint(1, 5)
            for _ in range(dice.randint(1, 8))
        }
        longest = dice.choice([None, None, 2, 3, 7])
        assert_equal(
            pieces,
            dice.choice([0, 1, 3, 500]),
            min_frequency=dice.randint(1, 4),
            max_token_length=None if rules["tie"] == "huggingface" else longest,
            **rules,
        )


@given(
    st.dictionaries(
        st.lists(st.sampled_from(["a", "b", "ab", "</w>"]), min_size=1, max_size=9).map(tuple), st.integers(1, 3)
    ),
    st.sampled_from(RULES),
)
def test_on_symbols_of_several_characters(pieces: dict[tuple[str, ...], int], rules: dict[str, Any]) -> None:
    assert_equal(pieces, 30, **rules)


@given(st.dictionaries(st.binary(min_size=1, max_size=20), st.integers(1, 2**40)), st.sampled_from(RULES))
def test_rules_on_bytes_are_the_plain_ones(pieces: dict[bytes, int], rules: dict[str, Any]) -> None:
    assert_equal(pieces, 30, **rules)


@given(st.dictionaries(st.text(st.characters(), min_size=1, max_size=20), st.integers(1, 3)), st.sampled_from(RULES))
def test_on_characters(pieces: dict[str, int], rules: dict[str, Any]) -> None:
    assert_equal(pieces, 30, **rules)


@pytest.mark.parametrize("alphabet", [bytes(reversed(range(256))), b"zab", None])
def test_on_an_alphabet_in_another_order(alphabet: bytes | None) -> None:
    assert_equal({b"abab": 1, b"zz ": 3, b"bab": 2}, 9, alphabet=alphabet)


def test_long_runs_stay_linear() -> None:
    d = train_greedy({"a" * 1_000_000: 1, "ab" * 300_000 + "c": 1}, 100)
    assert [len(rule.product) for rule in d[:4]] == [2, 2, 4, 4]


def test_the_same_for_any_steps_of_progress() -> None:
    pieces = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    seen: list[int] = []
    d = train_greedy(pieces, 8, progress=seen.append)
    assert d == train_greedy(pieces, 8)
    assert seen == list(range(1, 9))


@pytest.mark.parametrize("merges", [0, 1, 10**9])
@pytest.mark.parametrize("pieces", [{}, {"a": 3}, {b"a": 1}, {"ab": 1}])
def test_next_to_nothing(pieces: dict[Any, int], merges: int) -> None:
    assert_equal(pieces, merges)


def test_every_word_of_a_corpus(data: Any) -> None:
    words = (data / "corpora/fra_eng_en.txt").read_text(encoding="utf-8").split()[:1500]
    pieces = {word: words.count(word) for word in dict.fromkeys(words)}
    for rules in RULES:
        assert_equal(pieces, 150, **rules)


@pytest.mark.parametrize("count", [2**61, 2**63, 2**70])
def test_corpora_whose_counts_do_not_fit_are_refused(count: int) -> None:
    with pytest.raises(LimitExceededError, match="less than 2⁶² symbols fit"):
        train_greedy({"ab": count, "abc": 1}, 1)


def test_the_plain_trainers_refusals() -> None:
    with pytest.raises(TokdfaError, match="tie rule"):
        train_greedy({"ab": 2}, 1, tie="none")  # type: ignore[arg-type]
