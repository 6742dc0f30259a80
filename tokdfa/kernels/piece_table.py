"""Counting pieces of text: a hash table of unique ones that grows, in the order in which they first came.

A slot is four machine words: the piece (packed, see :mod:`tokdfa.kernels.packed`), its count, and its number plus one,
0 where the slot is free. A piece too long to be packed has its hash and its length there instead, and is compared with
the bytes that were kept of it.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from tokdfa.kernels.packed import BYTES, LONGEST, Bytes, Words, hash_packed, load, pack
from tokdfa.kernels.types import LONGS, Longs

__all__ = ["BYTES_KEPT", "PIECES", "add_pieces"]

# What `numbers` holds: unique pieces so far, bytes kept of them.
PIECES, BYTES_KEPT = 0, 1

# The top byte of a packed piece is its length, 15 at most.
_LONG = np.uint64(0xFF << 56)

_SLOTS = nb.types.Array(nb.uint64, 2, "C")
_KEPT = nb.types.Array(nb.uint8, 1, "C")
_ENDS = nb.types.Array(nb.int64, 1, "C")
_SPANS = nb.types.Array(nb.int64, 2, "C", readonly=True)
_TABLE = nb.types.Tuple((_SLOTS, _KEPT, _ENDS))  # type: ignore[no-untyped-call]


@nb.njit(_SLOTS(_SLOTS), cache=True, nogil=True)
def _twice(slots: Words) -> Words:
    """Return a table of twice the size with the same pieces."""
    larger = np.zeros((2 * len(slots), 4), np.uint64)
    mask = np.uint64(len(larger) - 1)
    for old in range(len(slots)):
        if slots[old, 3] != 0:
            at = hash_packed(slots[old, 0], slots[old, 1]) & mask
            while larger[at, 3] != 0:
                at = (at + np.uint64(1)) & mask
            for column in range(4):
                larger[at, column] = slots[old, column]
    return larger


@nb.njit(nb.boolean(BYTES, nb.int64, nb.int64, _KEPT, nb.int64), cache=True, nogil=True)
def _same(text: Bytes, start: int, end: int, kept: Bytes, at: int) -> bool:
    while start < end:
        if text[start] != kept[at]:
            return False
        start += 1
        at += 1
    return True


@nb.njit(nb.int64(_SLOTS, _KEPT, _ENDS, _ENDS, BYTES, _SPANS, LONGS, nb.int64), cache=True, nogil=True)
def _add_while_room(
    slots: Words, kept: Bytes, ends: Longs, numbers: Longs, text: Bytes, spans: Longs, weights: Longs, first: int
) -> int:
    """Count the pieces from number `first` on, and return the number of the first one that finds no room."""
    n_pieces, n_kept = numbers[PIECES], numbers[BYTES_KEPT]
    mask = np.uint64(len(slots) - 1)
    done = len(spans)
    for i in range(first, len(spans)):
        start, end = spans[i, 0], spans[i, 1]
        length = end - start
        if length <= LONGEST:
            low, high = pack(load(text, start), load(text, start + 8) if length > 8 else np.uint64(0), length)
        else:
            low, high = np.uint64(length), _LONG | np.uint64(length)
            for at in range(start, end, 8):
                word = load(text, at)
                if at + 8 > end:
                    word &= (np.uint64(1) << np.uint64(8 * (end - at))) - np.uint64(1)
                low = hash_packed(low, word)
        slot = hash_packed(low, high) & mask
        while True:
            number = slots[slot, 3]
            if number == 0:
                break
            if slots[slot, 0] == low and slots[slot, 1] == high:
                known = np.int64(number) - 1
                if length <= LONGEST or _same(text, start, end, kept, ends[known] - length):
                    break
            slot = (slot + np.uint64(1)) & mask
        if number == 0:
            if 2 * n_pieces >= len(slots) or n_pieces >= len(ends) or n_kept + length > len(kept):
                done = i
                break
            slots[slot, 0], slots[slot, 1], slots[slot, 3] = low, high, np.uint64(n_pieces + 1)
            for j in range(length):
                kept[n_kept + j] = text[start + j]
            n_kept += length
            ends[n_pieces] = n_kept
            n_pieces += 1
        slots[slot, 2] += np.uint64(1) if len(weights) == 0 else np.uint64(weights[i])
    numbers[PIECES], numbers[BYTES_KEPT] = n_pieces, n_kept
    return done


@nb.njit(_TABLE(_SLOTS, _KEPT, _ENDS, _ENDS, BYTES, _SPANS, LONGS), cache=True, nogil=True)
def add_pieces(
    slots: Words, kept: Bytes, ends: Longs, numbers: Longs, text: Bytes, spans: Longs, weights: Longs
) -> tuple[Words, Bytes, Longs]:
    """Count the pieces of a text.

    Parameters
    ----------
    slots : uint64 array of shape (a power of two, 4)
        The table; all zeros at first.
    kept : uint8 array, ends : int64 array
        The unique pieces one behind the other, and where each ends; as long as there is room for more.
    numbers : int64 array of length 2
        How many unique pieces there are and how many bytes they have; brought up to date.
    text : uint8 array, spans : int64 array of shape (pieces, 2)
        Where in the text each piece begins and ends; none is empty.
    weights : int64 array
        How often each of them counts; once each if there are no weights.

    Returns
    -------
    slots, kept, ends
        Grown where they had to be.
    """
    # Arrays that are replaced within a loop are counted at every turn of it, which would take most of the time.
    first = 0
    while True:
        first = _add_while_room(slots, kept, ends, numbers, text, spans, weights, first)
        if first == len(spans):
            return slots, kept, ends
        if 2 * numbers[PIECES] >= len(slots):
            slots = _twice(slots)
        if numbers[PIECES] >= len(ends):
            further = np.empty(2 * len(ends) + 1, np.int64)
            for i in range(len(ends)):
                further[i] = ends[i]
            ends = further
        length = spans[first, 1] - spans[first, 0]
        if numbers[BYTES_KEPT] + length > len(kept):
            more = np.empty(2 * len(kept) + length, np.uint8)
            for i in range(numbers[BYTES_KEPT]):
                more[i] = kept[i]
            kept = more
