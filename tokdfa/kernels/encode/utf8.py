"""The UTF-8 of strings: where the interpreter keeps it, and that of many, one after the other."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tokdfa.arrays import Int64Array
from tokdfa.kernels.library import ffi, lib, readable, writable

__all__ = ["JoinedTexts", "joined_texts", "kept_utf8"]


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


class JoinedTexts(NamedTuple):
    """Texts, one after the other: that of text i is from ``offsets[i]`` to ``offsets[i + 1]`` of the UTF-8 of all.

    Attributes
    ----------
    text : str
        All of them.
    data : pointer
        The UTF-8, which lives as long as this.
    offsets : int64 array
        One entry more than there are texts.
    owner : object
        What keeps it.
    """

    text: str
    data: Any
    offsets: Int64Array
    owner: object


def joined_texts(texts: Sequence[str]) -> JoinedTexts:
    """Return texts one after the other.

    Raises
    ------
    TypeError
        If one is no string.
    UnicodeEncodeError
        If one has half of a surrogate pair.

    Examples
    --------
    >>> joined_texts(["n\u00e9e", "", "a"]).offsets.tolist()
    [0, 4, 4, 5]
    """
    text = "".join(texts)
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    kept = kept_utf8(text)
    copy = b"" if kept is not None else text.encode()
    data, size = (ffi.from_buffer("uint8_t[]", copy), len(copy)) if kept is None else kept
    offsets: Int64Array = np.zeros(len(texts) + 1, dtype=np.int64)
    lib.tokdfa_byte_offsets(data, size, readable(lengths, np.int64), len(lengths), writable(offsets, np.int64))
    return JoinedTexts(text, data, offsets, (text, copy))
