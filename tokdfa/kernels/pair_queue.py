"""The pairs of a text that is being merged: a growing table of rows, found by their key, and a queue of them.

A pair u≀v is a row of five numbers; its key is u·2³² + v. The hash table holds the row's number and, beside it, part of
the key's hash, so that most rows that are not meant need not be fetched. The queue is a binary heap of entries
(count, tie, row): the greatest count first, then the least tie, then by spelling where the tie rule says so.
"""

from __future__ import annotations

from typing import TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt

__all__ = [
    "COUNT",
    "FIRST_SEEN",
    "FIXED",
    "FROM",
    "INTS",
    "KEY",
    "LONGS",
    "ROWS",
    "SENTENCEPIECE",
    "SUBWORD_NMT",
    "TIE",
    "TO",
    "Ints",
    "Longs",
    "enter",
    "find",
    "pool_for",
    "push",
    "rows_for",
    "sift_down",
    "table_for",
]

Ints: TypeAlias = npt.NDArray[np.int32]
Longs: TypeAlias = npt.NDArray[np.int64]

INTS = nb.types.Array(nb.int32, 1, "C")
LONGS = nb.types.Array(nb.int64, 1, "C")
ROWS = nb.types.Array(nb.int64, 2, "C")

# Ties: by a number that a pair keeps, by its first position now, or by its spelling.
FIXED, FIRST_SEEN, SENTENCEPIECE, SUBWORD_NMT = 0, 1, 2, 3

# The columns of a row: what it is, how often it occurs, what decides ties, where in the pool its positions stand.
KEY, COUNT, TIE, FROM, TO = 0, 1, 2, 3, 4

# Fibonacci hashing: 2^64 over the golden ratio.
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@nb.njit(nb.int64(LONGS, ROWS, nb.int64), cache=True)
def find(table: Longs, pairs: Longs, key: int) -> int:
    """Return the row of a pair, or -1 - slot with the free slot where its number belongs."""
    mixed = np.uint64(key) * _MULTIPLIER
    mark = np.int64(mixed >> np.uint64(33))
    mask = len(table) - 1
    slot = np.int64(mixed >> np.uint64(20)) & mask
    while table[slot] >= 0:
        row = table[slot] & 0xFFFFFFFF
        if table[slot] >> 32 == mark and pairs[row, KEY] == key:
            return int(row)
        slot = (slot + 1) & mask
    return int(-1 - slot)


@nb.njit(nb.void(LONGS, nb.int64, nb.int64, nb.int64), cache=True)
def enter(table: Longs, slot: int, key: int, row: int) -> None:
    """Write a row's number into the free slot that :func:`find` told."""
    table[slot] = (np.int64((np.uint64(key) * _MULTIPLIER) >> np.uint64(33)) << 32) | row


@nb.njit(LONGS(LONGS, ROWS, nb.int64, nb.int64), cache=True)
def table_for(table: Longs, pairs: Longs, n_pairs: int, more: int) -> Longs:
    """Return `table`, or a larger one when `more` pairs would fill it beyond a half."""
    size = len(table)
    while size < 2 * (n_pairs + more):
        size *= 2
    if size == len(table):
        return table
    larger = np.full(size, -1, np.int64)
    for row in range(n_pairs):
        key = pairs[row, KEY]
        enter(larger, -1 - find(larger, pairs, key), key, row)
    return larger


@nb.njit(ROWS(ROWS, nb.int64, nb.int64), cache=True)
def rows_for(rows: Longs, used: int, more: int) -> Longs:
    """Return `rows`, or a longer copy when there is no room for `more` behind those used."""
    if used + more <= len(rows):
        return rows
    larger = np.empty((max(used + more, 2 * len(rows)), rows.shape[1]), np.int64)
    # Written out: numba takes seconds to compile the assignment of a slice to a slice.
    for row in range(used):
        for column in range(rows.shape[1]):
            larger[row, column] = rows[row, column]
    return larger


@nb.njit(INTS(INTS, nb.int64, nb.int64), cache=True)
def pool_for(pool: Ints, used: int, more: int) -> Ints:
    """Return `pool`, or a longer copy when there is no room for `more` behind those used."""
    if used + more <= len(pool):
        return pool
    larger = np.empty(max(used + more, 2 * len(pool)), np.int32)
    for i in range(used):
        larger[i] = pool[i]
    return larger


