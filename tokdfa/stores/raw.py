"""Stores of raw integers: files of a header, if any, and then nothing but ids; borders and masks are in other files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tokdfa.arrays import BoolArray, Int64Array, IntegerArray
from tokdfa.errors import TokenStreamError
from tokdfa.stores.binary import read_integers, size_of
from tokdfa.stores.npy import read_header
from tokdfa.stores.store import Chunk, Dtype, Place, Problem, Store
from tokdfa.stores.tuning import DEFAULT, Tuning

__all__ = ["Borders", "EndsFile", "IntegerFile", "RawStore", "open_bin", "open_npy"]


class Borders(Protocol):
    """Where the documents of a store begin."""

    count: int

    def starts_from(self, first: int, n: int) -> Int64Array:
        """Return the starts of documents `first` to ``first + n``, in ids."""
        ...


class IntegerFile:
    """Integers in a file, read a few at a time.

    Parameters
    ----------
    path : Path
    dtype : numpy.dtype
    offset : int
        The first byte.
    count : int
        The number of integers.
    """

    def __init__(self, path: Path, dtype: str, offset: int, count: int) -> None:
        self.path = path
        self.count = count
        self._dtype: Dtype = np.dtype(dtype)
        self._offset = offset

    def read(self, first: int, n: int) -> Int64Array:
        """Return integers `first` to ``first + n``, or fewer at the end."""
        wanted = max(min(n, self.count - first), 0)
        begin = self._offset + first * self._dtype.itemsize
        with self.path.open("rb", buffering=0) as stream:
            stream.seek(begin)
            read = read_integers(stream, self._dtype, wanted, self.path, first, "entry")
        return read.astype(np.int64)

    def iter_parts(self, size: int = 1 << 16) -> Iterator[tuple[int, Int64Array]]:
        """Yield all integers in parts, each with the number of its first one."""
        for first in range(0, self.count, size):
            yield first, self.read(first, size)


class EndsFile:
    """The borders of documents of which a file has the ends, in ids."""

    def __init__(self, ends: IntegerFile) -> None:
        self._ends = ends
        self.count = ends.count

    def starts_from(self, first: int, n: int) -> Int64Array:
        """Return the starts of documents `first` to ``first + n``."""
        n = min(n, self.count - first)
        if first > 0:
            return self._ends.read(first - 1, n)
        zero = np.zeros(min(n, 1), dtype=np.int64)
        return np.concatenate((zero, self._ends.read(0, n - 1)))


class RawStore(Store):
    """A store whose ids are integers one after the other in one file.

    Parameters
    ----------
    path : Path
        What was asked for.
    format : str
    data : Path
        The file of the ids.
    dtype : numpy.dtype
    offset : int
        The byte of `data` at which they begin.
    count : int
        Their number.
    borders : Borders, optional
        Where documents begin.
    mask : Path, optional
        A file of one byte an id: whether it counts in training.
    files : tuple of Path
        All files of the store; `data` is the first.
    problems : tuple of Problem
    tuning : Tuning, optional
    """

    def __init__(
        self,
        path: Path,
        format: str,
        data: Path,
        dtype: Dtype,
        offset: int,
        count: int,
        *,
        borders: Borders | None = None,
        mask: Path | None = None,
        files: tuple[Path, ...] = (),
        problems: tuple[Problem, ...] = (),
        tuning: Tuning = DEFAULT,
    ) -> None:
        super().__init__(
            path,
            format,
            files=files or (data,),
            dtype=dtype,
            n_ids=count,
            n_documents=None if borders is None else borders.count,
            has_documents=borders is not None,
            has_mask=mask is not None,
            n_steps=count,
            unit="byte",
            problems=problems,
        )
        self._data = data
        self._dtype: Dtype = dtype
        self._offset = offset
        self._count = count
        self._borders = borders
        self._mask = mask
        self._tuning = tuning

    def iter_chunks(self, begin: int = 0, end: int | None = None) -> Iterator[Chunk]:
        """Yield ids `begin` to `end`; see :meth:`Store.iter_chunks`."""
        end = self._count if end is None else min(end, self._count)
        borders = None if self._borders is None else _Cursor(self._borders, begin)
        size = self._tuning.chunk
        with self._data.open("rb", buffering=0) as stream:
            stream.seek(self._offset + begin * self._dtype.itemsize)
            if begin >= end and borders is not None and self._count == 0:
                yield Chunk(np.empty(0, dtype=self._dtype), *borders.until(1, 0))
            for first in range(begin, end, size):
                stop = min(first + size, end)
                ids: IntegerArray = read_integers(stream, self._dtype, stop - first, self._data, first)
                mask = None if self._mask is None else self._read_mask(first, stop - first)
                if borders is None:
                    yield Chunk(ids, mask=mask)
                else:
                    # Empty documents at the very end belong to the last chunk.
                    yield Chunk(ids, *borders.until(stop + (stop == self._count), first), mask)

    def starts(self) -> Int64Array:
        """Return the ids with which documents begin; see :meth:`Store.starts`."""
        none = np.empty(0, dtype=np.int64)
        return none if self._borders is None else self._borders.starts_from(0, self._borders.count)

    def border(self, step: int) -> int:
        """Return the last start of a document up to an id."""
        if self._borders is None:
            return step
        document = document_at(self._borders, step)
        return 0 if document < 0 else int(self._borders.starts_from(document, 1)[0])

    def place(self, number: int, token: int, index: int) -> Place:
        """Return the byte at which an id is."""
        return Place(str(self._data), "byte", self._offset + index * self._dtype.itemsize, index)

    def _read_mask(self, first: int, n: int) -> BoolArray:
        assert self._mask is not None
        with self._mask.open("rb", buffering=0) as stream:
            stream.seek(first)
            flags: npt.NDArray[Any] = read_integers(stream, np.dtype(np.uint8), n, self._mask, first)
        mask: BoolArray = flags != 0
        return mask


class _Cursor:
    """The starts of documents from a place on, in step with reading."""

    _AT_ONCE = 1 << 14

    def __init__(self, borders: Borders, begin: int) -> None:
        self._borders = borders
        # The first document that begins at `begin` or later.
        self._next = document_at(borders, begin - 1) + 1
        self._read: Int64Array = np.empty(0, dtype=np.int64)

    def until(self, stop: int, first: int) -> tuple[Int64Array, Int64Array]:
        """Return the starts before `stop`, counted from `first`, and the numbers of these documents."""
        found = [np.empty(0, dtype=np.int64)]
        number = self._next
        while True:
            if not len(self._read):
                self._read = self._borders.starts_from(self._next, self._AT_ONCE)
            n = int(np.searchsorted(self._read, stop))
            found.append(self._read[:n])
            self._next += n
            whole = n == len(self._read) and n > 0
            self._read = self._read[n:]
            if not whole:
                break
        starts = np.concatenate(found) - first
        return starts, np.arange(number, number + len(starts), dtype=np.int64)


def document_at(borders: Borders, index: int) -> int:
    """Return the last document that begins at `index` or before it; -1 if there is none."""
    low, high = 0, borders.count
    while low < high:
        middle = (low + high) // 2
        if int(borders.starts_from(middle, 1)[0]) <= index:
            low = middle + 1
        else:
            high = middle
    return low - 1


def open_bin(path: Path, dtype: Dtype, *, tuning: Tuning = DEFAULT) -> RawStore:
    """Open a file that contains only integers of type `dtype`.

    Raises
    ------
    TokenStreamError
        If it is empty, or ends in the middle of an integer.
    """
    size = size_of(path)
    if size % dtype.itemsize:
        raise TokenStreamError(
            f"the file ends in the middle of a {dtype.name}",
            value=f"{size} bytes",
            where=str(path),
            hint="is it another --dtype, or is the file cut short?",
        )
    return RawStore(path, "raw integers", path, dtype, 0, size // dtype.itemsize, tuning=tuning)


def open_npy(path: Path, *, tuning: Tuning = DEFAULT) -> RawStore:
    """Open a .npy file with one array of integers in one dimension.

    Raises
    ------
    TokenStreamError
        If it is not such a file, or not a complete one.
    """
    size = size_of(path)
    with path.open("rb") as stream:
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
    return RawStore(path, ".npy", path, dtype, begin, count, tuning=tuning)
