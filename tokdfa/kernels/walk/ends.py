"""Finding where the ids of a text begin, and where they end in another text, which differs by spaces only."""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, Uint8Array, Uint16Array
from tokdfa.kernels.library import call, lib

__all__ = ["ends_but_for_spaces", "offsets_at"]


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
