"""Compressed files and blocks; the packages that unpack them are imported only where they are used."""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError

_MAGIC = {b"\x1f\x8b": "gz", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
_BLOCK = 1 << 20


def compression_of(head: bytes) -> str:
    """Return the compression of a file with these first bytes: ``gz``, ``zstd``, ``bz2`` or nothing."""
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "")


@contextmanager
def opened(path: Path, compression: str = "") -> Iterator[IO[bytes]]:
    """Open a file, unpacking it while it is read; `compression` is "", "gz", "zstd" or "bz2"."""
    with path.open("rb") as stream:
        if compression in _STREAMS:
            with _STREAMS[compression](stream) as read:
                yield read
        else:
            yield stream


class _Zstd(io.RawIOBase):
    """A reader of frames of zstd; the package's own takes a file that is cut short for one that ends."""

    # One block of zstd is at most 128 KiB, unpacked, and takes at least 4 bytes.
    _AT_ONCE = 1 << 10

    def __init__(self, stream: IO[bytes]) -> None:
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
            frame = self._frame = self._frame or _zstandard().ZstdDecompressor().decompressobj()
            self._ready = frame.decompress(self._packed)
            self._packed = frame.unused_data if frame.eof else b""
            self._frame = None if frame.eof else frame
        part = self._ready[: len(buffer)]
        self._ready = self._ready[len(part) :]
        buffer[: len(part)] = part
        return len(part)


def damage(*others: type[Exception]) -> tuple[type[Exception], ...]:
    """Return the errors that unpacking raises for damaged data, with others."""
    errors: list[type[Exception]] = [*others, EOFError, zlib.error, gzip.BadGzipFile]
    with suppress(ImportError):
        import zstandard

        errors.append(zstandard.ZstdError)
    return tuple(errors)


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


def _gz(stream: IO[bytes]) -> Any:
    return gzip.GzipFile(fileobj=stream, mode="rb")


def _zstd(stream: IO[bytes]) -> Any:
    _zstandard()
    return io.BufferedReader(_Zstd(stream), _BLOCK)


_STREAMS: dict[str, Callable[[IO[bytes]], Any]] = {"bz2": bz2.BZ2File, "gz": _gz, "zstd": _zstd}


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
    return UnsupportedFeatureError(
        f"the package {package} is needed to read {what} files", hint=f"pip install {install}"
    )
