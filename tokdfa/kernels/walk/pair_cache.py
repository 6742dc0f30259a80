"""A cache of a function of pairs of numbers, which is read for many pairs at once.

It is a table of fixed size, 4-way set-associative: a new pair replaces the oldest of four. An entry is one machine
word, a pair next to its value, so that threads exchange an entry at a time.
"""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import Int32Array, Uint8Array
from tokdfa.kernels.library import Struct, call, lib

__all__ = ["NOT_CACHED", "cached_pairs", "empty_cache", "fill"]

NOT_CACHED = 15
"""Stands for the value of a pair that is not in the cache; the values are smaller."""

_EMPTY = 0xFFFF_FFFF_FFFF_FFFF
_MOST = (1 << 30) - 3


def empty_cache(bits: int) -> Struct:
    """Return a cache of 2 ** bits entries, of 8 bytes each."""
    if not 2 <= bits <= 32:
        raise ValueError(f"a cache of 2 ** {bits} entries")
    return Struct("tokdfa_pair_cache", entries=np.full(1 << bits, _EMPTY, dtype=np.uint64))


def cached_pairs(cache: Struct, left: Int32Array, right: Int32Array) -> tuple[Uint8Array, int]:
    """Return the value of each pair of numbers, NOT_CACHED where it is not in the cache, and how many are not."""
    if len(left) != len(right):
        raise ValueError("each pair has two sides")
    values: Uint8Array = np.empty(len(left), dtype=np.uint8)
    return values, call(lib.tokdfa_cached_pairs, cache.pointer, left, right, len(left), out=(values,))


def fill(cache: Struct, left: Int32Array, right: Int32Array, values: Uint8Array) -> None:
    """Enter pairs of numbers with their values; of the pairs that belong to the same entries, the last ones remain."""
    if not len(left) == len(right) == len(values) or values.max(initial=0) >= NOT_CACHED:
        raise ValueError("each pair has a value, less than 15")
    for side in (left, right):
        if side.min(initial=0) < -1 or side.max(initial=0) > _MOST:
            raise ValueError("a number of a pair is out of range")
    call(lib.tokdfa_cache_pairs, cache.pointer, left, right, len(left), values)
