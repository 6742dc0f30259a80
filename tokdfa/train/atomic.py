"""Writing files that are whole or not there, whenever the process or the machine stops."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

__all__ = ["write_atomically", "write_together"]


def write_atomically(path: str | Path, data: bytes) -> None:
    """Write a file beside its place, then move it there.

    What was there before stays until the new file is complete and on disk. A device or a pipe is written to as it is.

    Raises
    ------
    OSError
        If it cannot be written, for instance because the disk is full; nothing new is left behind then.
    """
    write_together({path: data})


def write_together(contents: Mapping[str | Path, bytes] | Mapping[Path, bytes]) -> None:
    """Write several files, each as :func:`write_atomically` does, and move them only when there is room for all.

    Raises
    ------
    OSError
        If one of them cannot be written; nothing new is left behind then.
    """
    parts: dict[Path, Path] = {}
    try:
        for given, data in contents.items():
            path = Path(os.path.realpath(given))
            if path.exists() and not path.is_file():
                _write(path, path, data)
                continue
            parts[path] = path.with_name(f".{path.name}.part")
            _write(parts[path], path, data, sync=True)
        for path, part in parts.items():
            _move(part, path)
    except OSError:
        for part in parts.values():
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
        raise
    # The moves themselves are on disk only when the folder is.
    for parent in dict.fromkeys(path.parent for path in parts):
        folder = os.open(parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _move(part: Path, path: Path) -> None:
    try:
        os.replace(part, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _write(place: Path, path: Path, data: bytes, *, sync: bool = False) -> None:
    """Write to a place; what goes wrong is told of the file that it is to become."""
    try:
        with place.open("wb") as stream:
            stream.write(data)
            stream.flush()
            if sync:
                os.fsync(stream.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
