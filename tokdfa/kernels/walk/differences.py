"""Finding where two tokenizations of texts differ."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.kernels.library import call, lib

__all__ = ["find_differences"]


def find_differences(
    ids: Int32Array,
    ends: Int64Array,
    bounds: Int64Array,
    other_ids: Int32Array,
    other_ends: Int64Array,
    other_bounds: Int64Array,
) -> Int64Array:
    """Return where two tokenizations of texts differ, as parts of each between neighbouring ends that both share.

    Text k has the ids from ``bounds[k]`` to ``bounds[k + 1]``, from 0 up to all, and of the other tokenization those
    between `other_bounds`. `ends` do not descend within a text, and count from the last one of the text before. An end
    is shared if it is not 0 and that of one id on each side: ids that add nothing end where others do.

    Returns an int64 array of shape (parts, 6): the text; the first id of a part and the one after its last; the same of
    the other tokenization; and whether one of the ids of both adds nothing.
    """
    if len(bounds) != len(other_bounds):
        raise ValueError("both tokenizations must be of the same texts")
    for side, its_ends, its_bounds in ((ids, ends, bounds), (other_ids, other_ends, other_bounds)):
        if len(its_ends) != len(side):
            raise ValueError("each id must have an end")
        if int(its_bounds[0]) != 0 or int(its_bounds[-1]) != len(side) or (np.diff(its_bounds) < 0).any():
            raise ValueError("the texts must be those of all ids, one after the other")
    sides = ids, ends, bounds, other_ids, other_ends, other_bounds
    room = max(64, len(ids) // 16)
    while True:
        rows: Int64Array = np.empty((room, 6), dtype=np.int64)
        n = call(lib.tokdfa_differences, *sides, len(bounds) - 1, out=(rows, room))
        if n >= 0:
            return rows[:n]
        room *= 4
