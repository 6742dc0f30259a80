"""Certain boundaries are there in every text, and any later text leaves the pieces before them as they are."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.base.errors import TokdfaError
from tokdfa.tokenizers.pretokenizers.certain import CONTEXT, CertainPairs
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer, pretokenizer
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting

SYMBOLS = "aAsSt19 \n\r\t.'/-中ぬé\u0301ſʕ\x1c\u2028"


def certain_boundaries(boundaries: CertainPairs, text: str) -> list[int]:
    return [place for place in range(1, len(text)) if boundaries.last(text, place - 1, place) == place]


def assert_certain(splitter: PreTokenizer, boundaries: CertainPairs, text: str) -> int:
    whole = splitter.spans(text)
    places = certain_boundaries(boundaries, text)
    for place in places:
        before = [span for span in whole if span[1] <= place]
        assert all(start >= place for start, _ in whole[len(before) :]), (text, place)
        for end in range(min(place + CONTEXT, len(text)), len(text) + 1):
            assert [span for span in splitter.spans(text[:end]) if span[1] <= place] == before, (text, place, end)
        behind = [(start + place, end + place) for start, end in splitter.spans(text[place:])]
        assert behind == whole[len(before) :], (text, place)
    return len(places)


@pytest.mark.parametrize("name", NAMED)
def test_named_patterns(name: str) -> None:
    splitter = pretokenizer(name)
    boundaries = CertainPairs(splitter)
    drawn = random.Random(name)
    found = sum(assert_certain(splitter, boundaries, "".join(drawn.choices(SYMBOLS, k=9))) for _ in range(200))
    assert found > 200


@pytest.mark.parametrize("name", NAMED)
def test_ordinary_text_is_cut_every_few_symbols(name: str) -> None:
    text = 'He said: "It\'s 1,234.50 €!"\n\n\tWhy?  — Я не знаю… 你好，世界。def f(x): return x\n' * 20
    places = [0, *certain_boundaries(CertainPairs(pretokenizer(name)), text)]
    assert max(b - a for a, b in pairwise(places)) < 40


_ATOMS = st.sampled_from(["a", "b", "[ab]", "[^a]", ".", "c", "(?!a)", "(?=b)", "$", "(?!.)"])
_PATTERNS = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda options: f"(?:{'|'.join(options)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "*?", "+?", "??", "*+", "++", "?+", "{2}", "{1,2}"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
        inner.map(lambda body: f"(?>{body})"),
    ),
    max_leaves=6,
)


@given(st.lists(_PATTERNS, min_size=1, max_size=2), st.lists(st.text("abcd", min_size=2, max_size=7), min_size=5))
def test_random_patterns(patterns: list[str], texts: list[str]) -> None:
    try:
        splitter = PreTokenizer(Splitting("tokenizers", tuple(map(Split, patterns))))
    except TokdfaError:
        return
    boundaries = CertainPairs(splitter)
    for text in texts:
        assert_certain(splitter, boundaries, text)


@pytest.mark.parametrize(
    "splitting",
    [
        Splitting("tokenizers", (Split("a", "contiguous"), Split("b"))),
        Splitting("tokenizers", (Split("a"),), prefix_space=0),
        Splitting("tokenizers", (Split("(?>(?:a|ab){2})c?|\\Ab"),)),  # no machine
    ],
)
def test_nothing_is_certain_where_more_than_the_symbols_counts(splitting: Splitting) -> None:
    assert certain_boundaries(CertainPairs(PreTokenizer(splitting)), "abcaabb a.b") == []


TINY_AYA = Splitting("tokenizers", (Split(r"\d{1,3}(?=(?:\d{3})*\b)"), *NAMED["llama3"].steps))
LOOKING = {
    "Tiny Aya": TINY_AYA,
    "SuperBPE": Splitting("tokenizers", (Split(r"\p{N}+"), Split(r"(?=(\d{3})+(?!\d))"))),
    "Bengali": Splitting("tokenizers", (Split("(?<=[\u0980-\u09ff]):"), *NAMED["gpt2"].steps)),
    "lines": Splitting("tokenizers", (Split("^ |(?:\\r?\\n)+(?!\\r?\\n)"), *NAMED["gpt2"].steps)),
    "word ends": Splitting("tokenizers", (Split(r"\b\w+|\s+(?!\S)|\s"),)),
    "where it ended": Splitting("tokenizers", (Split(r"\A1|\Ga|[^a]"),)),
}


@pytest.mark.parametrize("name", LOOKING)
def test_patterns_that_look_far(name: str) -> None:
    splitter = PreTokenizer(LOOKING[name])
    boundaries = CertainPairs(splitter)
    drawn = random.Random(name)
    symbols = "a1123 \n\r'-\u0985:"
    found = sum(assert_certain(splitter, boundaries, "".join(drawn.choices(symbols, k=9))) for _ in range(100))
    assert found > (100 if name != "where it ended" else -1)
