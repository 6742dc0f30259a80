"""Where two tokenizations of a text differ."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.kernels.walk.differences import find_differences
from tokdfa.tokenizers.round_trip import Ends
from tokdfa.validation.violation import common_prefix

__all__ = ["differences"]


def differences(ids: Int32Array, ends: Int64Array, canonical: Int32Array, others: Ends | None) -> Int64Array:
    """Return where two tokenizations of a text differ, as parts of each between neighbouring borders that both share.

    Parameters
    ----------
    ids, ends : arrays
        Ids, and the end of each in the text, in bytes.
    canonical, others : arrays
        Other ids, and the end of each, half a byte away from any where it is nowhere in the text. If the ends are
        unknown, the part is everything between their common prefix and suffix.

    Returns
    -------
    int64 array of shape (parts, 4)
        The first id and the one after the last, then the same of the other ids.
    """
    if others is None:
        begin = common_prefix(ids, canonical)
        rest = min(len(ids), len(canonical)) - begin
        end = common_prefix(ids[::-1][:rest], canonical[::-1][:rest])
        return np.array([[begin, len(ids) - end, begin, len(canonical) - end]], dtype=np.int64)
    at_ends: Int64Array = others.astype(np.int64, copy=False)
    if others.dtype != np.int64:
        ends, at_ends = 2 * ends, (2 * others).astype(np.int64)
    bounds, other_bounds = (np.array([0, len(side)]) for side in (ids, canonical))
    found: Int64Array = find_differences(ids, ends, bounds, canonical, at_ends, other_bounds)[:, 1:5]
    return found
