"""A filter of two neighbouring bytes, for 64 places at once; see ``common/byte_bits.h``."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tokdfa.base.arrays import Uint8Array

GROUPS = 8
"""The number of groups of pairs. Wide instructions let more pass, of one group the more."""


def byte_filter(pairs: Iterable[tuple[int, int, int]]) -> Uint8Array:
    """Return the filter that lets pairs of bytes pass: group, first and second byte of each.

    Examples
    --------
    >>> made = byte_filter([(0, ord("<"), ord("|")), (1, ord("["), ord("I"))])
    >>> [int(made[first] & made[256 + second]) for first, second in (b"<|", b"[I", b"<I")]
    [1, 2, 0]
    """
    by_byte: Uint8Array = np.zeros((2, 256), dtype=np.uint8)
    halves: Uint8Array = np.zeros((2, 2, 16), dtype=np.uint8)
    for group, *both in pairs:
        for place, byte in enumerate(both):
            by_byte[place, byte] |= 1 << group
            halves[place, 0, byte & 15] |= 1 << group
            halves[place, 1, byte >> 4] |= 1 << group
    return np.concatenate((by_byte.ravel(), halves.ravel()))
