"""Vocabularies without the token ▁, where a space is the three byte tokens E2·96·81: no table of theirs is right.

Decoding gives ▁ instead of a space, so a text with a space does not come back from its ids. Its bytes are counted in
the text that was encoded: `a b` has three bytes, although three byte tokens stand for its space alone.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from string import ascii_letters
from typing import cast

from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import AlphabetError, UnsupportedFeatureError
from tokdfa.tokenizers.decoding import byte_of
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer

_MOST_CHARACTERS = 2


def pieces_of(tokenizer: AnyTokenizer) -> list[str]:
    """Return the spelling of each id in its file."""
    return cast(Tokenizer, tokenizer).token_strings


def lacks_space(tokenizer: AnyTokenizer) -> bool:
    """Return whether the space between two letters is three byte tokens."""
    if tokenizer.why_not("bytes") is None:
        return False
    strings = pieces_of(tokenizer)
    try:
        found = [byte_of(strings[id]) for id in tokenizer.encode("a a").tolist()]
    except AlphabetError:
        return False
    wanted = [*SPACE.encode()]
    return any(found[at : at + len(wanted)] == wanted for at in range(len(found)))


def no_space() -> UnsupportedFeatureError:
    """Return the error of a question about the right table."""
    what = f"the vocabulary has no token {SPACE}, so a space is three byte tokens, and no table is right"
    return UnsupportedFeatureError(what, hint=f"add the token {SPACE}")


def shortest_miscount(tokenizer: AnyTokenizer, count: Callable[[Int32Array], int]) -> tuple[str, Int32Array] | None:
    """Return a shortest text of a few letters and spaces with another count than its bytes, and its ids, if any."""
    for size in range(1, _MOST_CHARACTERS + 1):
        for characters in product(f"{ascii_letters} ", repeat=size):
            text = "".join(characters)
            try:
                ids = tokenizer.encode(text)
            except AlphabetError:
                continue
            if len(ids) and count(ids) != len(text):
                return text, ids
    return None
