"""Greedy training, its beginning: the pairs of a text of symbols counted, their positions listed, and queued."""

from __future__ import annotations

import numba as nb
import numpy as np

from tokdfa.kernels.pair_queue import (
    COUNT,
    FIRST_SEEN,
    FROM,
    INTS,
    KEY,
    LONGS,
    ROWS,
    SENTENCEPIECE,
    SUBWORD_NMT,
    TIE,
    TO,
    Ints,
    Longs,
    enter,
    find,
    push,
    rows_for,
    table_for,
)

__all__ = ["HEAP", "MADE", "PAIRS", "POOL", "QUEUE", "TOKENS", "count_pairs", "tie_number"]

# What `numbers` holds: tokens and pairs so far, positions in the pool, entries of the heap, rules made.
TOKENS, PAIRS, POOL, HEAP, MADE = 0, 1, 2, 3, 4

QUEUE = nb.types.Tuple((ROWS, LONGS, INTS, ROWS))  # type: ignore[no-untyped-call]


@nb.njit(nb.int64(nb.int64, nb.int64, nb.int64, nb.int64, nb.int64, INTS, INTS), cache=True)
def tie_number(tie: int, row: int, first: int, u: int, v: int, rank: Ints, length: Ints) -> int:
    """Return what is compared first among equally frequent pairs, the least one winning."""
    if tie == FIRST_SEEN:
        return first
    if tie == SENTENCEPIECE:
        return int(length[u] + length[v])
    if tie == SUBWORD_NMT:
        return 0
    # Without ranks the pairs go by age, and rows are numbered as they enter.
    return row if len(rank) == 0 else int((np.int64(rank[u]) << 32) | np.int64(rank[v]))


@nb.njit(nb.int64(INTS, LONGS, INTS, INTS, LONGS, ROWS, LONGS, nb.int64, nb.boolean, nb.int64), cache=True)
def _count_while_room(
    text: Ints,
    weight: Longs,
    length: Ints,
    rank: Ints,
    numbers: Longs,
    pairs: Longs,
    table: Longs,
    tie: int,
    overlapping: bool,
    first: int,
) -> int:
    """Count the pairs of symbols from position `first` on; return the position of one that finds no room.

    For the time being `TO` is the number of positions, and `FROM` the position of the second symbol of the pair that
    counted last, which is what runs need.
    """
    n_pairs = numbers[PAIRS]
    end = len(text) - 1
    for at in range(first, len(text) - 1):
        u, v = text[at], text[at + 1]
        if u < 0 or v < 0:
            continue
        key = int((np.int64(u) << 32) | np.int64(v))
        row = find(table, pairs, key)
        if row < 0:
            if n_pairs == len(pairs):
                end = at
                break
            enter(table, -1 - row, key, n_pairs)
            row = n_pairs
            n_pairs += 1
            pairs[row, KEY], pairs[row, COUNT], pairs[row, FROM], pairs[row, TO] = key, 0, -1, 0
            pairs[row, TIE] = tie_number(tie, row, at, u, v, rank, length)
        pairs[row, TO] += 1
        if u != v or overlapping or pairs[row, FROM] != at:
            pairs[row, COUNT] += weight[at]
            pairs[row, FROM] = at + 1
    numbers[PAIRS] = n_pairs
    return end


@nb.njit(
    QUEUE(INTS, LONGS, INTS, INTS, INTS, LONGS, LONGS, nb.int64, nb.boolean, nb.int64, nb.int64),
    cache=True,
)
def count_pairs(
    text: Ints,
    weight: Longs,
    length: Ints,
    rank: Ints,
    units: Ints,
    unit_at: Longs,
    numbers: Longs,
    tie: int,
    overlapping: bool,
    least: int,
    longest: int,
) -> tuple[Longs, Longs, Ints, Longs]:
    """Count the pairs of a text of symbols, list their positions and queue them.

    Parameters
    ----------
    text : int32 array
        Symbols, with borders before, between and behind the pieces.
    weight : int64 array, one entry a position
        The multiplicity of the piece.
    length : int32 array, one entry a token
        Lengths in symbols, with room for the tokens to come.
    rank : int32 array, one entry a token
        For `FIXED` ties: the pair whose left token has the least rank wins, then the right one. Empty for the age.
    units : int32 array, unit_at : int64 array, one entry a position and one more
        For ties by spelling: what the symbols are spelled with, and where the spelling of each position begins.
    numbers : int64 array of length 5
        Its first entry is the number of symbols; the others are written.
    tie : int
        One of `FIXED`, `FIRST_SEEN`, `SENTENCEPIECE`, `SUBWORD_NMT`.
    overlapping : bool
        Whether runs count every position.
    least, longest : int
        The least frequency of a merge, 1 or more, and the greatest length of a product.

    Returns
    -------
    pairs, table, pool, heap
        What :func:`~tokdfa.kernels.greedy.merge_pairs` goes on with.
    """
    pairs = np.empty((1 << 10, 5), np.int64)
    table = np.full(1 << 11, -1, np.int64)
    numbers[PAIRS] = 0
    # Arrays that are replaced within a loop are counted at every turn of it, so growing them is an affair of its own.
    at = 1
    while at < len(text) - 1:
        at = _count_while_room(text, weight, length, rank, numbers, pairs, table, tie, overlapping, at)
        table = table_for(table, pairs, numbers[PAIRS], numbers[PAIRS])
        pairs = rows_for(pairs, numbers[PAIRS], len(table) // 2 - numbers[PAIRS])
    n_pairs = numbers[PAIRS]
    wanted = np.int64(0)
    for row in range(n_pairs):
        many = pairs[row, TO]
        if pairs[row, COUNT] < least:
            many = 0
            pairs[row, COUNT] = 0
        pairs[row, FROM], pairs[row, TO] = wanted, wanted
        wanted += many
    pool = np.empty(wanted + wanted // 2 + 16, np.int32)
    for at in range(1, len(text) - 1):
        u, v = text[at], text[at + 1]
        if u < 0 or v < 0:
            continue
        row = find(table, pairs, int((np.int64(u) << 32) | np.int64(v)))
        if pairs[row, COUNT] > 0:
            pool[pairs[row, TO]] = at
            pairs[row, TO] += 1
    heap = np.empty((n_pairs + 16, 3), np.int64)
    size = 0
    for row in range(n_pairs):
        if pairs[row, COUNT] > 0 and longest >= 2:
            push(tie, heap, size, row, pairs, pool, length, units, unit_at)
            size += 1
    numbers[PAIRS], numbers[POOL], numbers[HEAP], numbers[MADE] = n_pairs, wanted, size, 0
    return pairs, table, pool, heap
