"""Raw integers: an optional header, then nothing but ids; document boundaries and masks are in other files.

Files are read in chunks and not mapped into memory: if a mapped file is truncated meanwhile, the next access kills the
process.

Token files of llm.c and modded-nanogpt: a header of 256 integers, and then the ids. The header is 256 times i32: the
magic number, 20240520 for u16 (version 1) or 20240801 for u32 (version 7); the version; the number of ids. 20240522 is
a file of evaluations, which is not a stream. Each document begins with the id that ends texts, so the boundaries of
documents are not recorded apart.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import BinaryIO

import numpy as np

from tokdfa.base.arrays import BoolArray, Int64Array, IntegerArray
from tokdfa.base.errors import TokenStreamError
from tokdfa.stores.npy import read_header
from tokdfa.stores.store import CHUNK, Chunk, Dtype, Place, Problem, Store


def dtype_of(name: str) -> Dtype:
    """Return the integer type that numpy calls so."""
    dtype = None
    if re.fullmatch(r"[<>=|]?[A-Za-z]\w*", name, re.ASCII):
        with suppress(TypeError, ValueError, OverflowError):
            dtype = np.dtype(name)
    if dtype is None or dtype.kind not in "iu":
        raise TokenStreamError("not an integer type", value=name, hint="uint16, uint32, int32 and int64 are common")
    return dtype


def iter_stream(stream: BinaryIO, dtype: Dtype, name: str, *, size: int | None = None) -> Iterator[IntegerArray]:
    """Yield the ids of a stream that contains only integers of type `dtype`; `name` is for messages."""
    rest = b""
    count = 0
    while data := stream.read(size or CHUNK):
        data = rest + data
        whole = len(data) - len(data) % dtype.itemsize
        rest = data[whole:]
        if whole:
            count += whole // dtype.itemsize
            yield np.frombuffer(data[:whole], dtype=dtype)
    if rest:
        what = f"the stream ends in the middle of a {dtype.name}"
        raise TokenStreamError(what, where=f"{name}, token {count}", hint="is it another --dtype?")
    if not count:
        raise TokenStreamError("no ids: the input is empty", where=name)


def size_of(path: Path) -> int:
    """Return the number of bytes of a file that is not empty."""
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
    if size == 0:
        raise TokenStreamError("no ids: the file is empty", where=str(path))
    return size


def _read(stream: FileIO, dtype: Dtype, count: int, path: Path, first: int, unit: str = "token") -> IntegerArray:
    """Read integers from where an unbuffered file is open; the first of them is number `first` of its unit."""
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


@dataclass(frozen=True, slots=True)
class Boundaries:
    """Where the documents of a store begin: their number, and the starts of documents `first` to ``first + n``, in ids.

    There may be fewer starts at the end.
    """

    count: int
    starts_from: Callable[[int, int], Int64Array]


class IntegerFile:
    """The `count` integers in a file from byte `offset` on, read a few at a time."""

    def __init__(self, path: Path, dtype: Dtype | str, offset: int, count: int) -> None:
        self.path = path
        self.dtype: Dtype = np.dtype(dtype)
        self.offset = offset
        self.count = count

    def read(self, first: int, n: int) -> Int64Array:
        """Return integers `first` to ``first + n``, or fewer at the end."""
        wanted = max(min(n, self.count - first), 0)
        begin = self.offset + first * self.dtype.itemsize
        with self.path.open("rb", buffering=0) as stream:
            stream.seek(begin)
            read = _read(stream, self.dtype, wanted, self.path, first, "entry")
        return read.astype(np.int64)

    def iter_parts(self, size: int = 1 << 16) -> Iterator[tuple[int, Int64Array]]:
        """Yield all integers in parts, each with the number of its first one."""
        for first in range(0, self.count, size):
            yield first, self.read(first, size)


class RawStore(Store):
    """A store with ids as integers one after the other in one file.

    Parameters
    ----------
    path : Path
        The path that was asked for.
    format : str
    ids : IntegerFile
        The ids.
    boundaries : Boundaries, optional
    mask : Path, optional
        A file of one byte an id: whether it counts in training.
    files : tuple of Path
        All files of the store; the one of the ids is the first.
    problems : sequence of Problem
    """

    def __init__(
        self,
        path: Path,
        format: str,
        ids: IntegerFile,
        *,
        boundaries: Boundaries | None = None,
        mask: Path | None = None,
        files: tuple[Path, ...] = (),
        problems: Sequence[Problem] = (),
    ) -> None:
        super().__init__(
            path,
            format,
            files=files or (ids.path,),
            dtype=ids.dtype,
            n_ids=ids.count,
            n_documents=None if boundaries is None else boundaries.count,
            has_documents=boundaries is not None,
            has_mask=mask is not None,
            n_steps=ids.count,
            unit="byte",
            problems=problems,
        )
        self._ids = ids
        self._boundaries = boundaries
        self._mask = mask

    def iter_chunks(self, begin: int = 0, end: int | None = None, *, size: int | None = None) -> Iterator[Chunk]:
        """Yield ids `begin` to `end`; see :meth:`Store.iter_chunks`."""
        file, dtype, n_ids = self._ids.path, self._ids.dtype, self._ids.count
        end = n_ids if end is None else min(end, n_ids)
        boundaries = None if self._boundaries is None else _Cursor(self._boundaries, begin)
        size = size or CHUNK
        with file.open("rb", buffering=0) as stream:
            stream.seek(self._ids.offset + begin * dtype.itemsize)
            if begin >= end and boundaries is not None and n_ids == 0:
                yield Chunk(np.empty(0, dtype=dtype), *boundaries.until(1, 0))
            for first in range(begin, end, size):
                stop = min(first + size, end)
                ids = _read(stream, dtype, stop - first, file, first)
                mask = None if self._mask is None else self._read_mask(first, stop - first)
                if boundaries is None:
                    yield Chunk(ids, mask=mask)
                else:
                    # Empty documents at the very end belong to the last chunk.
                    yield Chunk(ids, *boundaries.until(stop + (stop == n_ids), first), mask)

    def starts(self) -> Int64Array:
        """Return the ids with which documents begin; see :meth:`Store.starts`."""
        none = np.empty(0, dtype=np.int64)
        return none if self._boundaries is None else self._boundaries.starts_from(0, self._boundaries.count)

    def boundary(self, step: int) -> int:
        """Return the last start of a document up to an id."""
        if self._boundaries is None:
            return step
        document = document_at(self._boundaries, step)
        return 0 if document < 0 else int(self._boundaries.starts_from(document, 1)[0])

    def place(self, number: int, token: int, index: int) -> Place:
        """Return the byte at which an id is."""
        return Place(str(self._ids.path), "byte", self._ids.offset + index * self._ids.dtype.itemsize, index)

    def _read_mask(self, first: int, n: int) -> BoolArray:
        assert self._mask is not None
        with self._mask.open("rb", buffering=0) as stream:
            stream.seek(first)
            mask: BoolArray = _read(stream, np.dtype(np.uint8), n, self._mask, first) != 0
        return mask


class _Cursor:
    """The starts of documents from a position on, in step with reading."""

    _AT_ONCE = 1 << 14

    def __init__(self, boundaries: Boundaries, begin: int) -> None:
        self._boundaries = boundaries
        # The first document that begins at `begin` or later.
        self._next = document_at(boundaries, begin - 1) + 1
        self._read: Int64Array = np.empty(0, dtype=np.int64)

    def until(self, stop: int, first: int) -> tuple[Int64Array, Int64Array]:
        """Return the starts before `stop`, counted from `first`, and the numbers of these documents."""
        found = [np.empty(0, dtype=np.int64)]
        number = self._next
        while True:
            if not len(self._read):
                self._read = self._boundaries.starts_from(self._next, self._AT_ONCE)
            n = int(np.searchsorted(self._read, stop))
            found.append(self._read[:n])
            self._next += n
            whole = n == len(self._read) and n > 0
            self._read = self._read[n:]
            if not whole:
                break
        starts = np.concatenate(found) - first
        return starts, np.arange(number, number + len(starts), dtype=np.int64)


def document_at(boundaries: Boundaries, index: int) -> int:
    """Return the last document that begins at `index` or before it; -1 if there is none."""
    low, high = 0, boundaries.count
    while low < high:
        middle = (low + high) // 2
        if int(boundaries.starts_from(middle, 1)[0]) <= index:
            low = middle + 1
        else:
            high = middle
    return low - 1


def open_bin(path: Path, dtype: Dtype) -> RawStore:
    """Open a file that contains only integers of type `dtype`."""
    size = size_of(path)
    if size % dtype.itemsize:
        raise TokenStreamError(
            f"the file ends in the middle of a {dtype.name}",
            value=f"{size} bytes",
            where=str(path),
            hint="is it another --dtype, or is the file cut short?",
        )
    return RawStore(path, "raw integers", IntegerFile(path, dtype, 0, size // dtype.itemsize))


def open_npy(path: Path) -> RawStore:
    """Open a .npy file with one array of integers in one dimension."""
    size = size_of(path)
    with path.open("rb") as stream:
        dtype, count = read_header(stream, str(path))
        begin = stream.tell()
    expected = begin + count * dtype.itemsize
    if size != expected:
        fault = "cut short" if size < expected else "there is data after its array"
        what = f"not a complete .npy file of integers: {fault}"
        raise TokenStreamError(what, value=f"{size} bytes instead of {expected}", where=str(path))
    return RawStore(path, ".npy", IntegerFile(path, dtype, begin, count))


_HEADER = 1024
_DTYPES = {20240520: (1, "<u2"), 20240801: (7, "<u4")}
_EVALUATION = 20240522


def is_llmc(head: bytes) -> bool:
    """Return whether a file with these first bytes is a token file."""
    return len(head) >= 12 and _fields(head)[0] in (*_DTYPES, _EVALUATION) and 0 <= _fields(head)[1] < 256


def open_llmc(path: Path) -> RawStore:
    """Open a token file."""
    with path.open("rb") as stream:
        head = stream.read(_HEADER)
        size = stream.seek(0, 2)
    magic, version, count = _fields(head)
    if magic == _EVALUATION:
        what = "a file of evaluations, and not a stream of ids"
        raise TokenStreamError(what, where=str(path), hint="give a file of tokens")
    expected_version, name = _DTYPES[magic]
    dtype: Dtype = np.dtype(name)
    problems = []
    if version != expected_version:
        problems.append(Problem(str(path), f"version {version} is not that of magic number {magic}"))
    # The count is 32 bits, and modded-nanogpt's writer refuses more than 2**31 ids.
    expected = _HEADER + count * dtype.itemsize
    if size != expected:
        what = f"the header says {count} ids, so {expected} bytes, and the file has {size}"
        problems.append(Problem(str(path), what))
    n_ids = max(min(count, (size - _HEADER) // dtype.itemsize), 0)
    return RawStore(path, "llm.c", IntegerFile(path, dtype, _HEADER, n_ids), problems=problems)


def _fields(head: bytes) -> tuple[int, int, int]:
    magic, version, count = struct.unpack("<3i", head[:12])
    return magic, version, count
