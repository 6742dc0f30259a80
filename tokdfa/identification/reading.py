"""Reading ids otherwise: as integers of another type or byte order, and shifted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tokdfa.arrays import IntegerArray
from tokdfa.identification.sample import Stretch

__all__ = ["TYPES", "Reading", "other_types"]

TYPES = ("<u2", "<u4", "<u8", ">u2", ">u4", ">u8")
"""The integer types in which ids are written, in either byte order."""

_LARGE = 1 << 62


@dataclass(frozen=True, slots=True)
class Reading:
    """A way to read ids.

    Attributes
    ----------
    dtype : str or None
        The integer type in which the bytes are read; None for the type of the store.
    offset : int
        What is added to each id.
    """

    dtype: str | None = None
    offset: int = 0

    def __bool__(self) -> bool:
        """Return whether this differs from reading the ids as they are."""
        return self.dtype is not None or self.offset != 0

    def ids(self, ids: IntegerArray) -> IntegerArray:
        """Return ids in this reading; values that are too large for any tokenizer become negative."""
        if self.dtype is not None:
            data = np.ascontiguousarray(ids).tobytes()
            dtype: np.dtype[np.integer[Any]] = np.dtype(self.dtype)
            ids = np.frombuffer(data[: len(data) - len(data) % dtype.itemsize], dtype=dtype)
        if not self.offset:
            return ids
        return np.where(ids > _LARGE, -1, ids.astype(np.int64) + self.offset)

    def stretch(self, stretch: Stretch) -> Stretch:
        """Return a stretch in this reading."""
        ids = self.ids(stretch.ids)
        if self.dtype is None:
            return stretch._replace(ids=ids)
        ratio = np.dtype(self.dtype).itemsize / stretch.ids.dtype.itemsize
        begin, end = int(stretch.begin / ratio), min(int(stretch.end / ratio), len(ids))
        return stretch._replace(ids=ids, begin=min(begin, end), end=end, starts=None)


def other_types(dtype: np.dtype[Any]) -> Iterator[str]:
    """Yield the types as which integers of a type could have been meant."""
    for name in TYPES:
        if np.dtype(name) != dtype:
            yield name
