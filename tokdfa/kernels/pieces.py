"""Encoding pieces, one after the other, with a memory of those seen before.

The memory is a cache of sets of two entries. An entry is four machine words, a set is a cache line: a packed piece, up
to three ids, and how many they are. A new piece takes the first place of its set, what was there moves to the second,
and what was there is forgotten; so memory and time are bounded whatever the text.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from tokdfa.kernels.one_pass import ID, LENGTH, RECORD, TABLES, longest_token, tokenize
from tokdfa.kernels.packed import BYTES, LONGEST, hash_packed, kernel, load, pack, prefetch
from tokdfa.kernels.types import LONGS

__all__ = ["BLOCK", "ENTRY", "IDS_KEPT", "encode_pieces"]

ENTRY = 4
IDS_KEPT = 3
# Pieces are looked at a block at a time, so that memory is asked for long before it is needed.
BLOCK = 64


@kernel(
    nb.int64(
        TABLES, TABLES, BYTES, LONGS, nb.int64, nb.int64,
        nb.uint64[::1], nb.int32[::1], nb.int64, nb.int64[::1], nb.uint64[::1], nb.uint64[::1],
    )
)  # fmt: skip
def encode_pieces(tables, whole, text, bounds, first, stop, memory, out, n, ends, left, block):  # type: ignore[no-untyped-def]
    """Encode the pieces ``text[bounds[i]:bounds[i + 1]]`` for i from `first` to `stop`.

    Parameters
    ----------
    tables : Tables
        The dictionary.
    whole : Tables
        Tokens that stand for a piece only when they are all of it; without records when there are none.
    text : uint8 array
    bounds : int64 array
        Ascending; no piece is empty.
    first, stop : int
    memory : uint64 array
        What is remembered; two entries for each of a power of two of sets, all zeros in the beginning.
    out : int32 array
        Gets the ids, from `n` on; has room for one a byte and two more.
    n : int
    ends : int64 array
        Gets, at i, where the ids of piece i end; empty when that is not wanted.
    left : uint64 array
        Scratch for :func:`~tokdfa.kernels.one_pass.tokenize`, enough for the longest piece.
    block : uint64 array of shape (3 * BLOCK,)
        Scratch.

    Returns
    -------
    int
        Where the ids end; -1 - i when piece i has a symbol that is not in the alphabet.
    """
    records = tables.records
    mask = len(memory) // (2 * ENTRY) - 1
    for start in range(first, stop, BLOCK):
        count = min(BLOCK, stop - start)
        for k in range(count):
            begin = bounds[start + k]
            size = min(bounds[start + k + 1] - begin, LONGEST)
            low, high = pack(load(text, begin), load(text, begin + 8), size)
            at = (np.int64(hash_packed(low, high) >> np.uint64(20)) & mask) * (2 * ENTRY)
            block[3 * k] = low
            block[3 * k + 1] = high
            block[3 * k + 2] = at
            prefetch(memory, at)
        for k in range(count):
            i = start + k
            begin = bounds[i]
            end = bounds[i + 1]
            low, high, at = block[3 * k], block[3 * k + 1], np.int64(block[3 * k + 2])
            short = end - begin <= LONGEST
            if short:
                in_first = (memory[at] == low) & (memory[at + 1] == high)
                entry = at if in_first else at + ENTRY
                if (memory[entry] == low) & (memory[entry + 1] == high):
                    pair, rest = memory[entry + 2], memory[entry + 3]
                    out[n] = np.int32(pair & np.uint64(0xFFFFFFFF))
                    out[n + 1] = np.int32(pair >> np.uint64(32))
                    out[n + 2] = np.int32(rest & np.uint64(0xFFFFFFFF))
                    n += np.int64(rest >> np.uint64(32))
                    if len(ends):
                        ends[i] = n
                    continue
            n_ids = np.int64(0)
            if len(whole.records):
                token = longest_token(whole, text, begin, end)
                if token >= 0 and whole.records[RECORD * token + LENGTH] == end - begin:
                    out[n] = whole.records[RECORD * token + ID]
                    n_ids = np.int64(1)
            if n_ids == 0:
                n_ids = tokenize(tables, text, begin, end, out, n, left)
                if n_ids < 0:
                    return -1 - i
                for m in range(n, n + n_ids):
                    out[m] = records[RECORD * np.int64(out[m]) + ID]
            if short and n_ids <= IDS_KEPT:
                for m in range(ENTRY):
                    memory[at + ENTRY + m] = memory[at + m]
                memory[at], memory[at + 1] = low, high
                second = np.uint64(np.uint32(out[n + 1])) if n_ids > 1 else np.uint64(0)
                third = np.uint64(np.uint32(out[n + 2])) if n_ids > 2 else np.uint64(0)
                memory[at + 2] = np.uint64(np.uint32(out[n])) | (second << np.uint64(32))
                memory[at + 3] = third | (np.uint64(n_ids) << np.uint64(32))
            n += n_ids
            if len(ends):
                ends[i] = n
    return n
