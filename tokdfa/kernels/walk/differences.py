"""Finding where two tokenizations of texts differ."""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.kernels.library import Struct, call, lib


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
    capacity = max(64, given.n_ids // 16)
    while True:
        rows: Int64Array = np.empty((capacity, 6), dtype=np.int64)
        n = call(
            lib.tokdfa_differences, given.struct.pointer, other.struct.pointer, given.n_texts, out=(rows, capacity)
        )
        if n >= 0:
            return rows[:n]
        capacity *= 4
