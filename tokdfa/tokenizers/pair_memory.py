"""What is known of pairs of neighbours, kept in bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tokdfa.arrays import Int64Array, IntegerArray, Uint8Array
from tokdfa.locks import SHARED

__all__ = ["PairMemory"]

Values: TypeAlias = Callable[[Int64Array, Int64Array], Uint8Array]

_NO_PAIR = -1
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class PairMemory:
    """A function of pairs of numbers that remembers its values in a table of fixed size, where new ones replace others.

    Parameters
    ----------
    bits : int
        The table has 2 ** bits places, of 9 bytes each.
    """

    def __init__(self, bits: int) -> None:
        self._shift = np.uint64(64 - bits)
        self._keys: Int64Array = np.full(1 << bits, _NO_PAIR, dtype=np.int64)
        self._values: Uint8Array = np.zeros(1 << bits, dtype=np.uint8)

    def states(self, left: IntegerArray, right: IntegerArray, compute: Values) -> Uint8Array:
        """Return the value of each pair; equal pairs of one call are computed once.

        Parameters
        ----------
        left, right : integer arrays
            The sides of the pairs: numbers from -1 up to, but without, 2 ** 31 - 1.
        compute : callable
            Returns the values of pairs, given their left and their right sides, as a uint8 array; the same function in
            each call. It is not kept, because its owner may keep the memory.
        """
        codes = left.astype(np.int64) + 1 << 32 | right.astype(np.int64) + 1
        slots = (codes.view(np.uint64) * _FACTOR) >> self._shift
        with SHARED:
            found: Uint8Array = self._values[slots]
            missing = np.flatnonzero(self._keys[slots] != codes)
            if len(missing):
                codes, slots = codes[missing], slots[missing]
                distinct, place = np.unique(codes, return_inverse=True)
                values = compute((distinct >> 32) - 1, (distinct & 0xFFFFFFFF) - 1)[place]
                found[missing] = values
                self._keys[slots] = codes
                # Of pairs with the same place in the table one is there now.
                kept = self._keys[slots] == codes
                self._values[slots[kept]] = values[kept]
        return found
