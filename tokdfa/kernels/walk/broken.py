"""Finding the symbols of texts of ids that are not UTF-8, and where these texts are always cut before each."""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import BoolArray, Int64Array, Uint8Array, Uint16Array
from tokdfa.kernels.library import Struct, call, lib


def text_cuts(class_of: Uint16Array, certain: BoolArray) -> Struct:
    """Return where texts are always cut: between two symbols of classes for which `certain` is true.

    `class_of` has the class of each code point, less than the size of `certain`, which is square.
    """
    if len(class_of) != 0x110000 or int(class_of.max()) >= len(certain):
        raise ValueError("every code point has a class")
    flat = np.ascontiguousarray(certain).view(np.uint8).reshape(-1)
    return Struct("tokdfa_text_cuts", class_of=class_of, certain=flat, n_classes=len(certain))


def find_broken(cuts: Struct, text: Uint8Array, ends: Int64Array, bounds: Int64Array) -> Int64Array:
    """Return the symbols of texts of ids that are not UTF-8, as CPython delimits them.

    Id k has the bytes ``text[ends[k - 1]:ends[k]]``, and text j the ids from ``bounds[j]`` to ``bounds[j + 1]``, from 0
    up to all; each id has a byte or more. After such a symbol a text begins anew with the next id.

    Returns an int64 array of shape (symbols, 6): the id with which the text before it begins; the last id before which
    that text is always cut, two symbols or more before its end, or the same one; the first id that the symbol is in,
    and the one after the last; its first byte, and the one after its last.
    """
    if int(bounds[0]) != 0 or int(bounds[-1]) != len(ends) or (np.diff(bounds) < 0).any():
        raise ValueError("the texts must be those of all ids, one after the other")
    if int(ends[-1:].sum()) != len(text) or (np.diff(ends, prepend=0) <= 0).any():
        raise ValueError("the bytes of ids must be all of the text, one after the other")
    capacity = max(64, len(ends) // 16)
    while True:
        rows: Int64Array = np.empty((capacity, 6), dtype=np.int64)
        n = call(lib.tokdfa_broken, cuts.pointer, text, ends, bounds, len(bounds) - 1, out=(rows, capacity))
        if n >= 0:
            return rows[:n]
        capacity *= 4
