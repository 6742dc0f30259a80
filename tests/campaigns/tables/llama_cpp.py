"""Extract the tables of llama.cpp from its library: ``python -m tests.campaigns.tables.llama_cpp VERSION LIBRARY``.

VERSION is the release of llama-cpp-python that LIBRARY, its ``libllama``, is from. The functions asked are in its
``unicode.cpp``, which the library exports by their C++ names.
"""

from __future__ import annotations

import ctypes
import json
import sys
from typing import Any

from tokdfa.regex.unicode.ranges import LAST, encode
from tokdfa.regex.unicode.versions import data_file

__all__ = ["main"]

_CATEGORIES = {0x01: "Cn", 0x02: "N", 0x04: "L", 0x08: "Z", 0x10: "M", 0x20: "P", 0x40: "S", 0x80: "C"}
_SPACE = 0x0100
_ASCII_WORD = [*range(48, 58), *range(65, 91), 95, *range(97, 123)]


class _Vector(ctypes.Structure):
    """A std::vector of numbers of 32 bits."""

    _fields_ = [("begin", ctypes.c_void_p), ("end", ctypes.c_void_p), ("limit", ctypes.c_void_p)]


def main(arguments: list[str]) -> None:
    """Write ``data/llama.cpp.json``."""
    version, path = arguments
    library = ctypes.CDLL(path)
    flags_of = library["_Z26unicode_cpt_flags_from_cptj"]
    flags_of.restype, flags_of.argtypes = ctypes.c_uint16, [ctypes.c_uint32]
    lower = library["_Z15unicode_tolowerj"]
    lower.restype, lower.argtypes = ctypes.c_uint32, [ctypes.c_uint32]
    is_han = library["_Z18unicode_cpt_is_hanj"]
    is_han.restype, is_han.argtypes = ctypes.c_bool, [ctypes.c_uint32]
    scalars = [code for code in range(LAST + 1) if not 0xD800 <= code <= 0xDFFF]
    flags = {code: flags_of(code) for code in scalars}
    assert all(value & 0xFF in _CATEGORIES for value in flags.values())
    classes = {name: encode(code for code in scalars if flags[code] & 0xFF == bit) for bit, name in _CATEGORIES.items()}
    classes |= {
        r"\s": encode(code for code in scalars if flags[code] & _SPACE),
        r"\d": encode(range(48, 58)),
        r"\w": encode(_ASCII_WORD),
        "han": encode(code for code in scalars if is_han(code)),
    }
    lowered = {code: lower(code) for code in scalars if lower(code) != code}
    data: dict[str, Any] = {
        "library": "llama.cpp",
        "version": version,
        "classes": classes,
        "case": [],
        "expansions": {},
        "lowercase": _runs(lowered, step=1),
        "decompositions": _runs(_first_of_decompositions(library, scalars), step=0),
    }
    target = data_file("llama.cpp")
    target.write_text(json.dumps(data, ensure_ascii=True, separators=(",", ":")) + "\n", "utf-8")


def _first_of_decompositions(library: ctypes.CDLL, scalars: list[int]) -> dict[int, int]:
    """Return what llama.cpp makes of characters in NFD: one character of each."""
    normalize = library["_Z26unicode_cpts_normalize_nfdRKSt6vectorIjSaIjEE"]
    normalize.restype, normalize.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_void_p]
    codes = (ctypes.c_uint32 * len(scalars))(*scalars)
    begin = ctypes.addressof(codes)
    end = begin + ctypes.sizeof(codes)
    given, made = _Vector(begin, end, end), _Vector()
    # A vector is returned through a hidden first argument. Its memory is left to the end of the process.
    normalize(ctypes.byref(made), ctypes.byref(given))
    found = (ctypes.c_uint32 * len(scalars)).from_address(made.begin or 0)
    return {code: new for code, new in zip(scalars, found, strict=True) if new != code}


def _runs(changed: dict[int, int], step: int) -> list[list[int]]:
    """Return a function as rows of first and last argument and first value; values rise by `step` in a row."""
    rows: list[list[int]] = []
    for code, new in changed.items():
        if rows and code == rows[-1][1] + 1 and new == rows[-1][2] + step * (code - rows[-1][0]):
            rows[-1][1] = code
        else:
            rows.append([code, code, new])
    return rows


if __name__ == "__main__":
    main(sys.argv[1:])
