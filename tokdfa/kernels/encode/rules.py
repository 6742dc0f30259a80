"""Rules as a hash table from pairs of tokens to the products of merging them."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int32Array, Uint64Array
from tokdfa.kernels.library import Struct, lib, readable, writable
from tokdfa.kernels.pages import zeros

__all__ = ["BUCKET", "NOTHING", "NO_NUMBER", "index_rules", "merged"]

NO_NUMBER = (1 << 21) - 1
"""The number of no token, used for the missing neighbours of the first and the last token."""

NOTHING = 0
"""The product of a pair that no rule merges."""

BUCKET = 8
# On average. With more, the table is smaller, and a bucket has too few places more often.
_IN_BUCKET = 4.4


def _room_for_rules(n: int) -> Uint64Array:
    """Return an empty table for this number of rules, its buckets being cache lines."""
    size = BUCKET * (int(n / _IN_BUCKET) + 1)
    room = zeros(size + BUCKET, np.uint64)
    first = -(room.ctypes.data // 8) % BUCKET
    table: Uint64Array = room[first : first + size]
    return table


def index_rules(left: Int32Array, right: Int32Array, product: Int32Array) -> tuple[Uint64Array, Int32Array]:
    """Put the rules ``left[i]≀right[i]`` into a table; the first of equal pairs counts.

    Parameters
    ----------
    left, right, product : int32 arrays
        Numbers of tokens, all less than NO_NUMBER; those of products are greater than 0.

    Returns
    -------
    rules : uint64 array
        The table.
    of_symbols : int32 array of shape (65536,)
        The product of merging the tokens u and v below 256, at ``u << 8 | v``.
    """
    rules = _room_for_rules(len(left))
    of_symbols: Int32Array = np.zeros(1 << 16, dtype=np.int32)
    lib.tokdfa_index_rules(
        *(readable(column, np.int32) for column in (left, right, product)),
        len(left),
        writable(rules, np.uint64),
        len(rules),
        writable(of_symbols, np.int32),
    )
    return rules, of_symbols


def merged(tables: Struct, u: int, v: int) -> int:
    """Return the number of the product of the rule u≀v of some tables, or NOTHING if there is no such rule."""
    return int(lib.tokdfa_merged(tables.pointer, u, v))
