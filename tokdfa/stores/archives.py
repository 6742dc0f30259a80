"""Compressed files and blocks, and archives of arrays: .npz files, and the tar files of WebDataset.

The packages that unpack them are imported only where they are used.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path, PurePosixPath
from typing import IO, Any

import numpy as np

from tokdfa.base.arrays import IntegerArray
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError
from tokdfa.base.files import open_named
from tokdfa.stores.raw import read_header
from tokdfa.stores.store import (
    CHUNK,
    IDS,
    Chunk,
    Document,
    DocumentStore,
    Problem,
    Store,
    ids_field,
    ids_of,
    refused,
    signed,
    value_of,
)  # fmt: skip

_MAGIC = {b"\x1f\x8b": "gz", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
_BLOCK = 1 << 20


def compression_of(head: bytes) -> str:
    """Return the compression of a file with these first bytes: ``gz``, ``zstd``, ``bz2`` or nothing."""
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "")


@contextmanager
def opened(path: Path, compression: str = "") -> Iterator[IO[bytes]]:
    """Open a file, unpacking it while it is read; `compression` is "", "gz", "zstd" or "bz2"."""
    with open_named(path) as stream, _STREAMS.get(compression, nullcontext)(stream) as read:
        yield read


@contextmanager
def packing(stream: IO[bytes], compression: str) -> Iterator[IO[bytes]]:
    """Pack all that is written, into a stream that stays open, with a compression that `opened` takes."""
    with _PACKED_STREAMS.get(compression, nullcontext)(stream) as packed:
        yield packed


def packed(data: bytes, compression: str, level: int | None, where: str) -> bytes:
    """Return a packed block, as `unpacked` takes it; `level` is the package's, and by default MosaicML's."""
    if compression not in _PACKERS:
        known = ", ".join(sorted(_PACKERS))
        hint = f"those that are written are {known}"
        raise UnsupportedFeatureError("a compression that is not written", value=compression, where=where, hint=hint)
    pack, default = _PACKERS[compression]
    return pack(data, default if level is None else level)


class _Zstd(io.RawIOBase):
    """A reader of frames of zstd; the package's own takes a file that is cut short for one that ends."""

    # One block of zstd is at most 128 KiB, unpacked, and takes at least 4 bytes.
    _AT_ONCE = 1 << 10

    def __init__(self, stream: IO[bytes]) -> None:
        self._decompressor = _zstandard().ZstdDecompressor()
        self._stream = stream
        self._frame: Any = None
        self._packed = self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            self._packed = self._packed or self._stream.read(self._AT_ONCE)
            if not self._packed:
                if self._frame is not None:
                    raise EOFError("the file ends within a frame")
                return 0
            frame = self._frame = self._frame or self._decompressor.decompressobj()
            self._ready = frame.decompress(self._packed)
            self._packed = frame.unused_data if frame.eof else b""
            self._frame = None if frame.eof else frame
        part = self._ready[: len(buffer)]
        self._ready = self._ready[len(part) :]
        buffer[: len(part)] = part
        return len(part)


def damage(*others: type[Exception]) -> tuple[type[Exception], ...]:
    """Return the errors that unpacking raises for damaged data, with others."""
    with suppress(ImportError):
        import zstandard

        others += (zstandard.ZstdError,)
    return (*others, EOFError, zlib.error, gzip.BadGzipFile)


def unpacked(data: bytes, compression: str, where: str, most: int) -> bytes:
    """Return the content of a packed block, of at most `most` bytes; `where` is for messages."""
    known = sorted({*_STREAMS, *_BLOCKS})
    if compression not in known:
        hint = f"known are {', '.join(known)}"
        raise UnsupportedFeatureError("not a known compression", value=compression, where=where, hint=hint)
    try:
        if compression in _BLOCKS:
            content = _BLOCKS[compression](data)
        else:
            with _STREAMS[compression](io.BytesIO(data)) as stream:
                content = stream.read(most + 1)
    except UnsupportedFeatureError:
        raise
    # Each package has errors of its own, some of them plain exceptions.
    except Exception as error:
        raise TokenStreamError("the file is cut short or damaged", value=str(error), where=where) from None
    if len(content) > most:
        raise TokenStreamError("the file unpacks to more than its index says", value=f"> {most} bytes", where=where)
    return content


_STREAMS: dict[str, Callable[[IO[bytes]], Any]] = {
    "bz2": bz2.BZ2File,
    "gz": lambda stream: gzip.GzipFile(fileobj=stream, mode="rb"),
    "zstd": lambda stream: io.BufferedReader(_Zstd(stream), _BLOCK),
}


_PACKED_STREAMS: dict[str, Callable[[IO[bytes]], Any]] = {
    "bz2": lambda stream: bz2.BZ2File(stream, "wb"),
    "gz": lambda stream: gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0),
    "zstd": lambda stream: _zstandard().ZstdCompressor().stream_writer(stream, closefd=False),
}

_PACKERS: dict[str, tuple[Callable[[bytes, int], bytes], int]] = {
    "bz2": (bz2.compress, 9),
    "gz": (lambda data, level: gzip.compress(data, level, mtime=0), 9),
    "zstd": (lambda data, level: _zstandard().ZstdCompressor(level=level).compress(data), 3),
}


def _brotli(data: bytes) -> bytes:
    try:
        import brotli
    except ImportError:
        raise _missing("brotli", "br", "brotli") from None
    decompressor = brotli.Decompressor()
    content: bytes = decompressor.process(data)
    if not decompressor.is_finished():
        raise EOFError("the data end within the packed block")
    return content


def _snappy(data: bytes) -> bytes:
    with suppress(ImportError):
        import cramjam

        return bytes(cramjam.snappy.decompress_raw(data))
    try:
        import snappy
    except ImportError:
        raise _missing("snappy", "snappy", "python-snappy") from None
    return bytes(snappy.decompress(data))


