"""Arrays by where their memory comes from: straight from the system, in large pages or small ones, or used before."""

from __future__ import annotations

import ctypes
import mmap
import os
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

LARGE_PAGE = 1 << 21
"""The size in bytes of a large page of common processors."""

_MANY_LARGE_PAGES = 16 * LARGE_PAGE

_LINE = 64
"""The size in bytes of a cache line, which is aligned for every type."""

# The GNU C library takes what is larger than anything that was freed so far straight from the system, and gives it
# back, so that each page is brought and cleared anew. It keeps what is not larger than this, in bytes.
_MOST_KEPT = (1 << 25) - (1 << 12)
_freed = [0]


def zeros(n: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return zeros, which lie in large pages where the system has them and the array would fill half of one.

    A table of some megabytes has more small pages than a processor caches the addresses of, so a look-up at random
    waits for the address of its page as well as for the entry.
    """
    size = n * np.dtype(dtype).itemsize
    advice = getattr(mmap, "MADV_HUGEPAGE", None)
    if advice is None or 2 * size < LARGE_PAGE:
        return np.zeros(n, dtype=dtype)
    try:
        buffer = mmap.mmap(-1, size + LARGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        buffer.madvise(advice)
    except OSError:
        # Without memory for a page more, or with a system that takes no advice.
        return np.zeros(n, dtype=dtype)
    begin = -np.frombuffer(buffer, dtype=np.uint8).ctypes.data % LARGE_PAGE
    return np.frombuffer(buffer, dtype=dtype, count=n, offset=begin)


def zeros_together(*wanted: tuple[int, npt.DTypeLike]) -> list[npt.NDArray[Any]]:
    """Return several arrays of zeros of these lengths and types, which share their pages; see :func:`zeros`."""
    sizes = [n * np.dtype(dtype).itemsize for n, dtype in wanted]
    # Each begins with a cache line.
    ends = np.cumsum([-(-size // _LINE) * _LINE for size in sizes]).tolist()
    buffer = zeros(ends[-1], np.uint8)
    begins = [0, *ends[:-1]]
    return [buffer[a : a + size].view(dtype) for a, size, (_, dtype) in zip(begins, sizes, wanted, strict=True)]


def untouched(n: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return zeros that take memory only as far as they are used, page by page.

    The zeros of numpy may be memory that was used before, and all of it is then cleared.
    """
    size = n * np.dtype(dtype).itemsize
    if 2 * size < LARGE_PAGE or not hasattr(mmap, "MAP_ANONYMOUS"):
        return np.zeros(n, dtype=dtype)
    try:
        buffer = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:
        return np.zeros(n, dtype=dtype)
    return np.frombuffer(buffer, dtype=dtype, count=n)


def empty(n: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array of any content, from memory that was used before if possible.

    It is for results that are large and made again and again: where the pages of each come from the system, bringing
    them takes a tenth of the time of encoding.
    """
    size = n * np.dtype(dtype).itemsize
    if _freed[0] < size <= _MOST_KEPT:
        # One that is freed unused: from now on the library keeps what is not larger.
        _freed[0] = min(1 << size.bit_length(), _MOST_KEPT)
        np.empty(_freed[0], dtype=np.uint8)
    return np.empty(n, dtype=dtype)


def bring_in_large_pages(array: npt.NDArray[Any]) -> None:
    """Ask the system to bring the memory of a new array in large pages, where it has them; nothing else changes.

    It is for large results whose memory somebody else asks for. An array of less than sixteen large pages is most often
    memory that was used before, which is left alone.
    """
    if array.nbytes < _MANY_LARGE_PAGES or not hasattr(mmap, "MADV_HUGEPAGE"):
        return
    address = array.ctypes.data
    begin, end = -(-address // LARGE_PAGE) * LARGE_PAGE, (address + array.nbytes) // LARGE_PAGE * LARGE_PAGE
    # Whether it takes the advice makes no difference to what is in the array.
    _madvise()(begin, end - begin, mmap.MADV_HUGEPAGE)


def give_back() -> None:
    """Give freed memory back to the system, where the GNU C library keeps it, such as after large tables are made."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


@cache
def _madvise() -> Any:
    function = ctypes.CDLL(None).madvise
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return function
