"""Capabilities, over all families: a tokenizer that has one does what it promises."""

from __future__ import annotations

import random

import pytest

import tokdfa
from tests.support.families import FAMILIES
from tests.support.family_files import PARTS
from tokdfa.base.errors import AlphabetError
from tokdfa.regex.unicode.normalization import normalize
from tokdfa.tokenizers.protocol import AnyTokenizer


def _members(name: str) -> list[tuple[AnyTokenizer, list[str]]]:
    return [
        (FAMILIES[name](drawn).tokenizer, ["".join(drawn.choices(PARTS, k=5)) for _ in range(20)])
        for drawn in map(random.Random, range(3))
    ]


@pytest.mark.parametrize("name", FAMILIES)
def test_capabilities_are_kept(name: str) -> None:
    for tokenizer, texts in _members(name):
        assert (tokenizer.why_not("rules") is None) == bool(hasattr(tokenizer, "dictionary"))
        if tokenizer.why_not("rules") is not None:
            assert tokenizer.why_not("leftmost") is not None
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


def test_only_some_formats_say_that_the_leftmost_pair_merges() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
    assert tokdfa.load(ranks, pretokenizer="gpt2").why_not("leftmost") is None
    assert (
        tokdfa.default_tokenizer().why_not("leftmost") == "its format does not say how rules that are not proper merge"
    )


def _alphabet(tokenizer: AnyTokenizer) -> set[int]:
    return {symbol if isinstance(symbol, int) else symbol[0] for symbol in tokenizer.dictionary.alphabet}  # type: ignore[attr-defined]


def _solid(text: str) -> str:
    # A pre-tokenizer may put a space before a text.
    return text.replace(" ", "")
