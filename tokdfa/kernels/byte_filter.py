"""A filter of two neighbouring bytes, for 64 offsets at once; see ``common/byte_bits.h``."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tokdfa.base.arrays import Uint8Array

GROUPS = 8
"""The number of groups of pairs. Wide instructions let more pass, of one group the more."""


def byte_filter(pairs: Iterable[tuple[int, int, int]]) -> Uint8Array:
    """Return the filter that lets pairs of bytes pass: group, first and second byte of each; uint8, of shape (576,)."""
    by_byte: Uint8Array = np.zeros((2, 256), dtype=np.uint8)
    halves: Uint8Array = np.zeros((2, 2, 16), dtype=np.uint8)
    for group, *both in pairs:
        for i, byte in enumerate(both):
            by_byte[i, byte] |= 1 << group
            halves[i, 0, byte & 15] |= 1 << group
            halves[i, 1, byte >> 4] |= 1 << group
    return np.concatenate((by_byte.ravel(), halves.ravel()))
