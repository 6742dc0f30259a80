"""Comparing the texts of ids: where two tokenizations differ, where ids end, and which symbols are not UTF-8."""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array, Uint16Array
from tokdfa.kernels.library import Struct, call, lib, rows_of


class Tokenizations:
    """Tokenizations of several texts, one after the other.

    Text k has the ids from ``bounds[k]`` to ``bounds[k + 1]``, from 0 up to all. Its id i ends at
    ``ends[i] - starts[k]`` in the text, not before the end of the previous id; one that ends below 0 adds nothing. By
    default there is one text.
    """

    def __init__(
        self, ids: Int32Array, ends: Int64Array, bounds: Int64Array | None = None, starts: Int64Array | None = None
    ) -> None:
        if bounds is None or starts is None:
            bounds, starts = np.array([0, len(ids)]), np.zeros(1, dtype=np.int64)
        if len(ends) != len(ids) or len(bounds) != len(starts) + 1:
            raise ValueError("each id must have an end, and each text a start and bounds")
        if int(bounds[0]) != 0 or int(bounds[-1]) != len(ids) or (bounds[1:] < bounds[:-1]).any():
            raise ValueError("the texts must be those of all ids, one after the other")
        self.n_ids, self.n_texts = len(ids), len(starts)
        self.struct = Struct("tokdfa_tokenizations", ids=ids, ends=ends, bounds=bounds, starts=starts)


def find_differences(given: Tokenizations, other: Tokenizations) -> Int64Array:
    """Return where two tokenizations of texts differ, as parts of each between neighbouring ends that both share.

    An end is shared if it is above 0 and exactly one id on each side ends there: ids that add nothing end where others
    do.

    Returns an int64 array of shape (parts, 6): the text; the first id of a part and the one after its last; the same of
    the other tokenization; and whether one of the ids of both adds nothing.
    """
    if given.n_texts != other.n_texts:
        raise ValueError("both tokenizations must be of the same texts")
    given_to = given.struct.pointer, other.struct.pointer, given.n_texts
    return rows_of(lib.tokdfa_differences, *given_to, width=6, least=given.n_ids // 16)


def ends_but_for_spaces(
    text: bytes | Uint8Array, other: bytes | Uint8Array, other_ends: Int64Array
) -> Int64Array | None:
    """Return where ids end in a text, given their ends in another one; None if they differ by more than spaces.

    An end is after as many bytes that are not spaces as in the other text, and as many of the spaces after them as
    there are.
    """
    ends: Int64Array = np.empty(len(other_ends), dtype=np.int64)
    if other_ends[:1].sum() < 0 or other_ends[-1:].sum() > len(other):
        raise ValueError("the ends must be in the text")
    mine, theirs = (np.frombuffer(each, dtype=np.uint8) for each in (text, other))
    found = call(
        lib.tokdfa_ends_but_for_spaces, mine, len(mine), theirs, len(theirs), other_ends, len(other_ends), out=(ends,)
    )
    if found < 0:
        raise ValueError("the ends must ascend")
    return ends if found else None


def offsets_at(length_of: Uint16Array, ids: Int32Array, indices: Int64Array) -> Int64Array:
    """Return the number of bytes of the ids before each of some ascending indices; callers check the ids."""
    offsets: Int64Array = np.empty(len(indices), dtype=np.int64)
    if indices[:1].sum() < 0 or indices[-1:].sum() > len(ids) or (indices[1:] < indices[:-1]).any():
        raise ValueError("the indices must ascend, and be in range")
    call(lib.tokdfa_offsets_at, length_of, ids, indices, len(indices), out=(offsets,))
    return offsets


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
    return rows_of(lib.tokdfa_broken, cuts.pointer, text, ends, bounds, len(bounds) - 1, width=6, least=len(ends) // 16)
