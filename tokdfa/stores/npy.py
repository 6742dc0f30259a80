"""Files of type .npy: writing them, and reading their headers strictly.

A header is a Python literal. numpy evaluates it, and lets every exception of that through.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
import numpy.typing as npt

from tokdfa.base.errors import TokenStreamError
from tokdfa.stores.store import CHUNK, Chunk, Dtype, Problem, Store, ids_field

_MAGIC = b"\x93NUMPY"
_ARCHIVES = (b"PK\x03\x04", b"PK\x05\x06")
# The length of a header takes two bytes in version 1 and four in later ones.
_LENGTHS = {1: 2, 2: 4, 3: 4}
_LONGEST = 10_000
"""The same limit as numpy's; the header of an array of integers has about a hundred bytes."""

_VALUE = r"""'[^'\\]*+'|"[^"\\]*+"|True|False|\([^()\\]*+\)|\[[^\\]*\]"""
_S = r"[ \t\n]*+"
_FIELD = rf"""{_S}(?:'([a-z_]++)'|"([a-z_]++)"){_S}:{_S}({_VALUE}){_S}"""
_HEADER = re.compile(rf"{_S}\{{(?:{_FIELD},){{2}}{_FIELD},?{_S}\}}{_S}")
_FIELDS = re.compile(_FIELD)
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

    begin = stream.read(len(_MAGIC) + 2)
    if begin.startswith(_ARCHIVES):
        raise TokenStreamError("an archive of arrays was given where one array is expected", where=name)
    if not begin.startswith(_MAGIC) or len(begin) < len(_MAGIC) + 2:
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
    fields = {single or double: value for single, double, value in _FIELDS.findall(header)}
    if not _HEADER.fullmatch(header) or fields.keys() != {"descr", "fortran_order", "shape"}:
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


ZIP = (b"PK\x03\x04", b"PK\x05\x06")


class NpzStore(Store):
    """An archive of arrays; the ids are in the one with a usual name, or in the only one."""

    def __init__(self, path: Path, field: str | None = None) -> None:
        with path.open("rb"):  # Its error names the file.
            pass
        import zipfile

        try:
            with zipfile.ZipFile(path) as archive:
                names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
                self._name = ids_field(names, field, str(path), names) + ".npy"
                if self._name not in archive.namelist():
                    raise TokenStreamError("the field is missing", value=field, where=str(path))
                size = archive.getinfo(self._name).file_size
                with archive.open(self._name) as stream:
                    dtype, count = read_header(stream, self._where(path))
                    begin = stream.tell()
        except TokenStreamError:
            raise
        except _damage() as error:
            raise TokenStreamError("the archive is damaged or cut short", value=str(error), where=str(path)) from None
        problems: tuple[Problem, ...] = ()
        if begin + count * dtype.itemsize != size:
            what = f"the array has {size} bytes instead of {begin + count * dtype.itemsize}"
            problems = (Problem(self._where(path), what),)
        super().__init__(path, ".npz", dtype=dtype, n_ids=count, problems=problems)

    def iter_chunks(self, begin: int = 0, end: int | None = None, *, size: int | None = None) -> Iterator[Chunk]:
        """Yield the ids of the array; see :meth:`Store.iter_chunks`."""
        assert self.dtype is not None
        import zipfile

        done = 0
        try:
            with zipfile.ZipFile(self.path) as archive, archive.open(self._name) as stream:
                read_header(stream, self._where(self.path))
                while data := stream.read((size or CHUNK) * self.dtype.itemsize):
                    if len(data) % self.dtype.itemsize:
                        raise EOFError("the array ends in the middle of an id")
                    yield Chunk(np.frombuffer(data, dtype=self.dtype))
                    done += len(data) // self.dtype.itemsize
        except TokenStreamError:
            raise
        except _damage() as error:
            what = "the archive is damaged or cut short"
            raise TokenStreamError(what, value=str(error), where=f"{self.path}, token {done}") from None

    def _where(self, path: Path) -> str:
        return f"{path}, array {self._name.removesuffix('.npy')}"


def _damage() -> tuple[type[Exception], ...]:
    """Return the errors of zipfile for damaged archives; offsets outside of the file are an OSError or a ValueError."""
    import zipfile

    return zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError
