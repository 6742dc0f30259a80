"""The ids around matches that are encoded again, where a table says between which ids there is a cut."""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.kernels.library import Struct, call, lib

OPEN = -1
"""The end of a region that is not known yet."""


def cut_tables(
    first: Int32Array, last: Int32Array, table: BoolArray, width: int, offsets: Int64Array, parts: BoolArray
) -> Struct:
    """Return the cuts between ids; the fields are explained at ``tokdfa_id_cuts``."""
    return Struct(
        "tokdfa_id_cuts", first=first, last=last, table=table, width=width, offsets=np.ascontiguousarray(offsets),
        parts=parts,
    )  # fmt: skip


def regions_around(
    cuts: Struct, ids: Int32Array, matches: Int64Array, beside: tuple[int, int] | None, *, begins: bool, final: bool
) -> Int64Array:
    """Return the regions around matches, in order; none overlaps the next.

    `matches`, of shape (n, 4), come from :class:`tokdfa.jobs.replacing.rewriting.Found`, in order, within the ids,
    which are checked. `beside` has the classes of the first and the last symbol of all replacements; None if they
    differ, or have none. An int64 array of shape (n, 4) has the first id of each region, the one after its last, its
    first match and the one after its last. The end of the last region may be `OPEN`.
    """
    regions: Int64Array = np.empty(matches.shape, dtype=np.int64)
    first_class, last_class = (-1, -1) if beside is None else beside
    job = _around(ids, matches, regions, first_class, last_class, begins=begins, final=final)
    n_regions = lib.tokdfa_regions(cuts.pointer, job.pointer)
    return regions[:n_regions]


def kinds_of(
    ids: Int32Array, matches: Int64Array, regions: Int64Array, *, begins: bool
) -> tuple[Int64Array, Int64Array]:
    """Return the kind of each region, none open, and the first region of each kind: with equal ids and matches.

    If it `begins` a text, a region with the first id differs from all others.
    """
    n = len(regions)
    kind: Int64Array = np.empty(n, dtype=np.int64)
    example: Int64Array = np.empty(n, dtype=np.int64)
    table: Int64Array = np.full(1 << (2 * n + 1).bit_length(), -1, dtype=np.int64)
    job = _around(ids, matches, np.ascontiguousarray(regions), -1, -1, begins=begins, final=False)
    n_kinds = call(lib.tokdfa_kinds_of_regions, job.pointer, n, out=(table, len(table), kind, example))
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
    """Write ids to `out`, large enough, with ``fresh[offsets[k]:offsets[k + 1]]`` for each span of `kind` k.

    The spans `bounds`, of shape (n, 2), are in order within the ids. `out` may overlap the ids, if it begins at least
    as far before them as writing ever gets ahead of reading.
    """
    job = Struct("tokdfa_exchange", ids=ids, bounds=bounds, kind=kind, fresh=fresh, offsets=offsets)
    call(lib.tokdfa_splice, job.pointer, out=(out,))
