"""Writing files that are whole or not there, whenever the process or the machine stops."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: str | Path, data: bytes) -> None:
    """Write a file beside its place, then move it there.

    What was there before stays until the new file is complete and on disk. A device or a pipe is written to as it is.

    Raises
    ------
    OSError
        If it cannot be written, for instance because the disk is full; nothing new is left behind then.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        _write(path, data)
        return
    part = path.with_name(f".{path.name}.part")
    try:
        _write(part, data, sync=True)
        os.replace(part, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None
    # The move itself is on disk only when the folder is.
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _write(path: Path, data: bytes, *, sync: bool = False) -> None:
    try:
        with path.open("wb") as stream:
            stream.write(data)
            stream.flush()
            if sync:
                os.fsync(stream.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
