"""Graphemes equal the graphemes of tokenizers, as far as it shows them."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import tokdfa.regex.unicode
from tokdfa.tokenizers.normalizers.sentencepiece import map_graphemes

DATA = Path(tokdfa.regex.unicode.__file__).parent / "data" / "graphemes.json"


def cut(text: str) -> list[str]:
    found: list[str] = []

    def plain(part: str) -> str:
        found.extend(part)
        return part

    def each(part: str) -> str:
        found.append(part)
        return part

    assert map_graphemes(text, each, plain) == text
    return found


@pytest.mark.parametrize(
    "graphemes",
    [
        [],
        ["a", "b"],
        ["a\u0301", "b"],
        ["\r\n", "\n", "\r", "\u0301\u0301", "\t"],
        ["a", "\r\n", "b\u200d", "c"],
        ["\u1100\u1161\u11a8", "\uac01\u11a8", "\uac00", "\u1100"],
        ["\U0001f1e9\U0001f1ea", "\U0001f1eb"],
        ["\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f44b\U0001f3fb", "a\u200d", "\U0001f467"],
        ["\u0600a", "\u0600\u0600", "\n"],
        ["\u0915\u094d\u0937\u093f", "\u0915", "\u0915"],
        ["\u0b95\u0bcd", "\u0bb7"],
        ["x", "\x00", "\u0301", "y"],
    ],
)
def test_graphemes_are_cut_as_written(graphemes: list[str]) -> None:
    assert cut("".join(graphemes)) == graphemes


def test_without_conjuncts_they_are_those_of_the_regex_module() -> None:
    # Another implementation, of a neighbouring version of Unicode; the library itself is asked with
    # the normalizer Precompiled.
    regex = pytest.importorskip("regex")
    symbols = [*"ab\r\n\u0301\u200d\u0600\u0903\u1100\u1161\u11a8\uac00\uac01\u00a9\U0001f468\U0001f1e9\x00"]
    drawn = random.Random(0)
    for _ in range(2000):
        text = "".join(drawn.choices(symbols, k=drawn.randrange(10)))
        assert cut(text) == regex.findall(r"\X", text), ascii(text)


@pytest.mark.slow
def test_the_classes_are_those_of_the_library() -> None:
    pytest.importorskip("tokenizers")
    from tests.campaigns.tables.graphemes import probe

    assert json.loads(DATA.read_text(encoding="utf-8")) == probe()
