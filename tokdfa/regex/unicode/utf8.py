"""Symbols in UTF-8: where they begin among bytes, and the analysis of bytes cut out of a text at any offset."""

from __future__ import annotations

from codecs import getincrementaldecoder
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array

_MOST_CONTINUATIONS = 3

BYTES_OF_UTF8 = frozenset(range(256)) - {0xC0, 0xC1, *range(0xF5, 0x100)}
"""The bytes that some text has in UTF-8."""


class CutText(NamedTuple):
    """Bytes of a text: the last bytes of an earlier symbol, whole symbols, and the first bytes of an incomplete one."""

    head: bytes
    text: str
    tail: bytes


def cut_apart(data: bytes) -> CutText | None:
    r"""Take bytes apart that may begin and end within a symbol; None if no text contains them.

    The first two bytes of a surrogate count as an incomplete symbol, as in Python's incremental decoder, although
    nothing completes them. ``cut_apart("aé".encode()[:2])`` is ``CutText(head=b'', text='a', tail=b'\xc3')``.
    """
    try:
        # Most tokens are whole symbols.
        return CutText(b"", data.decode(), b"")
    except UnicodeDecodeError:
        pass
    n_head = next((at for at, byte in enumerate(data) if byte & 0xC0 != 0x80), len(data))
    if n_head > _MOST_CONTINUATIONS:
        return None
    decoder = getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(data[n_head:])
    except UnicodeDecodeError:
        return None
    return CutText(data[:n_head], text, decoder.getstate()[0])


def symbol_length(lead: int) -> int:
    """Return the number of bytes of a symbol that begins with the byte `lead`."""
    return 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def begins_symbol(data: bytes | Uint8Array) -> BoolArray:
    """Return, for each byte, whether it begins a symbol rather than continuing one."""
    begins: BoolArray = (np.frombuffer(data, dtype=np.uint8) & 0xC0) != 0x80
    return begins


def byte_offsets(data: bytes) -> Int64Array:
    """Return where the symbols of a text begin in its bytes, and where it ends: one entry more than symbols."""
    return np.append(np.flatnonzero(begins_symbol(data)), len(data))


def code_points(text: str) -> Int32Array:
    """Return the code points of a text, in which surrogates may be as well."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<i4").astype(np.int32, copy=False)


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
"""The byte that each code point represents; -1 for code points that represent none, as do all beyond the table."""

for _character, _byte in BYTE_OF.items():
    LETTERS[ord(_character)] = _byte
LETTERS.setflags(write=False)


def is_spelled(text: str) -> bool:
    """Return whether every character of `text` is in the alphabet."""
    return BYTE_OF.keys() >= set(text)


def spell(word: bytes) -> str:
    """Return `word` written in the alphabet."""
    return "".join(map(CHARACTER_OF.__getitem__, word))
