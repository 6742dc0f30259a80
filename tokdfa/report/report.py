"""What the reports share: they are shown in notebooks and written to files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

from tokdfa.report.page import notebook_frame
from tokdfa.training.atomic import write_atomically

__all__ = ["Report"]


class Report(ABC):
    """A page about a verdict: one HTML file that loads nothing."""

    @abstractmethod
    def to_html(self, *, max_shown: int | None = None) -> str:
        """Return the page, the same text for the same findings.

        Parameters
        ----------
        max_shown : int, optional
            The largest number of violations to show; by default all that were kept.
        """

    def save(self, path: str | Path) -> None:
        """Write the page to a file; an existing file is replaced once the new one is complete.

        Raises
        ------
        OSError
            If it cannot be written; an existing file is then unchanged.
        """
        write_atomically(path, self.to_html().encode("utf-8"))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": notebook_frame(self.to_html(max_shown=50))}
