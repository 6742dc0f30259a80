"""The types of raw integers: their names, and a guess where a file does not record one.

The bytes ``05 01 00 00  d0 4e 00 00`` are uint32, 261 and 20,176: no vocabulary has an id of twenty bits, so the upper
half of each is 0. In uint16 the upper byte of an id varies less than the lower one, as common tokens have small ids.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tokdfa.base.errors import TokenStreamError
from tokdfa.base.files import open_named
from tokdfa.stores.store import Dtype

TYPES = ("<u2", "<u4", "<u8", ">u2", ">u4", ">u8")
"""The types in which ids are written, in either byte order."""

_SAMPLE = 1 << 16
_FEWEST = 64
_LARGEST = 1 << 20
_MOST = 0.99


def dtype_of(name: str) -> Dtype:
    """Return the integer type that numpy calls so."""
    dtype = None
    if re.fullmatch(r"[<>=|]?[A-Za-z]\w*", name, re.ASCII):
        with suppress(TypeError, ValueError, OverflowError):
            dtype = np.dtype(name)
    if dtype is None or dtype.kind not in "iu":
        raise TokenStreamError("not an integer type", value=name, hint="uint16, uint32, int32 and int64 are common")
    return dtype


def name_of(dtype: np.dtype[Any]) -> str:
    """Return the name of an integer type: ``uint16``, or ``>u2`` in the other byte order."""
    return dtype.newbyteorder("=").name if dtype.isnative else f"{dtype.byteorder}{dtype.kind}{dtype.itemsize}"


def likely_type_of(path: Path) -> str | None:
    """Return the likely type of the ids in a file of raw integers, by its first bytes; None if there are too few."""
    with open_named(path) as stream:
        return likely_type(stream.read(_SAMPLE))


def likely_type(data: bytes) -> str | None:
    """Return the likely type of ids; None if there are too few."""
    for name in ("<u8", ">u8", "<u4", ">u4"):
        values = np.frombuffer(data[: len(data) // 8 * 8], dtype=name)
        # Padding tells nothing.
        values = values[values > 0]
        if len(values) >= _FEWEST and np.count_nonzero(values < _LARGEST) >= _MOST * len(values):
            return name
    columns = np.frombuffer(data[: len(data) // 2 * 2], dtype=np.uint8).reshape(-1, 2)
    columns = columns[columns.any(axis=1)]
    if len(columns) < _FEWEST:
        return None
    lower, upper = (int((np.bincount(column) ** 2).sum()) for column in columns.T)
    return "<u2" if lower <= upper else ">u2"
