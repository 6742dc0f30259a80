"""SPEEDY (Fast and meaningful tokenization): the merges it prints, in its prose and by its program."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tokdfa import tokenize_single_pass
from tokdfa.training.greedy import train_greedy
from tokdfa.training.naive import train_naive

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


def test_low_lower_hard_harder_the_printed_ids() -> None:
    # Symbols are numbered as they come, then merges.
    d = train_naive(ENGLISH, 6, tie="first-seen", count="overlapping", alphabet="lowerhad")
    assert "".join(map(str, d.alphabet.symbols)) == "lowerhad"
    ids = [number for word in ENGLISH for number in d.alphabet.numbers(tokenize_single_pass(d, word))]
    assert ids == [9, 9, 10, 13, 13, 10]


def test_aaabdaaabace_the_printed_merges_and_ids() -> None:
    d = train_naive({"aaabdaaabace": 1}, 3, tie="oldest-pair", count="overlapping", alphabet="abcde")
    assert list(zip(d.product.tolist(), d.left.tolist(), d.right.tolist(), strict=True)) == [
        (5, 0, 0),
        (6, 0, 1),
        (7, 5, 6),
    ]
    assert list(d.alphabet.base_tokenization("aaabdaaabace")) == [0, 0, 0, 1, 3, 0, 0, 0, 1, 0, 2, 4]
    assert list(d.alphabet.numbers(tokenize_single_pass(d, "aaabdaaabace"))) == [7, 3, 7, 0, 2, 4]


PRINTED = frozenset("th ou to in re you the at an is on ve he me ing as ed ll it 't".split())  # noqa: SIM905


def test_nineteen_of_the_twenty_printed_merges(data: Path) -> None:
    # Another edition of the same sentences: some neighbours change places, and the last one comes 21st here.
    sentences = (data / "corpora" / "fra_eng_en.txt").read_text(encoding="utf-8").strip().split("\n")
    words = Counter(word for sentence in sentences for word in re.split(r"\s|\.|\!|\?", sentence.lower()) if word)
    made = [rule.product for rule in train_greedy(words, 21, tie="first-seen", count="overlapping")]
    assert made == "th ou in to re you the an is at on he ve me ing ed as ll it or 't".split()  # noqa: SIM905
    assert set(made[:20]) - PRINTED == {"or"}
    assert PRINTED - set(made[:20]) == {"'t"}
    assert made[:5] == [rule.product for rule in train_naive(words, 5, tie="first-seen", count="overlapping")]


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
