"""Comparing the rows of two compact token DFAs, as sets of tokens."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.kernels.library import Struct, lib, readable, writable

__all__ = ["compare_rows", "ranked_rows"]


PAIRS_AT_ONCE = 1 << 12
"""The number of pairs of rows to compare in one call: some hundredths of a second."""


def ranked_rows(pointer: Int32Array, start: Int32Array, stop: Int32Array, rank: Int32Array) -> Struct:
    """Return the rows of an automaton whose tokens have ranks.

    Parameters
    ----------
    pointer, start, stop : int32 arrays
        The tokens that the rows do not allow; see :class:`tokdfa.automata.compact.Rows`.
    rank : int32 array, one entry per position
        The rank, in an order common to two automata, of the token at the position; -1 for tokens not common to both.
    """
    return Struct("tokdfa_ranked_rows", pointer=pointer, start=start, stop=stop, rank=rank)


def compare_rows(
    first: Struct, second: Struct, first_row: Int32Array, second_row: Int32Array, n_ranks: int
) -> tuple[Int32Array, Int64Array, Int64Array]:
    """Compare rows of two automata whose tokens are in different orders.

    Parameters
    ----------
    first, second : Struct
        The rows of both automata, of :func:`ranked_rows`.
    first_row, second_row : int32 arrays
        The pairs of rows to compare.
    n_ranks : int
        The number of common tokens.

    Returns
    -------
    least : int32 array, one entry per pair
        The least rank that only one of the rows allows; -1 if they are equal.
    only_first, only_second : int64 arrays, one entry per pair
        The number of common tokens that only the first row allows, and that only the second allows.
    """
    if len(first_row) != len(second_row):
        raise ValueError("rows are compared pair by pair")
    bits = np.zeros((n_ranks + 511) // 512 * 8, dtype=np.uint64)
    least: Int32Array = np.empty(len(first_row), dtype=np.int32)
    only_first, only_second = np.empty((2, len(first_row)), dtype=np.int64)
    # Python answers signals between the calls.
    for begin in range(0, len(first_row), PAIRS_AT_ONCE):
        part = slice(begin, begin + PAIRS_AT_ONCE)
        lib.tokdfa_compare_rows(
            first.pointer,
            second.pointer,
            readable(first_row[part], np.int32),
            readable(second_row[part], np.int32),
            len(first_row[part]),
            writable(bits, np.uint64),
            len(bits),
            writable(least[part], np.int32),
            writable(only_first[part], np.int64),
            writable(only_second[part], np.int64),
        )
    return least, only_first, only_second
