"""SPEEDY (Fast and meaningful tokenization): the merges it prints, in its prose and by its program."""

from __future__ import annotations

import pytest

from tokdfa import tokenize_single_pass
from tokdfa.train.greedy import train_greedy
from tokdfa.train.naive import train_naive

ENGLISH = dict.fromkeys(["low", "lower", "hard", "harder"], 1)


@pytest.mark.parametrize(
    ("tie", "products"), [("oldest-pair", ["aa", "ab", "aaab"]), ("first-seen", ["aa", "aaa", "aaab"])]
)
def test_aaabdaaabace(tie: str, products: list[str]) -> None:
    d = train_naive({"aaabdaaabace": 1}, 3, tie=tie, count="overlapping")  # type: ignore[arg-type]
    assert [rule.product for rule in d] == products


@pytest.mark.parametrize(
    ("tie", "products"),
    [
        ("first-seen", ["lo", "low", "er", "ha", "har", "hard"]),
        ("oldest-pair", ["lo", "er", "ha", "rd", "low", "hard"]),
    ],
)
def test_low_lower_hard_harder(tie: str, products: list[str]) -> None:
    d = train_naive(ENGLISH, 6, tie=tie, count="overlapping")  # type: ignore[arg-type]
    assert [rule.product for rule in d] == products


def test_aaabdaaabace_is_encoded_with_a_zero_where_a_nine_is_printed() -> None:
    d = train_naive({"aaabdaaabace": 1}, 3, tie="oldest-pair", count="overlapping")
    numbers = {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4, "aa": 5, "ab": 6, "aaab": 7}
    tokens = d.alphabet.spell(d.alphabet.numbers(tokenize_single_pass(d, "aaabdaaabace")))
    assert [numbers[str(token)] for token in tokens] == [7, 3, 7, 0, 2, 4]


def test_low_lower_hard_harder_encode_and_decode() -> None:
    d = train_naive(ENGLISH, 6, count="overlapping")
    words = [d.alphabet.spell(d.alphabet.numbers(tokenize_single_pass(d, word))) for word in ENGLISH]
    assert words == [("low",), ("low", "er"), ("hard",), ("hard", "er")]
    assert ["".join(map(str, word)) for word in words] == list(ENGLISH)


@pytest.mark.parametrize("tie", ["first-seen", "oldest-pair"])
def test_the_stages_of_the_race_end_at_the_same_merges(tie: str) -> None:
    for pieces in (ENGLISH, {"aaabdaaabace": 1}):
        options = {"tie": tie, "count": "overlapping", "min_frequency": 1}
        assert train_greedy(pieces, 99, **options) == train_naive(pieces, 99, **options)  # type: ignore[arg-type]
