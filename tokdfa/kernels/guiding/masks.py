"""Masks of the ids that can come next, with one bit an id."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int32Array, Uint32Array
from tokdfa.kernels.library import Struct, lib, readable, writable

__all__ = ["followers_of", "forbid"]


def followers_of(pointer: Int32Array, start: Int32Array, stop: Int32Array, id_at: Int32Array) -> Struct:
    """Return the rows of what may not follow.

    Parameters
    ----------
    pointer, start, stop : int32 arrays
        Row r forbids the positions ``start[i]`` to ``stop[i]`` for i from ``pointer[r]`` to ``pointer[r + 1]``, which
        ascend and do not overlap. Row 0 forbids nothing, row 1 all positions.
    id_at : int32 array
        The id at each position; -1 for none.
    """
    return Struct("tokdfa_followers", pointer=pointer, start=start, stop=stop, id_at=id_at)


def forbid(followers: Struct, row: int, fragile: Uint32Array, mask: Uint32Array) -> None:
    """Take the ids of `fragile` that a row forbids out of `mask`; both have one bit an id."""
    lib.tokdfa_forbid(followers.pointer, row, readable(fragile, np.uint32), writable(mask, np.uint32))
