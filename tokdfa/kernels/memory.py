"""A memory of pieces and their ids, bounded in size and exact.

It is a cache of sets of four entries; an entry is four machine words, two are a cache line. A short piece is kept
packed, with up to three ids beside it: two in one word, and the third with the number of ids in the other. Longer
pieces and more ids are kept on a shelf, where they are found by the place that stands in their stead; of a longer piece
the entry has the hash. A piece that is met again moves up by one place in its set, and a new one takes the first free
place, or the last, where what stood there is forgotten; so the frequent pieces stand in front and stay. When the shelf
is full, everything is forgotten.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from tokdfa.kernels.packed import BYTES, LONGEST, Words, get, hash_packed, kernel, load, pack, put
from tokdfa.kernels.types import Longs

__all__ = [
    "ENTRY",
    "IDS_INSIDE",
    "LONGEST_KEPT",
    "MEMORY",
    "SET",
    "WAYS",
    "Memory",
    "find_among",
    "key_of",
    "move_up",
    "recall",
    "remember",
    "set_of",
]

ENTRY = 4
WAYS = 4
SET = ENTRY * WAYS
IDS_INSIDE = 3
# Longer pieces, and pieces of more ids, are not remembered.
LONGEST_KEPT = 512

_LONG = np.uint64(0xFF << 56)
_LOW_HALF = np.uint64(0xFFFFFFFF)


class Memory(NamedTuple):
    """The arrays of a memory, all zeros in the beginning.

    Attributes
    ----------
    entries : uint64 array
        ``SET`` of them for each of a power of two of sets.
    shelf : uint64 array
        Longer than LONGEST_KEPT.
    used : int64 array of shape (1,)
        How much of the shelf is in use.
    """

    entries: Words
    shelf: Words
    used: Longs


MEMORY = nb.types.NamedTuple((nb.uint64[::1], nb.uint64[::1], nb.int64[::1]), Memory)  # type: ignore[no-untyped-call]


@nb.njit(inline="always")
def _word(text, begin, end):  # type: ignore[no-untyped-def]
    """Return the bytes ``text[begin:end]``, of which only the first eight are taken, as a number."""
    return pack(load(text, begin), np.uint64(0), min(end - begin, 8))[0]


_KEY = nb.types.UniTuple(nb.uint64, 2)  # type: ignore[no-untyped-call]


@kernel(_KEY(BYTES, nb.int64, nb.int64))
def _key_of_long(text, begin, end):  # type: ignore[no-untyped-def]
    hashed = np.uint64(end - begin)
    for at in range(begin, min(end, begin + LONGEST_KEPT), 8):
        hashed = (hashed ^ _word(text, at, end)) * np.uint64(0x9E3779B97F4A7C15)
        hashed ^= hashed >> np.uint64(32)
    return hashed, _LONG | (hashed * np.uint64(0xD6E8FEB86659FD93) >> np.uint64(8))


@nb.njit(inline="always")
def key_of(text, begin, end):  # type: ignore[no-untyped-def]
    """Return the two words by which a piece is remembered: its packing, or for long ones a hash."""
    if end - begin <= LONGEST:
        return pack(load(text, begin), load(text, begin + 8), end - begin)
    return _key_of_long(text, begin, end)


@nb.njit(inline="always")
def set_of(memory, low, high):  # type: ignore[no-untyped-def]
    """Return where in the entries the set of a key begins."""
    sets = len(memory.entries) // SET
    return (np.int64(hash_packed(low, high) >> np.uint64(20)) & (sets - 1)) * SET


@kernel(nb.int64(MEMORY, BYTES, nb.int64, nb.int64, nb.int64, nb.uint64, nb.int32[::1], nb.int64))
def _recall_from_shelf(memory, text, begin, end, place, n_ids, out, n):  # type: ignore[no-untyped-def]
    shelf = memory.shelf
    if end - begin > LONGEST:
        for at in range(begin, end, 8):
            if shelf[place] != _word(text, at, end):
                return np.int64(-1)
            place += 1
    for i in range(0, np.int64(n_ids), 2):
        pair = shelf[place]
        out[n + i] = np.int32(pair & _LOW_HALF)
        out[n + i + 1] = np.int32(pair >> np.uint64(32))
        place += 1
    return np.int64(n_ids)


@nb.njit(inline="always")
def move_up(memory, entry):  # type: ignore[no-untyped-def]
    """Exchange an entry with the one before it in its set."""
    entries = memory.entries
    if entry % SET:
        for i in range(entry - ENTRY, entry):
            before, moved = get(entries, i), get(entries, i + ENTRY)
            put(entries, i, moved)
            put(entries, i + ENTRY, before)


@nb.njit(inline="always")
def find_among(entries, first, stop, low, high):  # type: ignore[no-untyped-def]
    """Return the entry of a key, of those from `first` to `stop`, or -1."""
    found = np.int64(-1)
    for entry in range(stop - ENTRY, first - ENTRY, -ENTRY):
        if (get(entries, entry) == low) & (get(entries, entry + 1) == high):
            found = np.int64(entry)
    return found


@nb.njit(inline="always")
def recall(memory, entry, text, begin, end, out, n):  # type: ignore[no-untyped-def]
    """Write the ids of an entry to `out` from `n` on, and return how many they are.

    Up to two more entries of `out` are written than there are ids. The answer is -1 if the entry is that of another
    long piece with the same hash.
    """
    pair, rest = get(memory.entries, entry + 2), get(memory.entries, entry + 3)
    n_ids = rest >> np.uint64(32)
    if (n_ids > IDS_INSIDE) | (end - begin > LONGEST):
        return _recall_from_shelf(memory, text, begin, end, np.int64(pair), n_ids, out, n)
    put(out, n, np.int32(pair & _LOW_HALF))
    put(out, n + 1, np.int32(pair >> np.uint64(32)))
    put(out, n + 2, np.int32(rest & _LOW_HALF))
    return np.int64(n_ids)


@nb.njit(inline="always")
def _bits(id):  # type: ignore[no-untyped-def]
    return np.uint64(np.uint32(id))


@nb.njit(inline="always")
def _two(out, n, n_ids):  # type: ignore[no-untyped-def]
    second = _bits(out[n + 1]) if n_ids > 1 else np.uint64(0)
    return _bits(out[n]) | (second << np.uint64(32))


@kernel(nb.types.UniTuple(nb.uint64, 2)(MEMORY, BYTES, nb.int64, nb.int64, nb.int32[::1], nb.int64, nb.int64))  # type: ignore[no-untyped-call]
def _put_on_shelf(memory, text, begin, end, out, n, n_ids):  # type: ignore[no-untyped-def]
    """Put a piece's ids on the shelf, and the piece if it is long; return the two words by which they are found."""
    entries, shelf, used = memory.entries, memory.shelf, memory.used
    if used[0] + LONGEST_KEPT > len(shelf):
        used[0] = 0
        for i in range(len(entries)):
            entries[i] = 0
    first = place = used[0]
    if end - begin > LONGEST:
        for i in range(begin, end, 8):
            shelf[place] = _word(text, i, end)
            place += 1
    for i in range(0, n_ids, 2):
        shelf[place] = _two(out, n + i, n_ids - i)
        place += 1
    used[0] = place
    return np.uint64(first), np.uint64(n_ids) << np.uint64(32)


@nb.njit(inline="always")
def remember(memory, at, low, high, text, begin, end, out, n, n_ids):  # type: ignore[no-untyped-def]
    """Remember, in the set that begins at `at`, that a piece has the ids ``out[n:n + n_ids]``.

    Up to IDS_INSIDE entries of `out` are read, even if the ids are fewer.
    """
    if end - begin <= LONGEST_KEPT:
        entries = memory.entries
        if (n_ids > IDS_INSIDE) | (end - begin > LONGEST):
            first, last = _put_on_shelf(memory, text, begin, end, out, n, n_ids)
        else:
            first = _bits(get(out, n)) | (_bits(get(out, n + 1)) << np.uint64(32))
            last = _bits(get(out, n + 2)) | (np.uint64(n_ids) << np.uint64(32))
        # The first place that is free or the piece's own, or the last one.
        entry = at + SET - ENTRY
        for place in range(at + SET - 2 * ENTRY, at - ENTRY, -ENTRY):
            there = get(entries, place + 1)
            if (there == np.uint64(0)) | ((there == high) & (get(entries, place) == low)):
                entry = np.int64(place)
        put(entries, entry, low)
        put(entries, entry + 1, high)
        put(entries, entry + 2, first)
        put(entries, entry + 3, last)
