"""Writing files atomically: a file is complete or absent, whenever the process or the machine stops."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import BinaryIO, TypeAlias

from tokdfa.base.files import NamedFile, naming

Data: TypeAlias = bytes | Iterable[bytes | memoryview] | Callable[[BinaryIO], object]
"""Bytes, parts of them in order, or a function that writes to a new file, and may go back in it."""


def check_writable(path: str | Path) -> None:
    """Check, before hours of work, that a file can be written at `path`; an OSError names the obstacle."""
    path = Path(path)
    is_device = _is_device(path)
    path = path if is_device else Path(os.path.realpath(path))
    if path.is_dir():
        code = errno.EISDIR
    elif not path.parent.exists():
        code = errno.ENOENT
    elif not path.parent.is_dir():
        code = errno.ENOTDIR
    elif not os.access(path if is_device else path.parent, os.W_OK):
        code = errno.EACCES
    else:
        return
    raise OSError(code, os.strerror(code), str(path))


def write_atomically(path: str | Path, data: Data) -> None:
    """Write a file under a temporary name in the same folder, then rename it.

    An existing file stays until the new one is complete and on disk; the new one has its permissions. A device or a
    pipe is written to directly. On an error no new file remains.
    """
    write_together({path: data})


def write_together(contents: Mapping[str | Path, Data] | Mapping[Path, bytes]) -> None:
    """Write several files as :func:`write_atomically` does, and move them only after all have been written, or none.

    They are written in the order given, so data may depend on the files before.
    """
    parts: dict[Path, Path] = {}
    try:
        for given, data in contents.items():
            path = Path(given)
            if _is_device(path):
                real = Path(os.path.realpath(path))
                _write(path, real if real.exists() else path, data)
                continue
            path = Path(os.path.realpath(given))
            parts[path] = path.with_name(f".{path.name}.part")
            _write(parts[path], path, data, sync=True)
        for path, part in parts.items():
            with naming(path):
                os.replace(part, path)
    except BaseException:
        for part in parts.values():
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
        raise
    # The moves themselves are on disk only after the folder is.
    for parent in dict.fromkeys(path.parent for path in parts):
        folder = os.open(parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _is_device(path: Path) -> bool:
    """Return whether `path` is written to directly, as a device or a pipe; the real path of a pipe need not exist."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _write(part: Path, path: Path, data: Data, *, sync: bool = False) -> None:
    """Write a temporary file; with `sync` it is on disk, and has the permissions of the one that it replaces.

    Errors of writing name the file that it is to become, and errors of reading the data are passed on.
    """
    with io.BufferedWriter(NamedFile(part, "wb", path)) as stream:
        if sync:
            # Before anything is in it, if the system allows.
            with contextlib.suppress(OSError, AttributeError):
                os.fchmod(stream.fileno(), stat.S_IMODE(path.stat().st_mode))
        if callable(data):
            data(stream)
        else:
            for each in [data] if isinstance(data, bytes) else data:
                stream.write(each)
        stream.flush()
        if sync:
            with naming(path):
                os.fsync(stream.fileno())
