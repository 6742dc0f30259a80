"""Raw integers: .npy and .bin files, and streams.

Files are read in chunks and not mapped into memory: if a mapped file is truncated meanwhile, the next access kills the
process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from tokdfa.arrays import IntegerArray
from tokdfa.errors import TokenStreamError
from tokdfa.stores.npy import read_header
from tokdfa.stores.tuning import DEFAULT, Tuning

__all__ = ["dtype_of", "iter_bin", "iter_npy", "iter_stream"]

Dtype: TypeAlias = "np.dtype[np.integer[Any]]"


def dtype_of(name: str) -> Dtype:
    """Return the integer type of a name.

    Raises
    ------
    TokenStreamError
        If numpy knows no such type, or it is not an integer type.
    """
    dtype = None
    if re.fullmatch(r"[<>=|]?[A-Za-z]\w*", name, re.ASCII):
        with suppress(TypeError, ValueError, OverflowError):
            dtype = np.dtype(name)
    if dtype is None or dtype.kind not in "iu":
        raise TokenStreamError("not an integer type", value=name, hint="uint16, uint32, int32 and int64 are common")
    return dtype


def iter_npy(path: Path, *, tuning: Tuning = DEFAULT) -> Iterator[IntegerArray]:
    """Yield the ids of a .npy file with one array of integers in one dimension."""
    with path.open("rb") as stream:
        size = _size(stream, path)
        dtype, count = read_header(stream, str(path))
        begin = stream.tell()
    expected = begin + count * dtype.itemsize
    if size != expected:
        fault = "cut short" if size < expected else "there is data after its array"
        raise TokenStreamError(
            f"not a complete .npy file of integers: {fault}",
            value=f"{size} bytes instead of {expected}",
            where=str(path),
        )
    return _chunks(path, begin, dtype, count, tuning.chunk)


def iter_bin(path: Path, dtype: Dtype, *, tuning: Tuning = DEFAULT) -> Iterator[IntegerArray]:
    """Yield the ids of a file that contains only integers of type `dtype`."""
    with path.open("rb") as stream:
        size = _size(stream, path)
    if size % dtype.itemsize:
        raise TokenStreamError(
            f"the file ends in the middle of a {dtype.name}",
            value=f"{size} bytes",
            where=str(path),
            hint="is it another --dtype, or is the file cut short?",
        )
    return _chunks(path, 0, dtype, size // dtype.itemsize, tuning.chunk)


def iter_stream(stream: BinaryIO, dtype: Dtype, name: str, *, tuning: Tuning = DEFAULT) -> Iterator[IntegerArray]:
    """Yield the ids of a stream that contains only integers of type `dtype`; `name` is for messages."""
    rest = b""
    count = 0
    while data := stream.read(tuning.chunk):
        data = rest + data
        whole = len(data) - len(data) % dtype.itemsize
        rest = data[whole:]
        if whole:
            count += whole // dtype.itemsize
            yield np.frombuffer(data[:whole], dtype=dtype)
    if rest:
        raise TokenStreamError(
            f"the stream ends in the middle of a {dtype.name}",
            where=f"{name}, token {count}",
            hint="is it another --dtype?",
        )
    if not count:
        raise TokenStreamError("no ids: the input is empty", where=name)


def _size(stream: BinaryIO, path: Path) -> int:
    size = stream.seek(0, 2)
    stream.seek(0)
    if size == 0:
        raise TokenStreamError("no ids: the file is empty", where=str(path))
    return size


def _chunks(path: Path, begin: int, dtype: Dtype, count: int, size: int) -> Iterator[IntegerArray]:
    with path.open("rb") as stream:
        stream.seek(begin)
        for first in range(0, count, size):
            chunk = np.empty(min(size, count - first), dtype=dtype)
            read = stream.readinto(chunk.view(np.uint8).data)
            if read < chunk.nbytes:
                raise TokenStreamError(
                    "the file was cut short while it was read", where=f"{path}, token {first + read // dtype.itemsize}"
                )
            yield chunk
