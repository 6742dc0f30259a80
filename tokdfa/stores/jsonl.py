"""JSONL: one JSON value a line, with ids in one of its fields; also packed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

import numpy as np

from tokdfa.base.arrays import BoolArray, IntegerArray, id_array
from tokdfa.base.errors import TokenStreamError
from tokdfa.stores.npy import read_header
from tokdfa.stores.packed import damage, opened
from tokdfa.stores.store import (
    IDS,
    Chunk,
    Document,
    Store,
    ids_field,
    iter_document_chunks,
    mask_field,
    signed,
    value_of,
)

_SHOWN = 60


def iter_json_lines(path: Path, compression: str = "") -> Iterator[tuple[int, object | TokenStreamError]]:
    """Yield the values of the lines of a file that are not blank, each with the number of its line, from 1.

    A line that is not JSON yields an error; so does damage in a packed file, once, and ends the iteration.
    """
    number = 0
    with opened(path, compression) as stream:
        try:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield number, _value(line)
        except damage() as error:
            what = "the file is cut short or damaged"
            yield number + 1, TokenStreamError(what, value=str(error))


def _value(line: bytes) -> object | TokenStreamError:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        what = "the line is not JSON" if line.endswith(b"\n") else "the last line is not whole"
        shown = line[:_SHOWN].decode("utf-8", "backslashreplace")
        return TokenStreamError(what, value=shown, hint=str(error))
    return value


class JsonlStore(Store):
    """A file with one JSON object a line; the ids in a field, by default one with a usual name, are a document."""

    def __init__(self, path: Path, compression: str = "", field: str | None = None) -> None:
        first = next((value for _, value in iter_json_lines(path, compression)), None)
        if isinstance(first, TokenStreamError):
            raise TokenStreamError(first.what, value=first.value, where=f"{path}, line 1", hint=first.hint)
        if first is None:
            raise TokenStreamError("no ids: the file is empty", where=str(path))
        names = [*first] if isinstance(first, dict) else []
        self._field = None if isinstance(first, list) and field is None else ids_field(names, field, str(path))
        self._mask = mask_field(names)
        self._compression = compression
        name = "JSONL" + (f" ({compression})" if compression else "")
        super().__init__(path, name, has_documents=True, has_mask=self._mask is not None, unit="line")

    def iter_chunks(self, begin: int = 0, end: int | None = None, *, size: int | None = None) -> Iterator[Chunk]:
        """Yield the ids of all lines; see :meth:`Store.iter_chunks`."""
        return iter_document_chunks(self._documents(), size)

    def _documents(self) -> Iterator[Document]:
        for number, value in iter_json_lines(self.path, self._compression):
            where = f"{self.path}, line {number}"
            if isinstance(value, TokenStreamError):
                raise TokenStreamError(value.what, value=value.value, where=where, hint=value.hint)
            ids = ids_of(value if self._field is None else value_of(value, self._field, where), where)
            mask = None if self._mask is None else _mask(value_of(value, self._mask, where), len(ids), where)
            yield number, ids, mask


def ids_of(value: object, where: str) -> IntegerArray:
    """Return the ids of a list that was read as JSON."""
    if not isinstance(value, list):
        raise TokenStreamError("the ids must be a list of integers", value=value, where=where)
    try:
        ids = id_array(value)
    except TokenStreamError as error:
        place = f"{where}, {error.where}" if error.where else where
        raise TokenStreamError(error.what, value=error.value, where=place) from None
    return signed(ids, where)


def _mask(value: object, n: int, where: str) -> BoolArray:
    if not isinstance(value, list) or len(value) != n or not all(flag in (0, 1) for flag in value):
        raise TokenStreamError("the mask must have a 0 or 1 for each id", value=value, where=where)
    return np.array(value, dtype=np.bool_)


_BLOCK = 512
_REST = 1 << 16
_MOST = 1 << 32


def is_tar(head: bytes) -> bool:
    """Return whether a file with these first bytes is a tar."""
    return head[257:262] == b"ustar"


class TarStore(Store):
    """A tar with ids in its members.

    `field` is the end of the names of the members with ids, such as ``input_ids.npy``, or the field of the JSON objects
    in them. By default they are members that end in ``.npy``; without those, fields of the usual names in ``.json``.
    """

    def __init__(self, path: Path, compression: str = "", field: str | None = None) -> None:
        self._compression = compression
        self._field = field
        with path.open("rb"):
            pass
        self._suffix = self._chosen(path)
        name = "WebDataset" + (f" ({compression})" if compression else "")
        super().__init__(path, name, has_documents=True, unit="member")

    def _chosen(self, path: Path) -> str:
        """Return the end of the names of the members with ids, by the first sample."""
        import tarfile

        names: list[str] = []
        key = None
        try:
            with opened(path, self._compression) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
                for member in tar:
                    stem, _, extension = Path(member.name).name.partition(".")
                    if key not in (None, stem) or len(names) > 1000:
                        break
                    if member.isfile():
                        key = stem
                        names.append(f".{extension}")
        except damage(tarfile.TarError) as error:
            raise TokenStreamError("the tar is cut short or damaged", value=str(error), where=str(path)) from None
        wanted = [self._field.lstrip(".")] if self._field is not None else [*(f"{name}.npy" for name in IDS), "npy"]
        for suffix in (*wanted, "json"):
            if any(name.endswith(f".{suffix}") for name in names):
                return f".{suffix}"
        hint = f"give --field; its members end in {', '.join(dict.fromkeys(names))}"
        raise TokenStreamError("it is not clear which members have the ids", where=str(path), hint=hint)

    def iter_chunks(self, begin: int = 0, end: int | None = None, *, size: int | None = None) -> Iterator[Chunk]:
        """Yield the ids of all members that have some; see :meth:`Store.iter_chunks`."""
        return iter_document_chunks(self._documents(), size)

    def _documents(self) -> Iterator[Document]:
        before = None
        for number, name, data in self._members():
            where = f"{self.path}, member {number} ({name})"
            if before == (key := _key(name)):
                hint = "give --field with more of the end of their names, such as input_ids.npy"
                raise TokenStreamError("it is not clear which member of a sample has the ids", where=where, hint=hint)
            before = key
            ids = _array(data, where) if self._suffix.endswith(".npy") else self._of_json(data, where)
            yield number, signed(ids, where), None

    def _members(self) -> Iterator[tuple[int, str, bytes]]:
        import tarfile

        number = 0
        try:
            with opened(self.path, self._compression) as stream:
                watched = _Watched(stream)
                with tarfile.open(fileobj=watched, mode="r|") as tar:  # type: ignore[call-overload]
                    for member in tar:
                        if member.isfile() and member.name.endswith(self._suffix):
                            read = tar.extractfile(member)
                            data = b"" if read is None else read.read(min(member.size, _MOST))
                            if len(data) < member.size:
                                raise EOFError(f"{len(data)} bytes of {member.size}")
                            yield number, member.name, data
                        number += 1
                    end = watched.block_at(tar.offset)
                # A packed file is checked at its end.
                while watched.read(_REST):
                    pass
                # tarfile takes a block that is not a header, or nothing, for the end.
                if end != bytes(_BLOCK):
                    raise EOFError("there is no end of the archive")
        except damage(tarfile.TarError) as error:
            what = "the tar is cut short or damaged"
            raise TokenStreamError(what, value=str(error), where=f"{self.path}, member {number}") from None

    def _of_json(self, data: bytes, where: str) -> IntegerArray:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise TokenStreamError("the member is not JSON", value=str(error), where=where) from None
        if isinstance(value, dict):
            usual = [name for name in IDS if name in value] or [IDS[0]]
            value = value_of(value, usual[0] if self._field is None else self._field, where)
        return ids_of(value, where)


class _Watched:
    """A stream that remembers the last bytes read."""

    _KEPT = 1 << 15

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._tail = b""
        self._read = 0

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._tail = (self._tail + data)[-self._KEPT :]
        self._read += len(data)
        return data

    def block_at(self, offset: int) -> bytes:
        """Return the block at an offset that is not long past."""
        begin = len(self._tail) - (self._read - offset)
        return self._tail[begin : begin + _BLOCK] if begin >= 0 else b""


def _key(name: str) -> str:
    """Return the key of the sample of a member: its path up to the first dot in its name."""
    path = PurePosixPath(name)
    return str(path.with_name(path.name.partition(".")[0] or path.name))


def _array(data: bytes, where: str) -> IntegerArray:
    stream = BytesIO(data)
    dtype, count = read_header(stream, where)
    values = stream.read()
    if len(values) != count * dtype.itemsize:
        raise TokenStreamError("not a complete .npy file of integers", value=f"{len(data)} bytes", where=where)
    return np.frombuffer(values, dtype=dtype)
