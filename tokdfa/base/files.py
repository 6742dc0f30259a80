"""Named files: errors of reading and writing say which file failed, as errors of opening do."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Let errors of the system name this file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


class NamedFile(io.FileIO):
    """An unbuffered file. Errors name it, or `shown`, if it is to become that file.

    The system names a file only where it is opened, moved or removed, and says "Input/output error" of any other call.
    """

    def __init__(self, path: str | Path, mode: str = "rb", shown: str | Path | None = None) -> None:
        self._shown = path if shown is None else shown
        with naming(self._shown):
            super().__init__(path, mode)

    def read(self, size: int | None = -1, /) -> Any:
        with naming(self._shown):
            return super().read(-1 if size is None else size)

    def readall(self) -> Any:
        with naming(self._shown):
            return super().readall()

    def readinto(self, buffer: Any, /) -> Any:
        with naming(self._shown):
            return super().readinto(buffer)

    def write(self, data: Any, /) -> Any:
        with naming(self._shown):
            return super().write(data)

    def truncate(self, size: int | None = None, /) -> int:
        with naming(self._shown):
            return super().truncate(size)


def open_named(path: str | Path) -> io.BufferedReader:
    """Open a file for reading; errors name it."""
    return io.BufferedReader(NamedFile(path))


def read_named(path: str | Path) -> bytes:
    """Return the content of a file; errors name it."""
    with open_named(path) as stream:
        return stream.read()
