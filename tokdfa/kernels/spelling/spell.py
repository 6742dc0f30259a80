"""Spelling numbered words one after the other."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array, Uint8Array
from tokdfa.kernels.library import lib, readable, writable

__all__ = ["spell"]


def spell(text: Uint8Array, offsets: Int64Array, numbers: Int32Array) -> tuple[Uint8Array, Int64Array]:
    """Return the words of some numbers, one after the other.

    Parameters
    ----------
    text, offsets : uint8 and int64 arrays
        Word i is ``text[offsets[i]:offsets[i + 1]]``; ascending from 0 to the length of the text.
    numbers : int32 array
        Smaller than there are words; negative ones stand for the empty word.

    Returns
    -------
    spelled : uint8 array
    lengths : int64 array, one entry a number
        The length of each word.
    """
    lengths: Int64Array = np.empty(len(numbers), dtype=np.int64)
    pointers = readable(offsets, np.int64), readable(numbers, np.int32)
    size = lib.tokdfa_spelled_lengths(*pointers, len(numbers), writable(lengths, np.int64))
    spelled = np.empty(size, dtype=np.uint8)
    lib.tokdfa_spell(
        readable(text, np.uint8), len(text), *pointers, len(numbers), writable(spelled, np.uint8), len(spelled)
    )
    return spelled, lengths
