"""GPT-2's byte alphabet: a printable character for each of the 256 bytes."""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import Int32Array

__all__ = ["BYTE_OF", "CHARACTER_OF", "GPT2_ORDER", "LETTERS", "is_spelled", "spell"]

# The bytes that are their own characters, then the others, which have the characters from U+0100 on. GPT-2 numbers
# its single-byte tokens in this order.
_THEMSELVES = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(256) if byte not in _THEMSELVES]
GPT2_ORDER: tuple[int, ...] = (*_THEMSELVES, *_OTHERS)

CHARACTER_OF: dict[int, str] = {byte: chr(byte) for byte in _THEMSELVES} | {
    byte: chr(0x100 + i) for i, byte in enumerate(_OTHERS)
}
BYTE_OF: dict[str, int] = {character: byte for byte, character in CHARACTER_OF.items()}

LETTERS: Int32Array = np.full(0x100 + len(_OTHERS), -1, dtype=np.int32)
"""The byte that each code point represents; -1 for those that represent none, as those beyond the table do."""

for _character, _byte in BYTE_OF.items():
    LETTERS[ord(_character)] = _byte
LETTERS.setflags(write=False)


def is_spelled(text: str) -> bool:
    """Return whether every character of `text` is in the alphabet."""
    return BYTE_OF.keys() >= set(text)


def spell(word: bytes) -> str:
    """Return `word` written in the alphabet."""
    return "".join(map(CHARACTER_OF.__getitem__, word))
