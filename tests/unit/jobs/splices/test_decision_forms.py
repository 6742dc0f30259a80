"""Tests for `tokdfa.jobs.splices.decision`: texts that normalization leaves as they are next to any others."""

from __future__ import annotations

import json
from itertools import product
from unicodedata import normalize

import pytest
import tokenizers

import tokdfa
from tests.support.tokenizer_files import tokenizer_json
from tokdfa.automata.texts import ANYTHING, language_of, literal
from tokdfa.jobs.splices.decision import (
    is_ascii,
    is_steady_after,
    is_steady_before,
    normalized_after,
    normalized_before,
)

SYMBOLS = [
    "a",
    "<",
    "1",
    "\n",
    "\u0301",
    "\u0338",
    "\u1100",
    "\u1161",
    "\u11a8",
    "\uac00",
    "\u212b",
    "\u00e9",
    "\u4e2d",
]
TEXTS = [*SYMBOLS, *map("".join, product(SYMBOLS, repeat=2))]


def test_steady_texts_stay_beside_any_others() -> None:
    met = {"before": 0, "after": 0}
    for symbol in SYMBOLS:
        language = language_of("text", literal(symbol, "text"))
        if is_steady_before("NFC", language):
            met["before"] += 1
            assert all(normalize("NFC", text + symbol) == normalize("NFC", text) + symbol for text in TEXTS), symbol
        if is_steady_after("NFC", language):
            met["after"] += 1
            assert is_steady_before("NFC", language)
            assert all(normalize("NFC", symbol + text) == symbol + normalize("NFC", text) for text in TEXTS), symbol
    assert met == {"before": 8, "after": 3}


@pytest.mark.parametrize("symbol", ["a", "1", "\u4e2d", "\uac00"])
def test_normalized_texts_are_in_the_languages(symbol: str) -> None:
    before, after = normalized_before("NFC", symbol), normalized_after("NFC", symbol)
    for text in TEXTS:
        assert normalize("NFC", text + symbol) in before
        assert normalize("NFC", symbol + text) in after
    assert "b" not in before
    assert "b" not in after


def test_ascii_languages_are_recognised() -> None:
    assert is_ascii(language_of("text", literal("abc", "text")))
    assert not is_ascii(language_of("text", ANYTHING))


def test_texts_are_normalized_by_the_versions_of_the_library() -> None:
    # Later versions of Unicode decompose the second letter; the library's NFKC keeps it.
    before, after = "a", "e\u0301\ua7f2x"
    rules = [(b"\xc3", b"\xa9"), (b"\xc3\xa9", b"\xea"), (b"a", b"\xc3\xa9\xea")]
    content = tokenizer_json(rules, normalizer={"type": "NFKC"}, added_tokens=[])
    library = tokenizers.Tokenizer.from_str(json.dumps(content))
    assert library.normalizer.normalize_str(after) == "\u00e9\ua7f2x"
    apart = library.encode(before).ids + library.encode(after).ids
    assert apart != library.encode(before + after).ids
    assert not tokdfa.splice(tokdfa.load(content), before=before, after=after)
