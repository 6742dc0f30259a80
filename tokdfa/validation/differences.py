"""Where two tokenizations of a text differ."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array, Uint8Array
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
    if others.dtype != np.int64:
        ends, others = 2 * ends, (2 * others).astype(np.int64)
    # Tokens that add nothing end where others do, and such places do not show which tokens belong together.
    bounds, other_bounds = (np.concatenate(([0], side)) for side in (ends, others))
    is_single, is_other = _single(bounds), _single(other_bounds)
    n_sides: Uint8Array = np.zeros(max(int(bounds[-1]), int(other_bounds[-1])) + 1, dtype=np.uint8)
    n_sides[bounds[is_single]] = 1
    n_sides[other_bounds[is_other]] += 1
    n_sides[0] = 0
    starts = np.append(0, np.flatnonzero(is_single & (n_sides[bounds] == 2)))
    lows = np.append(0, np.flatnonzero(is_other & (n_sides[other_bounds] == 2)))
    stops, highs = np.append(starts[1:], len(ids)), np.append(lows[1:], len(canonical))
    differ = stops - starts != highs - lows
    part = np.repeat(np.arange(len(starts)), stops - starts)
    comparable = np.flatnonzero(~differ[part])
    others_of = canonical[comparable + (lows - starts)[part[comparable]]]
    differ[part[comparable[ids[comparable] != others_of]]] = True
    found: Int64Array = np.column_stack((starts, stops, lows, highs))[differ]
    return found


def _single(bounds: Int64Array) -> BoolArray:
    """Return, for each of some ascending bounds, whether it occurs once."""
    differs = bounds[1:] != bounds[:-1]
    single: BoolArray = np.append(True, differs) & np.append(differs, True)
    return single
