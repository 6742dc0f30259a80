"""Sorting words by their bytes."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array, Uint8Array
from tokdfa.kernels.library import check_memory, lib, readable, writable
from tokdfa.kernels.spelling.lookup import check_words

__all__ = ["sort_words"]


def sort_words(text: Uint8Array, offsets: Int64Array, gap: int) -> Int32Array:
    """Return the numbers of words in the order of their bytes: O(bytes) but for the sorting of eight at a time.

    Equal words keep their order.

    Parameters
    ----------
    text, offsets : uint8 and int64 arrays
        Word i is ``text[offsets[i] : offsets[i + 1] - gap]``. There is one word at least, and less than 2**31.
    gap : {0, 1}
        The number of bytes between words.

    Raises
    ------
    ValueError
        If the offsets are not those of words.
    """
    check_words(text, offsets, gap)
    order: Int32Array = np.empty(len(offsets) - 1, dtype=np.int32)
    # An empty array has no address.
    text = text if len(text) else np.zeros(1, dtype=np.uint8)
    check_memory(
        lib.tokdfa_sort_words(
            readable(text, np.uint8), readable(offsets, np.int64), len(order), gap, writable(order, np.int32)
        )
    )
    return order
