"""Raw integers: .npy and .bin files, mapped into memory, and streams."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

from tokdfa.automata.ids import IntegerArray, id_array
from tokdfa.errors import TokenStreamError

__all__ = ["dtype_of", "iter_bin", "iter_npy", "iter_stream"]

Dtype: TypeAlias = "np.dtype[np.integer[Any]]"

CHUNK = 1 << 20
"""How many ids a chunk has at most."""


def dtype_of(name: str) -> Dtype:
    """Return the integer type of that name.

    Raises
    ------
    TokenStreamError
        If numpy knows no such type, or it is not one of integers.
    """
    try:
        dtype = np.dtype(name)
    except TypeError:
        dtype = None
    if dtype is None or dtype.kind not in "iu":
        raise TokenStreamError("not a type of integers", value=name, hint="uint16, uint32, int32 and int64 are usual")
    return dtype


def iter_npy(path: Path) -> Iterator[IntegerArray]:
    """Yield the ids of a .npy file with one array of integers in one dimension."""
    _size(path)
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, SyntaxError) as error:
        raise TokenStreamError(f"not a whole .npy file of integers: {error}", where=str(path)) from None
    if not isinstance(array, np.ndarray):
        raise TokenStreamError("an archive of arrays where one array is wanted", where=str(path))
    try:
        ids = id_array(array)
    except TokenStreamError as error:
        raise TokenStreamError(error.what, value=error.value, where=str(path), hint=error.hint) from None
    return _chunks(ids)


def iter_bin(path: Path, dtype: Dtype) -> Iterator[IntegerArray]:
    """Yield the ids of a file of nothing but integers of type `dtype`."""
    size = _size(path)
    if size % dtype.itemsize:
        raise TokenStreamError(
            f"the file ends in the middle of a {dtype.name}",
            value=f"{size} bytes",
            where=str(path),
            hint="another --dtype, or cut short",
        )
    return _chunks(np.memmap(path, dtype=dtype, mode="r"))


def iter_stream(stream: BinaryIO, dtype: Dtype, name: str) -> Iterator[IntegerArray]:
    """Yield the ids of a stream of nothing but integers of type `dtype`; `name` is for messages."""
    rest = b""
    count = 0
    while data := stream.read(CHUNK):
        data = rest + data
        whole = len(data) - len(data) % dtype.itemsize
        rest = data[whole:]
        if whole:
            count += whole // dtype.itemsize
            yield np.frombuffer(data[:whole], dtype=dtype)
    if rest:
        raise TokenStreamError(
            f"the stream ends in the middle of a {dtype.name}", where=f"{name}, token {count}", hint="another --dtype?"
        )
    if not count:
        raise TokenStreamError("no ids: it is empty", where=name)


def _size(path: Path) -> int:
    size = path.stat().st_size
    if size == 0:
        raise TokenStreamError("no ids: the file is empty", where=str(path))
    return size


def _chunks(ids: npt.NDArray[np.integer[Any]]) -> Iterator[IntegerArray]:
    return (np.asarray(ids[begin : begin + CHUNK]) for begin in range(0, len(ids), CHUNK))
