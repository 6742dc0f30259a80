"""The UTF-8 of strings: where the interpreter keeps it, for one string and for many."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from tokdfa.base.arrays import Int64Array, Uint8Array, Uint64Array, offsets_of, running_sum
from tokdfa.kernels.library import ffi, lib


def _declared() -> Any:
    """Return the function of CPython; None where there is none."""
    function = getattr(getattr(ctypes, "pythonapi", None), "PyUnicode_AsUTF8AndSize", None)
    if function is not None:
        function.argtypes = [ctypes.py_object, ctypes.POINTER(ctypes.c_ssize_t)]
        function.restype = ctypes.c_void_p
    return function


_as_utf8 = _declared()


def _found_by() -> Callable[[list[str], int, int, int], int] | None:
    """Return the kernel that asks CPython for the UTF-8 of many strings; None if it cannot ask."""
    if _as_utf8 is None or ctypes.sizeof(ctypes.c_ssize_t) != 8:
        return None
    number, address = ctypes.c_int64, ctypes.c_void_p
    # Called with the interpreter's lock, which cffi would release.
    kind = ctypes.PYFUNCTYPE(number, ctypes.py_object, number, address, address, address, address)
    kernel = kind(int(ffi.cast("intptr_t", ffi.addressof(lib, "tokdfa_find_utf8"))))
    item, utf8 = (ctypes.cast(function, address).value for function in (ctypes.pythonapi.PyList_GetItem, _as_utf8))
    return lambda texts, n, addresses, offsets: kernel(texts, n, item, utf8, addresses, offsets)


_find_utf8 = _found_by()


# The address of the last string that was not ASCII.
_last = [0]


def kept_utf8(text: str) -> tuple[Any, int] | None:
    """Return a pointer to the UTF-8 of a string and its length in bytes; None if the caller is to convert it.

    For ASCII it is the string itself. For other strings CPython makes it once, and keeps it as long as the string; so a
    text that is encoded again, or by another library, need not be converted again. Making and keeping it takes memory,
    and longer than converting it once, so this is done only when the same string is asked for again. UnicodeEncodeError
    is raised if it has half of a surrogate pair.

    Examples
    --------
    >>> found = kept_utf8("nee")
    >>> found is None or found[1]
    3
    """
    if _as_utf8 is None:
        return None
    if not text.isascii() and _last[0] != id(text):
        _last[0] = id(text)
        return None
    size = ctypes.c_ssize_t()
    address = _as_utf8(text, ctypes.byref(size))
    return ffi.cast("uint8_t *", address), size.value


class FoundTexts:
    """Texts with their UTF-8, found once, so that several threads can read parts of them at the same time.

    Nobody else may change the list of `texts`. `addresses` (uint64) has the address of the UTF-8 of each text, which
    stays there as long as this lives; `offsets` (int64) where each text begins in the UTF-8 of all, and where the last
    one ends. TypeError is raised if one is not a string, and UnicodeEncodeError if one has half of a surrogate pair.

    Examples
    --------
    >>> found = FoundTexts(["n\u00e9e", "", "a"])
    >>> found.offsets.tolist()
    [0, 4, 4, 5]
    """

    def __init__(self, texts: list[str]) -> None:
        n = len(texts)
        self.texts = texts
        self._kept: tuple[FoundTexts, Uint8Array] | None = None
        self.offsets: Int64Array = np.zeros(n + 1, dtype=np.int64)
        self.addresses: Uint64Array = np.empty(n, dtype=np.uint64)
        if _find_utf8 is None:
            self._encoded = [*map(str.encode, texts)]
            self.addresses[:] = [int(ffi.cast("uintptr_t", ffi.from_buffer(text))) for text in self._encoded]
            self.offsets = offsets_of(self._encoded)
            return
        # The interpreter raises the error of a string that has none.
        _find_utf8(texts, n, self.addresses.ctypes.data, self.offsets.ctypes.data)

    def replaced(self, which: Int64Array, data: Uint8Array, starts: Int64Array, stops: Int64Array) -> FoundTexts:
        """Return these texts with others instead of some: instead of ``which[i]``, ``data[starts[i]:stops[i]]``."""
        assert len(which) == len(starts) == len(stops)
        assert data.flags.c_contiguous
        assert (starts >= 0).all()
        assert (starts <= stops).all()
        assert stops.max(initial=0) <= len(data)
        twin = object.__new__(FoundTexts)
        twin.__dict__.update(self.__dict__)
        sizes = np.diff(self.offsets)
        sizes[which] = stops - starts
        twin.offsets = running_sum(sizes)
        twin.addresses = self.addresses.copy()
        twin.addresses[which] = np.uint64(data.ctypes.data) + starts.astype(np.uint64)
        twin._kept = (self, data)
        return twin
