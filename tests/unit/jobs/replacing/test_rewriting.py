"""Replacing in streams with bytes that are not UTF-8: their ids stay, with all ids that depend on them."""

from __future__ import annotations

import random

import pytest
import regex

import tokdfa
from tests.support.tokenizer_files import tiktoken_lines
from tests.support.utf8 import is_utf8
from tokdfa.base.errors import TokenStreamError
from tokdfa.tokenizers.tokenizer import Tokenizer

HAN = "한".encode()
# Ends and beginnings of symbols in one token.
WORDS = [HAN[2:] + HAN[:1], HAN[1:] + b"a", b"a" + HAN[:2], HAN[2:] + b"ab", HAN + HAN]


@pytest.fixture(scope="module")
def known() -> Tokenizer:
    ranks = {bytes([byte]): byte for byte in range(256)} | {word: 256 + i for i, word in enumerate(WORDS)}
    tokenizer = tokdfa.load(tiktoken_lines(ranks), pretokenizer=r"\p{L}+|\s+|[^\s\p{L}]+")
    assert isinstance(tokenizer, Tokenizer)
    return tokenizer


def test_a_symbol_that_shares_a_token_with_bad_bytes(known: Tokenizer) -> None:
    ids = [ord("a"), HAN[0], HAN[1], 256, ord("a")]
    assert tokdfa.replace(known, "a", "b", ids).ids.tolist() == [ord("b"), *ids[1:4], ord("b")]
    with pytest.raises(TokenStreamError, match=r"^token 1: a match shares a token with bytes that are not UTF-8"):
        tokdfa.replace(known, "한", "b", ids)


def test_streams_of_parts_of_symbols(known: Tokenizer) -> None:
    """The new text is the requested one, or the match is on a symbol that shares a token with bad bytes."""
    dice = random.Random(3)
    ids_of_parts = [*HAN, *range(256, 256 + len(WORDS)), ord("a"), ord("b"), ord(" ")]
    n_refused = n_beside = 0
    for _ in range(3000):
        ids = dice.choices(ids_of_parts, k=dice.randrange(1, 9))
        before = known.decode_bytes(ids)
        pattern, new = dice.choice([("a", "bb"), ("한", "a"), ("b", "한")])
        try:
            found = tokdfa.replace(known, pattern, new, ids)
        except TokenStreamError:
            assert pattern.encode() in before
            with pytest.raises(UnicodeDecodeError):
                before.decode()
            n_refused += 1
            continue
        after = regex.sub(pattern.encode(), new.encode(), before)
        assert known.decode_bytes(found.ids) == after
        n_beside += after != before and HAN in before and not is_utf8(before)
    assert n_refused > 100
    assert n_beside > 100
