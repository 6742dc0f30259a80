"""Opening plain, .gz and .zst files as streams of bytes; a truncated packed file is always an error."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from tokdfa.errors import FileFormatError, TrainingError

__all__ = ["opened"]

_CHUNK = 1 << 18


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """Open a file for reading, unpacked if its name ends in .gz or .zst; ``-`` is standard input.

    Raises
    ------
    FileFormatError
        While reading, if the file is damaged or truncated.
    TrainingError
        If it is .zst and the package zstandard is not installed.
    OSError
        If it cannot be read.
    """
    if path == "-":
        yield sys.stdin.buffer
    elif path.endswith(".gz"):
        try:
            with gzip.open(path) as stream:
                yield cast(BinaryIO, stream)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise FileFormatError(f"damaged gzip: {error}", where=path) from None
    elif path.endswith(".zst"):
        try:
            import zstandard
        except ImportError:
            hint = "pip install 'tokdfa[zstd]'"
            raise TrainingError("reading .zst needs the package zstandard", where=path, hint=hint) from None
        try:
            with open(path, "rb") as packed:
                yield cast(BinaryIO, io.BufferedReader(_Zstandard(packed, zstandard.ZstdDecompressor(), path), _CHUNK))
        except zstandard.ZstdError as error:
            raise FileFormatError(f"damaged zstd: {error}", where=path) from None
    else:
        with open(path, "rb") as stream:
            yield stream


class _Zstandard(io.RawIOBase):
    """Unpacks all frames of a file. The package's own reader accepts a truncated file as complete."""

    def __init__(self, packed: BinaryIO, decompressor: Any, path: str) -> None:
        self._packed = packed
        self._decompressor = decompressor
        self._frame = decompressor.decompressobj()
        self._is_begun = False
        self._path = path
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            if self._frame.eof:
                data = self._frame.unused_data or self._packed.read(_CHUNK)
                self._frame = self._decompressor.decompressobj()
                self._is_begun = False
            else:
                data = self._packed.read(_CHUNK)
            if not data:
                if self._is_begun:
                    raise FileFormatError("damaged zstd: the file is truncated", where=self._path)
                return 0
            self._is_begun = True
            self._ready = memoryview(self._frame.decompress(data))
        taken = min(len(buffer), len(self._ready))
        buffer[:taken] = self._ready[:taken]
        self._ready = self._ready[taken:]
        return taken
