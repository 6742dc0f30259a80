"""The ids around matches that are encoded again, where a table says between which ids there is a cut."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.kernels.library import Struct, lib, writable

__all__ = ["OPEN", "cut_tables", "kinds_of", "regions_around", "splice"]

OPEN = -1
"""In the place of the end of a region that is not known yet."""


def cut_tables(
    first: Int32Array, last: Int32Array, table: BoolArray, width: int, offsets: Int64Array, parts: BoolArray
) -> Struct:
    """Return where ids are cut, as the kernels take it.

    Parameters
    ----------
    first, last : int32 arrays, one entry an id
        The class of the first symbol of an id, and `width` times that of its last.
    table : bool array of ``width * width`` entries
        Whether there is a cut between two ids: the entry at the sum of `last` of one and `first` of the other.
    width : int
        The number of classes.
    offsets : int64 array
        The bytes of id i are those from ``offsets[i]`` to ``offsets[i + 1]``.
    parts : bool array, one entry an id
        Whether there are cuts beside the id, whatever comes there.
    """
    return Struct(
        "tokdfa_id_cuts", first=first, last=last, table=table, width=width, offsets=np.ascontiguousarray(offsets),
        parts=parts,
    )  # fmt: skip


def regions_around(
    cuts: Struct, ids: Int32Array, matches: Int64Array, beside: tuple[int, int] | None, *, begins: bool, final: bool
) -> Int64Array:
    """Return the regions around matches, in order; none overlaps the next.

    Parameters
    ----------
    cuts : Struct
        Of :func:`cut_tables`.
    ids : int32 array
        Checked.
    matches : int64 array of shape (n, 4)
        Those of :class:`tokdfa.replacing.rewriting.Found`, in order, within the ids.
    beside : tuple of int, or None
        The classes of the first and the last symbol of what comes in the place of each match; None if that differs, or
        has none.
    begins, final : bool
        Whether a text begins and ends with the ids.

    Returns
    -------
    int64 array of shape (n, 4)
        The first id of each region, the one after its last, its first match and the one after its last. The end of the
        last region may be `OPEN`.
    """
    regions: Int64Array = np.empty(matches.shape, dtype=np.int64)
    first_class, last_class = (-1, -1) if beside is None else beside
    job = _around(ids, matches, regions, first_class, last_class, begins=begins, final=final)
    n_regions = lib.tokdfa_regions(cuts.pointer, job.pointer)
    return regions[:n_regions]


def kinds_of(
    ids: Int32Array, matches: Int64Array, regions: Int64Array, *, begins: bool
) -> tuple[Int64Array, Int64Array]:
    """Number the kinds of regions: those of one kind have the same ids, and the same matches at the same places.

    Parameters
    ----------
    ids, matches
        As for :func:`regions_around`.
    regions : int64 array of shape (n, 4)
        None of them open.
    begins : bool
        Whether a region with the first id differs from all others.

    Returns
    -------
    kind : int64 array, one entry a region
        Kinds are numbered in the order in which they are met.
    example : int64 array, one entry a kind
        Its first region.
    """
    n = len(regions)
    kind: Int64Array = np.empty(n, dtype=np.int64)
    example: Int64Array = np.empty(n, dtype=np.int64)
    table: Int64Array = np.full(1 << (2 * n + 1).bit_length(), -1, dtype=np.int64)
    job = _around(ids, matches, np.ascontiguousarray(regions), -1, -1, begins=begins, final=False)
    pointers = [writable(array, np.int64) for array in (table, kind, example)]
    n_kinds = lib.tokdfa_kinds_of_regions(job.pointer, n, pointers[0], len(table), *pointers[1:])
    return kind, example[:n_kinds]


def _around(
    ids: Int32Array, matches: Int64Array, regions: Int64Array, first: int, last: int, *, begins: bool, final: bool
) -> Struct:
    return Struct(
        "tokdfa_around", ids=ids, matches=np.ascontiguousarray(matches), first_class=first, last_class=last,
        begins=begins, final=final, regions=regions,
    )  # fmt: skip


def splice(
    ids: Int32Array, bounds: Int64Array, kind: Int64Array, fresh: Int32Array, offsets: Int64Array, out: Int32Array
) -> None:
    """Write ids with other ids in the place of some.

    Parameters
    ----------
    ids : int32 array
    bounds : int64 array of shape (n, 2)
        Where stretches of the ids begin and end, in order, within the ids.
    kind : int64 array, one entry a stretch
        What comes in its place.
    fresh : int32 array
        The new ids of all kinds, one kind after the other.
    offsets : int64 array, one entry a kind and one more
        Those of kind k are from ``offsets[k]`` to ``offsets[k + 1]``.
    out : int32 array
        Where to write, with room for all. It may overlap the ids, if it begins at least as far before them as what is
        written ever gets ahead of what is read.
    """
    job = Struct("tokdfa_exchange", ids=ids, bounds=bounds, kind=kind, fresh=fresh, offsets=offsets)
    lib.tokdfa_splice(job.pointer, writable(out, np.int32))