@nb.njit(nb.int64(INTS, nb.int64, nb.int64, nb.int64, nb.int64), cache=True)
def _compare(units: Ints, start: int, end: int, other: int, other_end: int) -> int:
    """Return the sign of the comparison of two stretches of `units`."""
    while start < end and other < other_end:
        if units[start] != units[other]:
            return -1 if units[start] < units[other] else 1
        start += 1
        other += 1
    return int(start < end) - int(other < other_end)


@nb.njit(nb.boolean(nb.int64, nb.int64, nb.int64, ROWS, INTS, INTS, INTS, LONGS), cache=True)
def _before(tie: int, a: int, b: int, pairs: Longs, pool: Ints, length: Ints, units: Ints, unit_at: Longs) -> bool:
    """Tell whether pair `a` is merged before pair `b` by its spelling, both being as frequent.

    A pair is spelled as the text is at any of its positions, merged or not.
    """
    p, q = pool[pairs[a, FROM]], pool[pairs[b, FROM]]
    u, v = length[pairs[a, KEY] >> 32], length[pairs[a, KEY] & 0xFFFFFFFF]
    x, y = length[pairs[b, KEY] >> 32], length[pairs[b, KEY] & 0xFFFFFFFF]
    if tie == SENTENCEPIECE:
        order = _compare(units, unit_at[p], unit_at[p + u + v], unit_at[q], unit_at[q + x + y])
        return bool(order < 0 or (order == 0 and u < x))
    order = _compare(units, unit_at[p], unit_at[p + u], unit_at[q], unit_at[q + x])
    if order == 0:
        order = _compare(units, unit_at[p + u], unit_at[p + u + v], unit_at[q + x], unit_at[q + x + y])
    return order > 0


@nb.njit(
    nb.void(nb.int64, ROWS, nb.int64, nb.int64, nb.int64, nb.int64, ROWS, INTS, INTS, INTS, LONGS),
    cache=True,
)
def sift_down(
    tie: int,
    heap: Longs,
    size: int,
    count: int,
    key: int,
    row: int,
    pairs: Longs,
    pool: Ints,
    length: Ints,
    units: Ints,
    unit_at: Longs,
) -> None:
    """Put an entry in the place of the top one, into a heap of `size` entries."""
    at = 0
    # The numbers are compared in place: what a call costs, with all its arrays, is several times what they take.
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        best, best_key = heap[child, 0], heap[child, 1]
        if child + 1 < size:
            other, other_key = heap[child + 1, 0], heap[child + 1, 1]
            if (
                other > best
                or (other == best and other_key < best_key)
                or (
                    tie >= SENTENCEPIECE
                    and other == best
                    and other_key == best_key
                    and _before(tie, heap[child + 1, 2], heap[child, 2], pairs, pool, length, units, unit_at)
                )
            ):
                child += 1
                best, best_key = other, other_key
        if (
            best < count
            or (best == count and best_key > key)
            or (
                best == count
                and best_key == key
                and (tie < SENTENCEPIECE or not _before(tie, heap[child, 2], row, pairs, pool, length, units, unit_at))
            )
        ):
            break
        heap[at, 0], heap[at, 1], heap[at, 2] = best, best_key, heap[child, 2]
        at = child
    heap[at, 0], heap[at, 1], heap[at, 2] = count, key, row


@nb.njit(nb.void(nb.int64, ROWS, nb.int64, nb.int64, ROWS, INTS, INTS, INTS, LONGS), cache=True)
def push(
    tie: int, heap: Longs, size: int, row: int, pairs: Longs, pool: Ints, length: Ints, units: Ints, unit_at: Longs
) -> None:
    """Add a row to a heap of `size` entries."""
    count, key = pairs[row, COUNT], pairs[row, TIE]
    at = size
    while at > 0:
        above = (at - 1) >> 1
        best, best_key = heap[above, 0], heap[above, 1]
        if (
            best > count
            or (best == count and best_key < key)
            or (
                best == count
                and best_key == key
                and (tie < SENTENCEPIECE or _before(tie, heap[above, 2], row, pairs, pool, length, units, unit_at))
            )
        ):
            break
        heap[at, 0], heap[at, 1], heap[at, 2] = best, best_key, heap[above, 2]
        at = above
    heap[at, 0], heap[at, 1], heap[at, 2] = count, key, row
