"""Texts from every corner of Unicode."""

from __future__ import annotations

import random
from functools import cache

from tests.support.real_tokenizers import SYMBOLS

__all__ = ["character", "unicode_text"]


@cache
def _blocks() -> list[range]:
    """Blocks of 128 code points in which some are assigned, and all the others as a few large ones."""
    import unicodedata

    blocks = [range(first, first + 128) for first in range(0, 0x110000, 128)]
    used = [
        block for block in blocks if any(unicodedata.category(chr(code)) not in ("Cn", "Co", "Cs") for code in block)
    ]
    return [*used, range(0xE000, 0xF900), range(0x3FF80, 0x40100), range(0xE0000, 0xE1000), range(0x10FF80, 0x110000)]


@cache
def _blocks_of_characters() -> list[range]:
    return [block for block in _blocks() if not 0xD800 <= block[0] < 0xE000]


def character(drawn: random.Random) -> str:
    """Return a character, from every block as likely; none is a surrogate."""
    while True:
        code = drawn.choice(drawn.choice(_blocks()))
        if not 0xD800 <= code < 0xE000:
            return chr(code)


def unicode_text(drawn: random.Random, more: tuple[str, ...] = (), longest: int = 12) -> str:
    """Return a text of nasty symbols, of `more`, and of characters from anywhere; often of neighbours in one block."""
    kind = drawn.randrange(4)
    block = drawn.choice(_blocks_of_characters())
    parts = []
    for _ in range(drawn.randrange(longest)):
        if more and drawn.random() < 0.2:
            parts.append(drawn.choice(more))
        elif kind == 0 or drawn.random() < 0.3:
            parts.append(drawn.choice(SYMBOLS))
        elif kind == 1:
            parts.append(chr(drawn.choice(block)))
        else:
            parts.append(character(drawn))
    return "".join(parts)
