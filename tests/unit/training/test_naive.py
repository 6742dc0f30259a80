"""The plain trainer against hand-worked examples and its own definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa import TokdfaError
from tokdfa.training.naive import apply_rule, count_pairs, train_naive
from tokdfa.training.rules import COUNT_RULES, TIE_RULES


@pytest.mark.parametrize(
    ("tie", "merges"),
    [
        # ba, ab and cd occur twice each.
        ("first-seen", [("b", "a")]),
        ("oldest-pair", [("b", "a")]),
        ("huggingface", [("a", "b")]),
        ("sentencepiece", [("a", "b")]),
        ("subword-nmt", [("c", "d")]),
    ],
)
def test_ties_go_to_the_pair_that_the_rule_names(tie: str, merges: list[tuple[str, str]]) -> None:
    assert list(train_naive({"bab": 2, "cd": 2}, 1, tie=tie)) == merges


def test_age_and_place_are_told_apart() -> None:
    # After lo, the pair (lo, w) comes first in the text, but er has been there from the beginning.
    pieces = {"low": 1, "lower": 1, "her": 1}
    assert [str(rule) for rule in train_naive(pieces, 2, tie="first-seen")] == ["l≀o", "lo≀w"]
    assert [str(rule) for rule in train_naive(pieces, 2, tie="oldest-pair")] == ["l≀o", "e≀r"]


def test_bytes_are_compared_in_the_order_of_the_byte_alphabet_of_gpt2() -> None:
    # Space is U+0120 there, after the letters; in the order of bytes it would come first.
    assert list(train_naive({b" a": 2, b"bc": 2}, 1, tie="huggingface")) == [(b"b", b"c")]


def test_sentencepiece_prefers_the_shorter_product_and_then_the_least_one() -> None:
    d = train_naive({"zyx": 3, "zy": 2, "ab": 3}, 3, tie="sentencepiece")
    assert [str(rule) for rule in d] == ["z≀y", "a≀b", "zy≀x"]


def test_a_run_counts_what_merging_would_replace_or_its_positions() -> None:
    assert len(count_pairs([0, 0, 0], "non-overlapping")) == 1
    assert len(count_pairs([0, 0, 0], "overlapping")) == 2
    assert train_naive({"aaa": 1, "bcbc": 1}, 1) == train_naive({"bcbc": 1, "aaa": 1}, 1)
    assert train_naive({"bcbc": 1, "aaa": 1}, 1, count="overlapping")[0] == ("b", "c")
    assert train_naive({"aaaa": 1, "bcbc": 1}, 1, count="overlapping")[0] == ("a", "a")


def test_least_frequency_and_longest_token() -> None:
    assert len(train_naive({"abcd": 1}, 9)) == 0
    assert len(train_naive({"abcd": 1}, 9, min_frequency=1)) == 3
    assert [str(rule) for rule in train_naive({"abcdabcd": 1}, 9, max_token_length=3)] == ["a≀b", "ab≀c"]


def test_symbols_may_be_longer_than_a_character() -> None:
    d = train_naive({("l", "o", "</w>"): 2}, 2)
    assert [str(rule) for rule in d] == ["l≀o", "lo≀</w>"]
    assert d.alphabet.symbols == (("</w>",), ("l",), ("o",))


def test_the_alphabet_given_comes_first() -> None:
    assert train_naive({"ba": 1}, 0, alphabet="xb").alphabet.symbols == ("x", "b", "a")
    assert len(train_naive({b"ba": 1}, 0).alphabet) == 256


@pytest.mark.parametrize("options", [{"tie": "none"}, {"count": "none"}, {"min_frequency": 0}, {"max_token_length": 1}])
def test_rules_that_do_not_exist_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(TokdfaError):
        train_naive({"ab": 2}, 1, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("pieces", [{"a": 1, b"a": 1}, {"": 1}, {b"": 2}, {1: 1}])
def test_pieces_that_are_not_words_of_one_kind_are_refused(pieces: dict[object, int]) -> None:
    with pytest.raises(TokdfaError):
        train_naive(pieces, 1)  # type: ignore[arg-type]


@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=9), st.integers(1, 3), max_size=5),
    st.sampled_from(TIE_RULES),
    st.sampled_from(COUNT_RULES),
)
def test_trained_dictionaries_are_proper_and_never_make_a_token_twice(
    pieces: dict[str, int], tie: str, count: str
) -> None:
    d = train_naive(pieces, 20, tie=tie, count=count, min_frequency=1)  # type: ignore[arg-type]
    assert d.properness()
    assert len({rule.product for rule in d}) == len(d)


@given(st.lists(st.integers(0, 2), max_size=12), st.tuples(st.integers(0, 2), st.integers(0, 2)))
def test_non_overlapping_counts_are_the_replacements_made(text: list[int], pair: tuple[int, int]) -> None:
    replaced = len(text) - len(apply_rule(text, pair, 3))
    assert count_pairs(text, "non-overlapping").count(pair) == replaced
