"""The parts of a long job that are done, in a file that grows, so that a job that was killed is continued."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

Row = Mapping[str, Any]


class Journal:
    """The lines of finished parts, after a first line that describes the job.

    A process that is killed loses at most the parts under way: a last line that is cut short is dropped. Lines of a job
    with another description are dropped, too.
    """

    def __init__(self, path: Path, head: Row) -> None:
        self.path = path
        self._lock = Lock()
        self.rows = self._read(head)
        self._stream = path.open("ab", buffering=0)
        if not self.rows and not path.stat().st_size:
            try:
                self.add(head)
            except OSError:
                self.release()
                path.unlink(missing_ok=True)
                raise

    def _read(self, head: Row) -> list[Row]:
        rows: list[Row] = []
        whole = 0
        with suppress(FileNotFoundError), self.path.open("rb") as stream:
            for number, line in enumerate(stream):
                row = _row(line)
                if row is None or (number == 0 and row != head):
                    break
                whole += len(line)
                rows.append(row)
            os.truncate(self.path, whole)
        return rows[1:]

    def add(self, row: Row) -> None:
        """Record that a part is done."""
        data = memoryview(json.dumps(row).encode() + b"\n")
        with self._lock:
            whole = os.fstat(self._stream.fileno()).st_size
            try:
                while data:
                    data = data[self._stream.write(data) :]
            except OSError as error:
                with suppress(OSError):
                    self._stream.truncate(whole)
                raise OSError(error.errno, error.strerror, str(self.path)) from None

    def release(self) -> None:
        """Close the file."""
        self._stream.close()


def head_of(path: Path) -> Row | None:
    """Return the description of the job of a journal; None if there is no journal, or it was cut short at once."""
    with suppress(FileNotFoundError), path.open("rb") as stream:
        return _row(stream.readline())
    return None


def _row(line: bytes) -> Row | None:
    with suppress(ValueError):
        row = json.loads(line)
        return row if line.endswith(b"\n") and isinstance(row, dict) else None
    return None


def facts_of(path: str | Path) -> list[int] | None:
    """Return facts about a file that change when it does; None if there is no regular file."""
    try:
        facts = Path(path).stat()
    except OSError:
        return None
    return [facts.st_size, facts.st_mtime_ns] if stat.S_ISREG(facts.st_mode) else None
