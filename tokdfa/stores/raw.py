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
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO, FileIO
from pathlib import Path
from typing import IO, Any, BinaryIO, NoReturn

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import BoolArray, Int64Array, IntegerArray
from tokdfa.base.errors import TokenStreamError
from tokdfa.base.files import NamedFile, open_named
from tokdfa.stores.store import CHUNK, Chunk, Dtype, Location, Problem, Store

ZIP = (b"PK\x03\x04", b"PK\x05\x06")
"""The first bytes of an archive of arrays."""


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
    with open_named(path) as stream:
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
            where = f"{path}, {unit} {first + done // dtype.itemsize}"
            raise TokenStreamError("the file was cut short while it was read", where=where)
        done += read
    return integers


@dataclass(frozen=True, slots=True)
class Boundaries:
    """Where the documents of a store begin: their number, and the starts of documents `first` to ``first + n``, in ids.

    There may be fewer starts at the end.
    """

    count: int
    starts_from: Callable[[int, int], Int64Array]

    def document_at(self, index: int) -> int:
        """Return the last document that begins at `index` or before it; -1 if there is none."""
        return bisect_right(range(self.count), index, key=lambda number: int(self.starts_from(number, 1)[0])) - 1


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
        with NamedFile(self.path) as stream:
            stream.seek(begin)
            read = _read(stream, self.dtype, wanted, self.path, first, "entry")
        return read.astype(np.int64)

    def iter_parts(self, size: int = 1 << 16) -> Iterator[tuple[int, Int64Array]]:
        """Yield all integers in parts, each with the number of its first one."""
        for first in range(0, self.count, size):
            yield first, self.read(first, size)


class RawStore(Store):
    """A store with ids as integers one after the other in one file; a mask has one byte an id."""

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
        with NamedFile(file) as stream:
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
        document = self._boundaries.document_at(step)
        return 0 if document < 0 else int(self._boundaries.starts_from(document, 1)[0])

    def location(self, number: int, token: int, index: int) -> Location:
        """Return the byte at which an id is."""
        return Location(str(self._ids.path), "byte", self._ids.offset + index * self._ids.dtype.itemsize, index)

    def _read_mask(self, first: int, n: int) -> BoolArray:
        assert self._mask is not None
        with NamedFile(self._mask) as stream:
            stream.seek(first)
            mask: BoolArray = _read(stream, np.dtype(np.uint8), n, self._mask, first) != 0
        return mask


class _Cursor:
    """The starts of documents from a position on, in step with reading."""

    _AT_ONCE = 1 << 14

    def __init__(self, boundaries: Boundaries, begin: int) -> None:
        self._boundaries = boundaries
        # The first document that begins at `begin` or later.
        self._next = boundaries.document_at(begin - 1) + 1
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


