"""Merging by priority: of all adjacent pairs that may merge, the strongest first, with ties going to the leftmost."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.errors import LimitExceededError
from tokdfa.kernels.library import Struct, check_memory, lib, readable, writable

__all__ = ["check_lengths", "empty_table", "merge_pieces", "pair_table"]


def empty_table(n_pairs: int) -> Struct:
    """Return a hash table with room for `n_pairs` pairs."""
    capacity = 16
    while capacity < 2 * n_pairs:
        capacity *= 2
    priority, product = np.empty((2, capacity), dtype=np.int32)
    return Struct("tokdfa_merges", keys=np.full(capacity, -1, dtype=np.int64), priority=priority, product=product)


def pair_table(left: Int32Array, right: Int32Array, priority: Int32Array, product: Int32Array) -> Struct:
    """Return the hash table of these pairs; of equal pairs the first one counts.

    Its fields are arrays: ``keys``, ``left << 32 | right`` or -1 in free slots, ``priority`` and ``product``.
    """
    if not len(left) == len(right) == len(priority) == len(product):
        raise ValueError("a pair has two parts, a priority and a product")
    table = empty_table(len(left))
    lib.tokdfa_add_pairs(
        table.pointer, *(readable(array, np.int32) for array in (left, right, priority, product)), len(left)
    )
    return table


def check_lengths(offsets: Int64Array) -> None:
    """Raise an error if a word is too long for the kernels.

    Raises
    ------
    LimitExceededError
        If a word has 2 ** 31 symbols or more.
    """
    longest = int(np.diff(offsets).max(initial=0))
    if longest >= 1 << 31:
        raise LimitExceededError("a piece is too long to merge", value=longest)


def merge_pieces(symbols: Int32Array, pieces: Int64Array, table: Struct) -> tuple[Int64Array, Int32Array]:
    """Merge every piece ``symbols[pieces[i]:pieces[i + 1]]`` separately: O(n log n) for one of n symbols.

    Parameters
    ----------
    symbols, pieces : int32 and int64 arrays
    table : Struct
        The pairs, of :func:`pair_table`.

    Returns
    -------
    offsets, tokens : int64 and int32 arrays
        The tokens of piece i are ``tokens[offsets[i]:offsets[i + 1]]``.

    Raises
    ------
    LimitExceededError
        If a piece has 2 ** 31 symbols or more.
    """
    check_lengths(pieces)
    offsets: Int64Array = np.empty(len(pieces), dtype=np.int64)
    tokens: Int32Array = np.empty(len(symbols), dtype=np.int32)
    end = check_memory(
        lib.tokdfa_merge_pieces(
            table.pointer,
            readable(symbols, np.int32),
            readable(pieces, np.int64),
            len(pieces) - 1,
            writable(offsets, np.int64),
            writable(tokens, np.int32),
        )
    )
    return offsets, tokens[:end].copy()
