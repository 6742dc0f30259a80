"""Stores of integers written as text: separated by white space, or as a JSON array."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from tokdfa.arrays import IntegerArray
from tokdfa.stores.store import Chunk, Store
from tokdfa.stores.text import iter_json, iter_text
from tokdfa.stores.tuning import DEFAULT, Tuning

__all__ = ["WrittenStore"]


class WrittenStore(Store):
    """A file of integers as text.

    Parameters
    ----------
    path : Path
    is_json : bool
        Whether they are one JSON array, and otherwise separated by white space.
    tuning : Tuning, optional
    """

    def __init__(self, path: Path, is_json: bool, *, tuning: Tuning = DEFAULT) -> None:
        # A missing file is reported now; a file is kept open only while it is read.
        with path.open("rb"):
            pass
        super().__init__(path, "JSON" if is_json else "text")
        self._read: Callable[[BinaryIO, str], Iterator[IntegerArray]] = partial(
            iter_json if is_json else iter_text, tuning=tuning
        )

    def iter_chunks(self, begin: int = 0, end: int | None = None) -> Iterator[Chunk]:
        """Yield the integers; see :meth:`Store.iter_chunks`."""
        # Opened only when it is read.
        yield from map(Chunk, self._read(self.path.open("rb"), str(self.path)))
