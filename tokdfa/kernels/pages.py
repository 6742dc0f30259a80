"""Zeros straight from the system, in large pages for tables that are read and written here and there."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["LARGE_PAGE", "untouched", "zeros"]

LARGE_PAGE = 1 << 21
"""The size in bytes of a large page of common processors."""


def zeros(n: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return zeros, which lie in large pages where the system has them and the array would fill half of one.

    A table of some megabytes has more small pages than a processor remembers the places of, so that a look-up at random
    waits for the place of its page as well as for what is there.

    Examples
    --------
    >>> zeros(1 << 20, np.int32).nbytes, int(zeros(4, np.int32).sum())
    (4194304, 0)
    """
    size = n * np.dtype(dtype).itemsize
    advice = getattr(mmap, "MADV_HUGEPAGE", None)
    if advice is None or 2 * size < LARGE_PAGE:
        return np.zeros(n, dtype=dtype)
    try:
        room = mmap.mmap(-1, size + LARGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        room.madvise(advice)
    except OSError:
        # Without room for a page more, or with a system that takes no advice.
        return np.zeros(n, dtype=dtype)
    begin = -np.frombuffer(room, dtype=np.uint8).ctypes.data % LARGE_PAGE
    return np.frombuffer(room, dtype=dtype, count=n, offset=begin)


def untouched(n: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return zeros that take memory only as far as they are used, page by page.

    Those of numpy may be memory that was used before, all of which is then cleared.

    Examples
    --------
    >>> untouched(1 << 20, np.int32).nbytes, len(untouched(0, np.int32))
    (4194304, 0)
    """
    size = n * np.dtype(dtype).itemsize
    if 2 * size < LARGE_PAGE or not hasattr(mmap, "MAP_ANONYMOUS"):
        return np.zeros(n, dtype=dtype)
    try:
        room = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:
        return np.zeros(n, dtype=dtype)
    return np.frombuffer(room, dtype=dtype, count=n)
