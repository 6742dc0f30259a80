"""The ids around matches that are encoded again: those up to the nearest cuts that a replacement leaves in place."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.kernels.replacing.regions import OPEN, regions_around
from tokdfa.replacing.cuts import Cuts

__all__ = ["OPEN", "last_cut", "regions"]

_LONGEST_STEP = 1 << 16


def regions(
    cuts: Cuts, ids: Int32Array, matches: Int64Array, text: bytes | None, *, begins: bool, final: bool, near: int
) -> Int64Array:
    """Return the regions around matches, in order; none overlaps the next.

    Matches are rows of :class:`tokdfa.replacing.rewriting.Found`, in order. `text` comes in the place of each, if it is
    the same for all. `begins` and `final` tell whether a text begins and ends with the ids. Among `near` ids on each
    side of a match, a cut is looked for at first.

    A region has its first id, the one after its last, its first match and the one after its last: an int64 array of
    shape (n, 4). The end of the last region may be `OPEN`.

    Notes
    -----
    A cut depends on the symbols on both sides of it. So a region reaches at least one id beyond its matches on either
    side, unless it is known that these symbols, or those in their place, make a cut as well.
    """
    if not len(matches):
        return matches
    if cuts.tables is not None:
        return regions_around(cuts.tables, ids, matches, cuts.beside(text), begins=begins, final=final)
    starts, ends = matches[:, 0], matches[:, 1]
    lefts = _near_left(cuts, ids, starts, begins, near).tolist()
    rights = _near_right(cuts, ids, ends, final, near).tolist()
    found: list[tuple[int, int, int, int]] = []
    for number, (start, end, left, right) in enumerate(zip(starts.tolist(), ends.tolist(), lefts, rights, strict=True)):
        current = found[-1] if found else (0, 0, 0, 0)
        is_inside = number > 0 and (current[1] == OPEN or start < current[1])
        if left == OPEN:
            left = current[0] if is_inside else last_cut(cuts, ids, start - near)
        if right == OPEN:
            reaches = is_inside and (current[1] == OPEN or end < current[1])
            right = current[1] if reaches else _next_cut(cuts, ids, end + near, final)
        if number > 0 and (current[1] == OPEN or left < current[1]):
            stop = OPEN if OPEN in (current[1], right) else max(current[1], right)
            found[-1] = (min(current[0], left), stop, current[2], number + 1)
        else:
            found.append((left, right, number, number + 1))
    return np.array(found, dtype=np.int64)


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


def _near_left(cuts: Cuts, ids: Int32Array, places: Int64Array, begins: bool, near: int) -> Int64Array:
    """Return the last cut up to each place, among the last `near` ids; OPEN if there is none among these."""
    at = places[:, None] - np.arange(near + 1)
    is_cut = _between(cuts, ids, at)
    is_cut[at == 0] = True
    # Whether there is a cut next to the match depends on what comes in its place.
    is_cut[:, 0] = cuts.parts[ids[places - 1]] if len(ids) else False
    is_cut[places == 0, 0] = begins
    return _first(is_cut, at)


def _near_right(cuts: Cuts, ids: Int32Array, places: Int64Array, final: bool, near: int) -> Int64Array:
    """Return the first cut from each place on, among the next `near` ids; OPEN if there is none among these."""
    at = places[:, None] + np.arange(near + 1)
    is_cut = _between(cuts, ids, at)
    is_cut[at == len(ids)] = final
    inside = places < len(ids)
    is_cut[inside, 0] = cuts.parts[ids[places[inside]]]
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