def open_bin(path: Path, dtype: Dtype) -> RawStore:
    """Open a file that contains only integers of type `dtype`."""
    size = size_of(path)
    if size % dtype.itemsize:
        what = f"the file ends in the middle of a {dtype.name}"
        hint = "is it another --dtype, or is the file cut short?"
        raise TokenStreamError(what, value=f"{size} bytes", where=str(path), hint=hint)
    return RawStore(path, "raw integers", IntegerFile(path, dtype, 0, size // dtype.itemsize))


def open_npy(path: Path) -> RawStore:
    """Open a .npy file with one array of integers in one dimension."""
    size = size_of(path)
    with open_named(path) as stream:
        dtype, count = read_header(stream, str(path))
        begin = stream.tell()
    expected = begin + count * dtype.itemsize
    if size != expected:
        fault = "cut short" if size < expected else "there is data after its array"
        what = f"not a complete .npy file of integers: {fault}"
        raise TokenStreamError(what, value=f"{size} bytes instead of {expected}", where=str(path))
    return RawStore(path, ".npy", IntegerFile(path, dtype, begin, count))


# Headers of .npy files, which are Python literals. numpy evaluates them, and lets every exception of that through.

NPY = b"\x93NUMPY"
# The length of a header takes two bytes in version 1 and four in later ones.
_LENGTHS = {1: 2, 2: 4, 3: 4}
_LONGEST = 10_000
"""The same limit as numpy's; the header of an array of integers has about a hundred bytes."""

_VALUE = r"""'[^'\\]*+'|"[^"\\]*+"|True|False|\([^()\\]*+\)|\[[^\\]*\]"""
_S = r"[ \t\n]*+"
_FIELD = rf"""{_S}(?:'([a-z_]++)'|"([a-z_]++)"){_S}:{_S}({_VALUE}){_S}"""
_NPY_HEADER = re.compile(rf"{_S}\{{(?:{_FIELD},){{2}}{_FIELD},?{_S}\}}{_S}")
_NPY_FIELDS = re.compile(_FIELD)
_LENGTH = r"(?:0|[1-9][0-9]{0,18})L?"
_SHAPE = re.compile(rf"\({_S}(?:{_LENGTH}{_S},{_S})*+(?:{_LENGTH}{_S})?\)")
_INTEGERS = re.compile(r"[<>=|]?[iu][1248]")


def read_header(stream: IO[bytes], name: str) -> tuple[Dtype, int]:
    """Return the type and the number of the integers in a .npy file, and leave the stream where they begin.

    The format is described in ``numpy.lib.format``: magic bytes, version, length, and a dictionary with ``descr``,
    ``fortran_order`` and ``shape`` written as Python writes it. `name` is for messages.
    """

    def refuse(what: str) -> NoReturn:
        raise TokenStreamError(f"not a complete .npy file of integers: {what}", where=name)

    begin = stream.read(len(NPY) + 2)
    if begin.startswith(ZIP):
        raise TokenStreamError("an archive of arrays was given where one array is expected", where=name)
    if not begin.startswith(NPY) or len(begin) < len(NPY) + 2:
        refuse("it does not begin like a .npy file")
    major, minor = begin[-2:]
    if major not in _LENGTHS or minor:
        refuse(f"there is no format version {major}.{minor}")
    size = stream.read(_LENGTHS[major])
    length = int.from_bytes(size, "little")
    if len(size) < _LENGTHS[major] or length > _LONGEST:
        refuse("its header has no length" if len(size) < _LENGTHS[major] else f"its header has {length:,} bytes")
    data = stream.read(length)
    if len(data) < length:
        refuse("its header is cut short")
    header = data.decode("latin-1")
    fields = {single or double: value for single, double, value in _NPY_FIELDS.findall(header)}
    if not _NPY_HEADER.fullmatch(header) or fields.keys() != {"descr", "fortran_order", "shape"}:
        refuse(f"its header is {header.rstrip()[:120]!r}")
    if fields["fortran_order"] not in ("True", "False"):
        refuse(f"fortran_order is {fields['fortran_order']}")
    dtype = _dtype(fields["descr"], name)
    return dtype, _count(fields["shape"], name)


def _dtype(value: str, name: str) -> Dtype:
    if _INTEGERS.fullmatch(value[1:-1]):
        return np.dtype(value[1:-1])
    try:
        shown = np.dtype(value[1:-1]).name
    except (TypeError, ValueError, OverflowError, SyntaxError):
        shown = value
    raise TokenStreamError("ids must be integers", value=shown, where=name)


def _count(value: str, name: str) -> int:
    if not _SHAPE.fullmatch(value):
        what = "not a complete .npy file of integers: its shape is not a tuple"
        raise TokenStreamError(what, value=value, where=name)
    shape = tuple(map(int, re.findall(r"[0-9]+", value)))
    if len(shape) != 1 or "," not in value:
        raise TokenStreamError("ids must be in one dimension", value=shape, where=name, hint="flatten the array")
    return shape[0]


def npy_file(ids: npt.ArrayLike) -> tuple[bytes, memoryview]:
    """Return the header and the data of a .npy file of integers, to be written one after the other."""
    array = np.ascontiguousarray(ids)
    return npy_header(array.dtype, len(array)), array.view(np.uint8).data


def npy_header(dtype: Dtype, count: int) -> bytes:
    """Return the header of a .npy file of as many integers."""
    header = BytesIO()
    numpy_format: Any = np.lib.format
    fields = {"descr": numpy_format.dtype_to_descr(dtype), "fortran_order": False, "shape": (count,)}
    numpy_format.write_array_header_1_0(header, fields)
    return header.getvalue()


_HEADER, _LLMC = 1024, struct.Struct("<3i")
_DTYPES = {20240520: (1, "<u2"), 20240801: (7, "<u4")}
_EVALUATION = 20240522


def is_llmc(head: bytes) -> bool:
    """Return whether a file with these first bytes is a token file."""
    if len(head) < _LLMC.size:
        return False
    magic, version, _ = _LLMC.unpack_from(head)
    return magic in (*_DTYPES, _EVALUATION) and 0 <= version < 256


def llmc_head(path: Path, count: int) -> bytes:
    """Return the header of a token file, for as many ids."""
    with open_named(path) as stream:
        head = bytearray(stream.read(_HEADER))
    if count >= 1 << 31:
        raise TokenStreamError("too many ids for the header of a token file", value=count, where=str(path))
    _LLMC.pack_into(head, 0, *_LLMC.unpack_from(head)[:2], count)
    return bytes(head)


def open_llmc(path: Path) -> RawStore:
    """Open a token file."""
    with open_named(path) as stream:
        head, size = stream.read(_HEADER), stream.seek(0, 2)
    magic, version, count = _LLMC.unpack_from(head)
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
