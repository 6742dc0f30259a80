"""Shortest texts that are cut differently, against brute force and the table that is published."""

from __future__ import annotations

import json
from itertools import product

import pytest

from tests.campaigns.conversions import __main__ as conversions
from tests.campaigns.upgrades.__main__ import DATA, PAGE, page, upgrades
from tests.support.cut_differences import first_text_cut_differently
from tokdfa.tokenizers.pretokenizers.pretokenizer import pretokenizer
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a+", "a|b"), ("a+|b", "aa?|b"), ("a{1,2}", "a{1,3}"), ("ab|a", "a|b"), ("a(?!b)", "a"), ("a+b?", "a+|b"),
        ("a+", "a++"), ("ab|b", "a?b"), ("a|b", "[ab]"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("behavior", ["isolated", "removed"])
def test_shortest_text_by_brute_force(one: str, other: str, behavior: str) -> None:
    both = [Splitting("tokenizers", (Split(pattern, behavior),)) for pattern in (one, other)]  # type: ignore[arg-type]
    cut = [pretokenizer(side).spans_backtracking for side in both]
    texts = ("".join(symbols) for n in range(6) for symbols in product("abc", repeat=n))
    expected = next((text for text in texts if cut[0](text) != cut[1](text)), None)
    found = first_text_cut_differently(*both)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert len(found) == len(expected)
        assert cut[0](found) != cut[1](found)


def test_patterns_in_use() -> None:
    assert first_text_cut_differently(NAMED["gpt2"], NAMED["gpt2"]) is None
    assert first_text_cut_differently(NAMED["llama3"], NAMED["qwen2"]) == "00"


def test_the_published_table_is_what_is_proven_now() -> None:
    kept = json.loads(DATA.read_text("ascii"))
    assert upgrades() == kept
    assert page(kept) == PAGE.read_text("utf-8")


def test_the_published_table_of_llama_cpp() -> None:
    kept = json.loads(conversions.DATA.read_text("ascii"))
    assert [row["pre"] for row in kept] == list(conversions.OWN)
    assert conversions.page(kept) == conversions.PAGE.read_text("utf-8")


@pytest.mark.slow
def test_the_published_table_of_llama_cpp_is_what_is_proven_now() -> None:
    assert conversions.conversions() == json.loads(conversions.DATA.read_text("ascii"))
