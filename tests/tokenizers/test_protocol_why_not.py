"""Capabilities, over all families: a tokenizer that has one does what it promises."""

from __future__ import annotations

import random

import pytest
from support.families import FAMILIES, PARTS

from tokdfa.errors import AlphabetError
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.unicode.normalization import normalize


def _members(name: str) -> list[tuple[AnyTokenizer, list[str]]]:
    drawn = random.Random(name)
    return [
        (FAMILIES[name](drawn).tokenizer, ["".join(drawn.choices(PARTS, k=5)) for _ in range(20)]) for _ in range(3)
    ]


@pytest.mark.parametrize("name", FAMILIES)
def test_capabilities_are_kept(name: str) -> None:
    for tokenizer, texts in _members(name):
        assert (tokenizer.why_not("rules") is None) == bool(hasattr(tokenizer, "dictionary"))
        if tokenizer.why_not("rules") is not None:
            continue
        for text in texts:
            try:
                ids = tokenizer.encode(text)
            except AlphabetError:
                assert tokenizer.why_not("bytes") is not None or any(
                    b not in _alphabet(tokenizer) for b in text.encode()
                )
                continue
            if tokenizer.why_not("spelling") is None:
                assert _solid(tokenizer.decode(ids)) == _solid(text)
            elif tokenizer.why_not("form") is None:
                assert _solid(tokenizer.decode(ids)) == _solid(normalize(text, tokenizer.form))


def _alphabet(tokenizer: AnyTokenizer) -> set[int]:
    return {symbol if isinstance(symbol, int) else symbol[0] for symbol in tokenizer.dictionary.alphabet}  # type: ignore[attr-defined]


def _solid(text: str) -> str:
    # A pre-tokenizer may put a space before a text.
    return text.replace(" ", "")
