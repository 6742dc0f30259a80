"""What the reports share: they are pages, shown in notebooks and written to files."""

from __future__ import annotations

import errno
import os
from abc import ABC, abstractmethod
from pathlib import Path

from tokdfa.report.page import notebook_frame
from tokdfa.train.atomic import write_atomically

__all__ = ["Report", "check_writable"]


class Report(ABC):
    """A page about a verdict: one HTML file that loads nothing."""

    @abstractmethod
    def to_html(self, *, max_shown: int | None = None) -> str:
        """Return the page, the same text for the same findings.

        Parameters
        ----------
        max_shown : int, optional
            Show no more violations than that; by default all that were kept.
        """

    def save(self, path: str | Path) -> None:
        """Write the page to a file; one that is there is replaced once the new one is complete.

        Raises
        ------
        OSError
            If it cannot be written; then nothing has changed.
        """
        write_atomically(path, self.to_html().encode("utf-8"))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": notebook_frame(self.to_html(max_shown=50))}


def check_writable(path: str | Path) -> None:
    """Make sure, before hours of work, that a file can be written there.

    Raises
    ------
    OSError
        If its folder is missing or locked, or the path is that of a folder.
    """
    path = Path(os.path.realpath(path))
    if path.is_dir():
        code = errno.EISDIR
    elif not path.parent.exists():
        code = errno.ENOENT
    elif not path.parent.is_dir():
        code = errno.ENOTDIR
    elif not os.access(path.parent if not path.exists() or path.is_file() else path, os.W_OK):
        code = errno.EACCES
    else:
        return
    raise OSError(code, os.strerror(code), str(path))
