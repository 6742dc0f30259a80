"""Codes of code points: what each means to a tokenizer that cleans, splits and matches in one pass.

A code has a kind in its lowest three bits, then the flag `CONTINUES`, and a payload above `KIND_BITS`.
"""

from __future__ import annotations

from typing import TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt
from numba.core import types

from tokdfa.kernels.packed import BYTES, Bytes, kernel
from tokdfa.kernels.types import INTS, Ints, Longs

__all__ = [
    "ALONE",
    "BLOCK_BITS",
    "CODES",
    "CONTINUES",
    "KIND",
    "KIND_BITS",
    "PAGES",
    "REORDER",
    "SEQUENCE",
    "SKIP",
    "SPACE",
    "SYMBOL",
    "Codes",
    "Pages",
    "code_of",
    "decode",
    "reorder",
]

Pages: TypeAlias = npt.NDArray[np.uint16]
Codes: TypeAlias = npt.NDArray[np.uint32]

PAGES = types.Array(types.uint16, 1, "C", readonly=True)
CODES = types.Array(types.uint32, 1, "C", readonly=True)

KIND = 7
KIND_BITS = 4
BLOCK_BITS = 8

SYMBOL = 0
"""A symbol of a word; payload: its number."""
SKIP = 1
"""Nothing; it does not end a word."""
SPACE = 2
"""Nothing; it ends a word."""
ALONE = 3
"""A word of its own; payload: its id and 1."""
SEQUENCE = 4
"""Several of the above; payload: where in the pool their number and their codes stand."""
REORDER = 5
"""Symbols that are put in order of their combining classes together with the marks behind them."""
CONTINUES = 8
"""Flag: the code point does not begin a new combining sequence."""

_CLASSES = 256


@nb.njit(inline="always")
def decode(text, at):  # type: ignore[no-untyped-def]
    """Return the code point at `at` of valid UTF-8, and how many bytes it takes."""
    first = np.int64(text[at])
    if first < 0x80:
        return first, 1
    second = np.int64(text[at + 1]) & 0x3F
    if first < 0xE0:
        return (first & 0x1F) << 6 | second, 2
    third = np.int64(text[at + 2]) & 0x3F
    if first < 0xF0:
        return (first & 0x0F) << 12 | second << 6 | third, 3
    return (first & 0x07) << 18 | second << 12 | third << 6 | (np.int64(text[at + 3]) & 0x3F), 4


@nb.njit(inline="always")
def code_of(pages, blocks, point):  # type: ignore[no-untyped-def]
    """Return the code of a code point."""
    return blocks[np.int64(pages[point >> BLOCK_BITS]) << BLOCK_BITS | (point & 0xFF)]


@nb.njit(inline="always")
def _mark(marks, point):  # type: ignore[no-untyped-def]
    """Return the row of a code point in the ascending `marks`, or -1."""
    low, high = 0, len(marks)
    while low < high:
        middle = (low + high) >> 1
        if marks[middle] < point:
            low = middle + 1
        else:
            high = middle
    return low if low < len(marks) and marks[low] == point else -1


@kernel(
    types.Tuple((types.int64, types.int64, types.int64, types.int64))(  # type: ignore[no-untyped-call]
        *(PAGES, CODES, INTS, INTS, INTS, BYTES, types.int64, types.int64, types.int64, types.int64, types.boolean),
        *(types.int32[::1], types.int64[::1], types.int64),
    )
)
def reorder(
    pages: Pages,
    blocks: Codes,
    marks: Ints,
    mark_pointer: Ints,
    mark_parts: Ints,
    text: Bytes,
    at: int,
    start: int,
    end: int,
    offset: int,
    wide: bool,
    symbols: Ints,
    sources: Longs,
    size: int,
) -> tuple[int, int, int, int]:
    """Append the symbols of a combining sequence to a word, in canonical order.

    As in the tokenizers library, the source that a part is said to come from is counted by position: the k-th part
    that stands for a code point comes from the k-th code point, wherever it has been moved to.

    Parameters
    ----------
    pages, blocks, marks, mark_pointer, mark_parts
        See :class:`tokdfa.wordpiece.codes.CodeTable`.
    text : uint8 array
    at : int
        The first code point of the sequence of which a part stays.
    start, end : int
        The sequence does not reach beyond these.
    offset : int
        What the offset of `at` is called.
    wide : bool
        Whether offsets count bytes, not code points.
    symbols, sources : int32 and int64 arrays
        The word; a symbol comes from ``sources[2 * i]`` to ``sources[2 * i + 1]``, which are left out when the array
        is empty. Symbols that do not fit are left out.
    size : int
        How many symbols the word has.

    Returns
    -------
    size : int
    stop, offset : int
        The end of the sequence, and its offset.
    last : int
        The end of what the last part comes from that stays; -1 when none does.
    """
    first = at
    point, width = decode(text, first)
    if code_of(pages, blocks, point) & CONTINUES:
        while first > start:
            before = first - 1
            while text[before] & 0xC0 == 0x80:
                before -= 1
            point, width = decode(text, before)
            if not code_of(pages, blocks, point) & CONTINUES:
                break
            first = before
            offset -= width if wide else 1

    last = -1
    stop = first
    # The code point whose parts come next by position; its offset is where the last source ends.
    cursor = first
    source = offset
    source_end = offset
    order = -1
    while order < _CLASSES:
        # All parts of one class, in the order of the text, and the next class that there is.
        following = _CLASSES
        stop = first
        while stop < end:
            point, width = decode(text, stop)
            if stop > first and not code_of(pages, blocks, point) & CONTINUES:
                break
            row = _mark(marks, point)
            if row >= 0:
                for part in range(mark_pointer[row], mark_pointer[row + 1]):
                    this = mark_parts[2 * part]
                    if order < this < following:
                        following = this
                    if this != order:
                        continue
                    if part == mark_pointer[row]:
                        # Code points that cleaning removes are no source.
                        while True:
                            point, moved = decode(text, cursor)
                            source = source_end
                            source_end += moved if wide else 1
                            cursor += moved
                            if _mark(marks, point) >= 0:
                                break
                    symbol = mark_parts[2 * part + 1]
                    if symbol >= 0:
                        last = source_end
                        if size < len(symbols):
                            symbols[size] = symbol
                            if len(sources):
                                sources[2 * size] = source
                                sources[2 * size + 1] = source_end
                            size += 1
            stop += width
        order = following
    while cursor < stop:
        point, width = decode(text, cursor)
        cursor += width
        source_end += width if wide else 1
    return size, stop, source_end, last
