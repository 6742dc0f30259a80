"""The UTF-8 of a string, where the interpreter keeps it."""

from __future__ import annotations

import ctypes
from typing import Any

from tokdfa.kernels.library import ffi

__all__ = ["kept_utf8"]


def _declared() -> Any:
    """Return the function of CPython; None where there is none."""
    function = getattr(getattr(ctypes, "pythonapi", None), "PyUnicode_AsUTF8AndSize", None)
    if function is not None:
        function.argtypes = [ctypes.py_object, ctypes.POINTER(ctypes.c_ssize_t)]
        function.restype = ctypes.c_void_p
    return function


_as_utf8 = _declared()


def kept_utf8(text: str) -> tuple[Any, int] | None:
    """Return a pointer to the UTF-8 of a string and its length in bytes; None if the interpreter does not give it.

    Of ASCII it is the string itself. Of other strings CPython makes it once, and keeps it as long as the string; so a
    text that is encoded again, or by another library, need not be converted again.

    Raises
    ------
    UnicodeEncodeError
        If it has half of a surrogate pair.

    Examples
    --------
    >>> found = kept_utf8("n\u00e9e")
    >>> found is None or found[1]
    4
    """
    if _as_utf8 is None:
        return None
    size = ctypes.c_ssize_t()
    address = _as_utf8(text, ctypes.byref(size))
    return ffi.cast("uint8_t *", address), size.value
