"""Where two tokenizations of a text differ."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.jobs.validation.violation import common_prefix
from tokdfa.jobs.validation.violations import ranges
from tokdfa.kernels.walk.differences import Tokenizations, find_differences
from tokdfa.tokenizers.round_trip import Ends

NO_CUTS: Int64Array = np.zeros(0, dtype=np.int64)


def differences(ids: Int32Array, ends: Int64Array, canonical: Int32Array, others: Ends | None) -> Int64Array:
    """Return where two tokenizations of a text differ, as parts of each between neighbouring boundaries of both.

    Each id ends in the text at one of `ends`, in bytes, and each canonical id at one of `others`, half a byte away from
    any end where it is nowhere in the text; if these are unknown, the part is everything between the common prefix and
    suffix. Returns an int64 array of shape (parts, 4): the first id and the one after the last, then the same of the
    other ids.
    """
    if others is None:
        begin = common_prefix(ids, canonical)
        rest = min(len(ids), len(canonical)) - begin
        end = common_prefix(ids[::-1][:rest], canonical[::-1][:rest])
        return np.array([[begin, len(ids) - end, begin, len(canonical) - end]], dtype=np.int64)
    at_ends: Int64Array = others.astype(np.int64, copy=False)
    if others.dtype != np.int64:
        ends, at_ends = 2 * ends, (2 * others).astype(np.int64)
    found: Int64Array = find_differences(Tokenizations(ids, ends), Tokenizations(canonical, at_ends))[:, 1:5]
    return found


class Parts(NamedTuple):
    """Parts of ids, from `starts` to `stops`, next to the parts of the canonical ids that differ from them, in order.

    Neither begins or ends with ids that both sides share. `undecided` is whether the following ids decide where they
    first differ: one side is the beginning of the other, and the next ids of both are the same, or in another text.
    `is_silent` is whether an id of them adds nothing to the text.
    """

    starts: Int64Array
    stops: Int64Array
    lows: Int64Array
    highs: Int64Array
    undecided: BoolArray
    is_silent: BoolArray


def differing_parts(
    ids: Int32Array, ends: Int64Array, cuts: Int64Array, canonical: Int32Array, others: Int64Array
) -> Parts:
    """Return where two tokenizations of a text differ; `cuts` are the ids, ascending, before which it is always cut.

    For the text between two cuts, the parts are the trimmed :func:`differences`.
    """
    parts = find_differences(Tokenizations(ids, ends), Tokenizations(canonical, others))[:, 1:]
    n_before, n_within = np.searchsorted(cuts, parts[:, 0], side="right"), np.searchsorted(cuts, parts[:, 1])
    is_cut = n_within > n_before
    if is_cut.any():
        inner = cuts[ranges(n_before[is_cut], n_within[is_cut])[0]]
        wide = parts[is_cut]
        number = np.searchsorted(wide[:, 0], inner, side="right") - 1
        high = np.searchsorted(others, ends[inner - 1], side="right")
        high = np.clip(high, wide[number, 2], wide[number, 3])
        apart = _parts_apart(ids, ends, inner, canonical, others, high, wide)
        parts = np.concatenate((parts[~is_cut], apart))
        parts = parts[np.argsort(parts[:, 0] + parts[:, 1], kind="stable")]
    return trimmed(ids, canonical, parts, cuts)


def _parts_apart(
    ids: Int32Array,
    ends: Int64Array,
    cuts: Int64Array,
    canonical: Int32Array,
    others: Int64Array,
    other_cuts: Int64Array,
    parts: Int64Array,
) -> Int64Array:
    """Return the parts, of shape (parts, 5), of the texts between the `cuts` in some parts of a text.

    There both sides end, even where one adds nothing to the text before it.
    """
    begins, stops = np.sort(np.append(parts[:, 0], cuts)), np.sort(np.append(parts[:, 1], cuts))
    lows, highs = np.sort(np.append(parts[:, 2], other_cuts)), np.sort(np.append(parts[:, 3], other_cuts))
    (given, bounds), (right, right_bounds) = ranges(begins, stops), ranges(lows, highs)
    starts = np.append(0, ends)[begins]
    found = find_differences(
        Tokenizations(ids[given], ends[given], bounds, starts),
        Tokenizations(canonical[right], others[right], right_bounds, starts),
    )
    found[:, 1:3] += (begins - bounds[:-1])[found[:, :1]]
    found[:, 3:5] += (lows - right_bounds[:-1])[found[:, :1]]
    return found[:, 1:]


def trimmed(ids: Int32Array, canonical: Int32Array, parts: Int64Array, cuts: Int64Array) -> Parts:
    """Return parts, of shape (parts, 5), without the common beginning and end of both sides."""
    starts, stops, lows, highs, is_silent = parts.T.copy()
    live = np.arange(len(parts))
    while len(live := live[(starts[live] < stops[live]) & (lows[live] < highs[live])]):
        live = live[ids[starts[live]] == canonical[lows[live]]]
        starts[live] += 1
        lows[live] += 1
    undecided: BoolArray = (starts == stops) | (lows == highs)
    is_at_cut = (starts == stops) & (np.append(cuts, len(ids))[np.searchsorted(cuts, starts)] == starts)
    rest = np.flatnonzero(undecided & ~is_at_cut & (lows < len(canonical)))
    undecided[rest] = ids[starts[rest]] == canonical[lows[rest]]
    live = np.arange(len(parts))
    while len(live := live[(starts[live] < stops[live]) & (lows[live] < highs[live])]):
        live = live[ids[stops[live] - 1] == canonical[highs[live] - 1]]
        stops[live] -= 1
        highs[live] -= 1
    return Parts(starts, stops, lows, highs, undecided, is_silent != 0)