_BLOCKS: dict[str, Callable[[bytes], bytes]] = {"br": _brotli, "snappy": _snappy}


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise _missing("zstandard", ".zst", "'tokdfa[zstd]'") from None
    return zstandard


def _missing(package: str, what: str, install: str) -> UnsupportedFeatureError:
    hint = f"pip install {install}"
    return UnsupportedFeatureError(f"the package {package} is needed to read {what} files", hint=hint)


_ZIP_DAMAGED = "the archive is damaged or cut short"


class NpzStore(Store):
    """An archive of arrays; the ids are in the one with a usual name, or in the only one."""

    def __init__(self, path: Path, field: str | None = None) -> None:
        with path.open("rb"):  # Its error names the file.
            pass
        import zipfile

        with refused(_ZIP_DAMAGED, _zip_damage, lambda: path), zipfile.ZipFile(path) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
            self._name = ids_field(names, field, str(path), names) + ".npy"
            if self._name not in archive.namelist():
                raise TokenStreamError("the field is missing", value=field, where=str(path))
            size = archive.getinfo(self._name).file_size
            with archive.open(self._name) as stream:
                dtype, count = read_header(stream, self._where(path))
                begin = stream.tell()
        expected = begin + count * dtype.itemsize
        problem = Problem(self._where(path), f"the array has {size} bytes instead of {expected}")
        problems = () if size == expected else (problem,)
        super().__init__(path, ".npz", dtype=dtype, n_ids=count, problems=problems)

    def iter_chunks(self, begin: int = 0, end: int | None = None, *, size: int | None = None) -> Iterator[Chunk]:
        """Yield the ids of the array; see :meth:`Store.iter_chunks`."""
        assert self.dtype is not None
        import zipfile

        done = 0
        with (
            refused(_ZIP_DAMAGED, _zip_damage, lambda: f"{self.path}, token {done}"),
            zipfile.ZipFile(self.path) as archive,
            archive.open(self._name) as stream,
        ):
            read_header(stream, self._where(self.path))
            while data := stream.read((size or CHUNK) * self.dtype.itemsize):
                if len(data) % self.dtype.itemsize:
                    raise EOFError("the array ends in the middle of an id")
                yield Chunk(np.frombuffer(data, dtype=self.dtype))
                done += len(data) // self.dtype.itemsize

    def _where(self, path: Path) -> str:
        return f"{path}, array {self._name.removesuffix('.npy')}"


def _zip_damage() -> tuple[type[Exception], ...]:
    """Return the errors of zipfile for damaged archives; offsets outside of the file are an OSError or a ValueError."""
    import zipfile

    return zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError


_TAR_BLOCK = 512
_TAR_REST = 1 << 16
_TAR_DAMAGED = "the tar is cut short or damaged"
_MOST = 1 << 32


def is_tar(head: bytes) -> bool:
    """Return whether a file with these first bytes is a tar."""
    return head[257:262] == b"ustar"


class TarStore(DocumentStore):
    """A tar with ids in its members.

    `field` is the end of the names of the members with ids, such as ``input_ids.npy``, or the field of the JSON objects
    in them. By default they are members that end in ``.npy``; without those, fields of the usual names in ``.json``.
    """

    def __init__(self, path: Path, compression: str = "", field: str | None = None) -> None:
        self._compression = compression
        self._field = field
        self._suffix = self._chosen(path)
        name = "WebDataset" + (f" ({compression})" if compression else "")
        super().__init__(path, name, has_documents=True, unit="member")

    def _chosen(self, path: Path) -> str:
        """Return the end of the names of the members with ids, by the first sample."""
        import tarfile

        names: list[str] = []
        key = None
        with (
            refused(_TAR_DAMAGED, lambda: damage(tarfile.TarError), lambda: path),
            opened(path, self._compression) as stream,
            tarfile.open(fileobj=stream, mode="r|") as tar,
        ):
            for member in tar:
                stem, _, extension = Path(member.name).name.partition(".")
                if key not in (None, stem) or len(names) > 1000:
                    break
                if member.isfile():
                    key = stem
                    names.append(f".{extension}")
        wanted = [self._field.lstrip(".")] if self._field is not None else [*(f"{name}.npy" for name in IDS), "npy"]
        for suffix in (*wanted, "json"):
            if any(name.endswith(f".{suffix}") for name in names):
                return f".{suffix}"
        hint = f"give --field; its members end in {', '.join(dict.fromkeys(names))}"
        raise TokenStreamError("it is not clear which members have the ids", where=str(path), hint=hint)

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
        with (
            refused(_TAR_DAMAGED, lambda: damage(tarfile.TarError), lambda: f"{self.path}, member {number}"),
            opened(self.path, self._compression) as stream,
        ):
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
            while watched.read(_TAR_REST):
                pass
            # tarfile takes a block that is not a header, or nothing, for the end.
            if end != bytes(_TAR_BLOCK):
                raise EOFError("there is no end of the archive")

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
        return self._tail[begin : begin + _TAR_BLOCK] if begin >= 0 else b""


def _key(name: str) -> str:
    """Return the key of the sample of a member: its path up to the first dot in its name."""
    path = PurePosixPath(name)
    return str(path.with_name(path.name.partition(".")[0] or path.name))


def _array(data: bytes, where: str) -> IntegerArray:
    stream = io.BytesIO(data)
    dtype, count = read_header(stream, where)
    values = stream.read()
    if len(values) != count * dtype.itemsize:
        raise TokenStreamError("not a complete .npy file of integers", value=f"{len(data)} bytes", where=where)
    return np.frombuffer(values, dtype=dtype)
