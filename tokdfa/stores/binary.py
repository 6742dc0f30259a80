"""Raw integers in files and streams.

Files are read in chunks and not mapped into memory: if a mapped file is truncated meanwhile, the next access kills the
process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from tokdfa.arrays import IntegerArray
from tokdfa.errors import TokenStreamError
from tokdfa.stores.tuning import DEFAULT, Tuning

__all__ = ["dtype_of", "iter_stream", "read_integers", "size_of"]

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


def size_of(path: Path) -> int:
    """Return the number of bytes of a file.

    Raises
    ------
    TokenStreamError
        If it is empty.
    """
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
    if size == 0:
        raise TokenStreamError("no ids: the file is empty", where=str(path))
    return size


def read_integers(
    stream: FileIO, dtype: Dtype, count: int, path: Path, first: int, unit: str = "token"
) -> IntegerArray:
    """Read integers from where a file is open.

    Parameters
    ----------
    stream : FileIO
        Unbuffered, so that what is read is not copied again.
    dtype : numpy.dtype
    count : int
    path : Path
        For messages, as the next two.
    first : int
        The number of the first of them.
    unit : str
        What they are.

    Raises
    ------
    TokenStreamError
        If the file ends before them.
    """
    integers = np.empty(count, dtype=dtype)
    view = integers.view(np.uint8).data
    done = 0
    while done < integers.nbytes:
        read = stream.readinto(view[done:])
        if not read:
            place = f"{path}, {unit} {first + done // dtype.itemsize}"
            raise TokenStreamError("the file was cut short while it was read", where=place)
        done += read
    return integers
