"""The ids around matches that are encoded again: those up to the nearest cuts that a replacement leaves in place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.replacing.cuts import Cuts

__all__ = ["OPEN", "Region", "last_cut", "regions"]

OPEN = -1
"""In the place of the end of a region that is not known yet."""

_LONGEST_STEP = 1 << 16


class Region(NamedTuple):
    """Ids from `start` to `stop`, and the numbers of the first match in them and the one after the last."""

    start: int
    stop: int
    first: int
    end: int


def regions(
    cuts: Cuts,
    ids: Int32Array,
    starts: Int64Array,
    ends: Int64Array,
    stays: tuple[BoolArray, BoolArray],
    *,
    begins: bool,
    final: bool,
    near: int,
) -> Iterator[Region]:
    """Yield the regions around matches, in order; none overlaps the next.

    Parameters
    ----------
    cuts : Cuts
    ids : int32 array
    starts, ends : int64 arrays
        The first id of each match and the one after its last, in order. They are equal for an empty match before an id.
    stays : tuple of bool arrays
        For each match whether there is a cut before its first id, and one after its last, that its replacement leaves
        in place.
    begins : bool
        Whether a text begins with the ids; otherwise they follow a cut.
    final : bool
        Whether a text ends with the ids.
    near : int
        The number of ids on each side of a match among which a cut is looked for at first.

    Yields
    ------
    Region
        The last may be open.

    Notes
    -----
    A cut depends on the symbols on both sides of it. So a region reaches at least one id beyond its matches on either
    side, unless these symbols, or those in their place, make a cut as well.
    """
    if not len(starts):
        return
    lefts = _near_left(cuts, ids, starts, stays[0], begins, near).tolist()
    rights = _near_right(cuts, ids, ends, stays[1], final, near).tolist()
    current = Region(0, 0, 0, 0)
    for number, (start, end, left, right) in enumerate(zip(starts.tolist(), ends.tolist(), lefts, rights, strict=True)):
        is_inside = number > 0 and (current.stop == OPEN or start < current.stop)
        if left == OPEN:
            left = current.start if is_inside else last_cut(cuts, ids, start - near)
        if right == OPEN:
            reaches = is_inside and (current.stop == OPEN or end < current.stop)
            right = current.stop if reaches else _next_cut(cuts, ids, end + near, final)
        if number > 0 and (current.stop == OPEN or left < current.stop):
            stop = OPEN if OPEN in (current.stop, right) else max(current.stop, right)
            current = Region(min(current.start, left), stop, current.first, number + 1)
        else:
            if number > 0:
                yield current
            current = Region(left, right, number, number + 1)
    yield current


def last_cut(cuts: Cuts, ids: Int32Array, place: int) -> int:
    """Return the last cut before a place; 0 if none is found."""
    step = 64
    stop = place
    while stop > 1:
        low = max(stop - step, 1)
        found = np.flatnonzero(cuts.between(ids[low - 1 : stop - 1], ids[low:stop]))
        if len(found):
            return low + int(found[-1])
        stop = low
        step = min(4 * step, _LONGEST_STEP)
    return 0


def _next_cut(cuts: Cuts, ids: Int32Array, place: int, final: bool) -> int:
    """Return the first cut after a place, or OPEN if there is none yet."""
    step = 64
    low = place + 1
    while low < len(ids):
        stop = min(low + step, len(ids))
        found = np.flatnonzero(cuts.between(ids[low - 1 : stop - 1], ids[low:stop]))
        if len(found):
            return low + int(found[0])
        low = stop
        step = min(4 * step, _LONGEST_STEP)
    return len(ids) if final else OPEN


def _near_left(
    cuts: Cuts, ids: Int32Array, places: Int64Array, stays: BoolArray, begins: bool, near: int
) -> Int64Array:
    """Return the last cut up to each place, among the last `near` ids; OPEN if there is none among these."""
    at = places[:, None] - np.arange(near + 1)
    is_cut = _between(cuts, ids, at)
    is_cut[at == 0] = True
    # Whether there is a cut next to the match depends on what comes in its place.
    is_cut[:, 0] = stays | cuts.parts[ids[places - 1]] if len(ids) else False
    is_cut[places == 0, 0] = begins
    return _first(is_cut, at)


def _near_right(
    cuts: Cuts, ids: Int32Array, places: Int64Array, stays: BoolArray, final: bool, near: int
) -> Int64Array:
    """Return the first cut from each place on, among the next `near` ids; OPEN if there is none among these."""
    at = places[:, None] + np.arange(near + 1)
    is_cut = _between(cuts, ids, at)
    is_cut[at == len(ids)] = final
    inside = places < len(ids)
    is_cut[inside, 0] = stays[inside] | cuts.parts[ids[places[inside]]]
    return _first(is_cut, at)


def _between(cuts: Cuts, ids: Int32Array, at: Int64Array) -> BoolArray:
    """Return for each place whether there is a cut between two ids."""
    if len(ids) < 2:
        return np.zeros(at.shape, dtype=np.bool_)
    inside = np.clip(at, 1, len(ids) - 1)
    found: BoolArray = cuts.between(ids[inside - 1], ids[inside]) & (inside == at)
    return found


def _first(is_cut: BoolArray, at: Int64Array) -> Int64Array:
    """Return the first place of each row that is a cut; OPEN for rows without one."""
    rows, first = np.arange(len(at)), is_cut.argmax(axis=1)
    return np.where(is_cut[rows, first], at[rows, first], OPEN)
