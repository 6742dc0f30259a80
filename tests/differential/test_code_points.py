"""The steps of files that classify or change characters, on every code point, by the installed library."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

import pytest
import tokenizers

from tests.support.tokenizer_files import tokenizer_json
from tokdfa.regex.unicode.ranges import SCALARS, contains
from tokdfa.regex.unicode.tables import names, ranges, version
from tokdfa.tokenizers.formats.json_text import JsonObject
from tokdfa.tokenizers.formats.text_steps import read_normalizer, read_pre_tokenizer
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer

_BERT = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
PRE_TOKENIZERS: list[dict[str, Any]] = [
    {"type": "Digits", "individual_digits": True},
    {"type": "Whitespace"},
    {"type": "WhitespaceSplit"},
    {"type": "Punctuation", "behavior": "Isolated"},
    {"type": "BertPreTokenizer"},
    {"type": "UnicodeScripts"},
    *(
        {"type": "Split", "pattern": {"Regex": f"{name}+"}, "behavior": "Isolated", "invert": False}
        for name in (r"\p{N}", r"\p{L}", r"\p{P}", r"\p{M}", r"\s", r"\w", r"\d")
    ),
]
NORMALIZERS: list[dict[str, Any]] = [
    *({"type": "BertNormalizer", **{name: name == chosen for name in _BERT}} for chosen in _BERT),
    {"type": "BertNormalizer", **dict.fromkeys(_BERT, True)},
    *({"type": name} for name in ("Lowercase", "StripAccents", "Nmt", "NFC", "NFD", "NFKC", "NFKD")),
]
_BATCH = 1024


@cache
def edges() -> tuple[int, ...]:
    """Return the code points on both sides of the edges of all classes, of the newest table and of the oldest."""
    found = {
        point + side
        for table in ("tokenizers", "tokenizers==0.13.2", "regex")
        for name in names(table)
        for first, last in ranges(name, table)
        for point, side in ((first, -1), (first, 0), (last, 0), (last, 1))
    }
    return tuple(sorted(point for point in found if contains(SCALARS, point)))


def differences(ours: Callable[[str], Any], theirs: Callable[[str], Any], points: Iterator[int]) -> list[str]:
    """Return the code points, as hexadecimal numbers, that two functions treat differently between a and 1."""
    words = [f"a{chr(point)}1" for point in points]
    assert len(words) > 5_000
    found: list[str] = []
    for at in range(0, len(words), _BATCH):
        part = words[at : at + _BATCH]
        if ours("".join(part)) != theirs("".join(part)):
            alone = [f"{ord(word[1]):x}" for word in part if ours(word) != theirs(word)]
            found += alone or [f"one of {_BATCH} from {ord(part[0][1]):x}, next to others"]
    return found


def pair(step: dict[str, Any]) -> tuple[Callable[[str], Any], Callable[[str], Any]]:
    """Return the pieces, or the normalized text, by tokdfa and by the library."""
    if installed("tokenizers") != version("tokenizers"):
        pytest.skip(f"the tables are of tokenizers {version('tokenizers')}")
    part = "pre_tokenizer" if step in PRE_TOKENIZERS else "normalizer"
    content = tokenizer_json([], **{part: step})
    library, file = tokenizers.Tokenizer.from_str(json.dumps(content)), JsonObject(content, "$", Path())
    if part == "normalizer":
        normalizer = read_normalizer(file)
        assert normalizer is not None
        return normalizer, library.normalizer.normalize_str
    splitting, _ = read_pre_tokenizer(file)
    assert splitting is not None
    return PreTokenizer(splitting).split, lambda text: [
        piece for piece, _ in library.pre_tokenizer.pre_tokenize_str(text)
    ]


def _name(step: dict[str, Any]) -> str:
    return "-".join(str(value) for value in step.values() if value is not False)[:60]


STEPS = pytest.mark.parametrize("step", [*PRE_TOKENIZERS, *NORMALIZERS], ids=_name)


@STEPS
def test_edges_of_classes_are_those_of_the_library(step: dict[str, Any]) -> None:
    assert differences(*pair(step), iter(edges())) == []


@pytest.mark.slow
@STEPS
def test_every_code_point_is_treated_as_by_the_library(step: dict[str, Any]) -> None:
    every = (point for first, last in SCALARS for point in range(first, last + 1))
    assert differences(*pair(step), every) == []
