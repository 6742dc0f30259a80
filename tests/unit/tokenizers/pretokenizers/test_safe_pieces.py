"""Safe boundaries: with any continuation, a text has the pieces of its two parts; no other index has this."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import product

import numpy as np
import pytest

from tokdfa.base.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.tokenizers.pretokenizers.finding import find_split_nfa
from tokdfa.tokenizers.pretokenizers.machine import SplitNFA
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer, pretokenizer
from tokdfa.tokenizers.pretokenizers.safe_pieces import SAFE, UNSAFE, SafePieces
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting

PATTERNS = {
    "words": r"\s+(?!\S)|\s+|\S+",
    "before b": r"a+(?!b)|b",
    "choice": r"ab|a|[^a]+",
    "lazy": r"[ab]+?(?= )|\s|.",
    "runs": r"a{1,3}(?=(?:a{3})*(?!a))|b",
    "possessive": r"\s?+[ab]++|\s+$|\s",
}


Spans = Callable[[str], list[tuple[int, int]]]


def safe_by_trying(spans: Spans, text: str, place: int, rests: list[str]) -> bool:
    before = spans(text[:place])
    for rest in rests:
        after = [(start + place, end + place) for start, end in spans(text[place:] + rest)]
        if before + after != spans(text + rest):
            return False
    return True


def state_of(boundaries: SafePieces, text: str, place: int, *, anywhere: bool = False) -> int:
    classes = boundaries.classes_of(np.array([*map(ord, text)])).tolist()
    state = boundaries.anywhere if anywhere else boundaries.start
    for symbol in classes[:place]:
        state = boundaries.read(state, symbol)
    state = boundaries.cut(state)
    for symbol in classes[place:]:
        state = boundaries.read_on(state, symbol)
    return state


@pytest.mark.parametrize("name", PATTERNS)
def test_all_short_texts(name: str) -> None:
    splitting = Splitting("tokenizers", (Split(PATTERNS[name]),))
    spans, boundaries = cache(PreTokenizer(splitting).spans), SafePieces(find_split_nfa(splitting))
    rests = ["".join(some) for n in range(4) for some in product("ab ", repeat=n)]
    found: Counter[bool] = Counter()
    for text in ("".join(some) for n in range(2, 4) for some in product("ab ", repeat=n)):
        for place in range(1, len(text)):
            state = state_of(boundaries, text, place)
            expected = safe_by_trying(spans, text, place, rests)
            assert (state == SAFE) == expected, (text, place)
            assert boundaries.is_safe_at_end(state) == safe_by_trying(spans, text, place, [""]), (text, place)
            if state == UNSAFE:
                assert not any(safe_by_trying(spans, text, place, [rest]) for rest in rests), (text, place)
            if state_of(boundaries, text, place, anywhere=True) == SAFE:
                firsts = rests[:13]
                assert all(safe_by_trying(spans, first + text, len(first) + place, rests[:13]) for first in firsts)
            found[expected] += 1
    assert min(found[True], found[False]) > 3, found


@pytest.mark.parametrize("name", NAMED)
def test_two_symbols_of_named_patterns(name: str) -> None:
    splitter = pretokenizer(name)
    spans, boundaries = cache(splitter.spans), SafePieces(find_split_nfa(splitter.splitting))
    always, never = boundaries.between
    drawn = random.Random(name)
    symbols = "aAsSt19 \n\r\t.'/-中ぬé\u0301"
    found: Counter[str] = Counter()
    for _ in range(20):
        text = "".join(drawn.choices(symbols, k=9))
        whole, classes = spans(text), boundaries.classes_of(np.array([*map(ord, text)]))
        for place in range(1, len(text)):
            pair = classes[place - 1], classes[place]
            is_safe = safe_by_trying(spans, text, place, [""])
            assert is_safe or not always[pair], (text, place)
            assert place not in [start for start, _ in whole] or not never[pair], (text, place)
            found["always"] += bool(always[pair])
            found["never"] += bool(never[pair])
    assert min(found["always"], found["never"]) > 20, found


def test_what_is_not_read() -> None:
    dropping = find_split_nfa(Splitting("tokenizers", (Split(" ", "removed"),)))
    with pytest.raises(UnsupportedFeatureError, match="may drop text"):
        SafePieces(dropping)
    large = SplitNFA(dropping.class_of_code_point, (((),),) * 200, (True,) * 200)
    with pytest.raises(LimitExceededError, match="too many hypotheses"):
        SafePieces(large)
