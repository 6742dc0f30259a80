"""Ids in which stretches are exchanged."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.kernels.library import Struct, lib, writable

__all__ = ["splice"]


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
