"""SPEEDY (Fast and meaningful tokenization): the merges it prints, in its prose and by its program."""

from __future__ import annotations

import pytest

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
