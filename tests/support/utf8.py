"""Bytes of UTF-8: whether they are a text, and the symbols that an incomplete one may become."""

from __future__ import annotations

from tokdfa.base.arrays import Int32Array
from tokdfa.regex.unicode.utf8 import symbol_length
from tokdfa.regex.utf8 import FIRST_LEADS, SymbolTries


def is_utf8(data: bytes) -> bool:
    """Return whether some bytes are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def completions(symbols: SymbolTries, cut: bytes) -> Int32Array:
    """Return the classes of the symbols that begin with `cut`, the bytes of an incomplete symbol, in order."""
    length = symbol_length(cut[0])
    tries = symbols.of_length[length]
    rows = tries.leads[cut[0] - FIRST_LEADS[length]]
    for level, byte in zip(reversed(tries.levels), cut[1:], strict=False):
        rows = level[rows, byte & 0x3F]
    for level in reversed(tries.levels[: length - len(cut)]):
        rows = level[rows]
    classes: Int32Array = rows.reshape(-1)
    return classes
