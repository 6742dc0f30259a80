"""GPT-2's byte alphabet: a printable character for each of the 256 bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tokdfa.arrays import BoolArray, Int64Array

__all__ = ["BYTE_OF", "CHARACTER_OF", "GPT2_ORDER", "ReadWords", "is_spelled", "read_words", "spell"]

# The bytes that are their own characters, then the others, which have the characters from U+0100 on. GPT-2 numbers
# its single-byte tokens in this order.
_THEMSELVES = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(256) if byte not in _THEMSELVES]
GPT2_ORDER: tuple[int, ...] = (*_THEMSELVES, *_OTHERS)

CHARACTER_OF: dict[int, str] = {byte: chr(byte) for byte in _THEMSELVES} | {
    byte: chr(0x100 + i) for i, byte in enumerate(_OTHERS)
}
BYTE_OF: dict[str, int] = {character: byte for byte, character in CHARACTER_OF.items()}

_TABLE = np.full(0x100 + len(_OTHERS) + 1, -1, dtype=np.int16)
for _character, _byte in BYTE_OF.items():
    _TABLE[ord(_character)] = _byte


class ReadWords(NamedTuple):
    """Words read from the alphabet.

    The bytes of each word, whether it was not written in the alphabet (then it has no bytes), and the number of bytes.
    """

    words: list[bytes]
    foreign: BoolArray
    lengths: Int64Array


def read_words(spellings: Sequence[str]) -> ReadWords:
    """Return the words spelled in the alphabet; `spellings` must have no lone surrogates."""
    joined = np.frombuffer("".join(spellings).encode("utf-32-le"), dtype=np.uint32)
    lengths = np.fromiter(map(len, spellings), dtype=np.int64, count=len(spellings))
    ends = np.cumsum(lengths)
    # Every code point beyond the alphabet is looked up at the last place of the table, which is empty.
    symbols = _TABLE[np.minimum(joined, len(_TABLE) - 1)]
    foreign = np.zeros(len(spellings), dtype=np.bool_)
    foreign[np.searchsorted(ends, np.flatnonzero(symbols < 0), side="right")] = True
    buffer = symbols.astype(np.uint8).tobytes()
    stops = ends.tolist()
    words = list(map(buffer.__getitem__, map(slice, [0, *stops], stops)))
    for i in np.flatnonzero(foreign).tolist():
        words[i] = b""
    lengths[foreign] = 0
    return ReadWords(words, foreign, lengths)


def is_spelled(text: str) -> bool:
    """Return whether every character of `text` is in the alphabet."""
    return BYTE_OF.keys() >= set(text)


def spell(word: bytes) -> str:
    """Return `word` written in the alphabet."""
    return "".join(map(CHARACTER_OF.__getitem__, word))
