"""The ids of a stream that have not been judged yet."""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import Int32Array
from tokdfa.jobs.validation.tuning import DEFAULT


class Buffer:
    """A queue of ids that remembers where it begins in the stream: with the id of index `first`, at the offset `byte`.

    `size` is the number of ids in a window.
    """

    def __init__(self, first: int = 0, byte: int = 0, size: int = DEFAULT.window) -> None:
        self.first = first
        self.byte = byte
        self._chunks: list[Int32Array] = []
        self._length = 0
        self._size = self._wanted = size

    def append(self, ids: Int32Array) -> None:
        """Append ids."""
        if len(ids):
            self._chunks.append(ids)
            self._length += len(ids)

    def is_full(self) -> bool:
        """Return whether there are enough ids for a window, which grows while nothing is dropped."""
        return self._length >= self._wanted

    @property
    def window(self) -> Int32Array:
        """The first ids, to be judged at once."""
        return self._joined()[: self._wanted]

    def all(self) -> Int32Array:
        """Return all ids."""
        return self._joined()

    @property
    def is_last(self) -> bool:
        """Whether the window contains all ids."""
        return self._length <= self._wanted

    def drop(self, count: int, size: int, window: int | None = None) -> None:
        """Drop the first ids, which have `size` bytes; from now on a window has `window` ids, if that is given."""
        self._size = self._size if window is None else window
        self._wanted = self._size if count or window is not None else 2 * self._wanted
        self._chunks = [self._joined()[count:]]
        self._length -= count
        self.first += count
        self.byte += size

    def take_all(self) -> Int32Array:
        """Return all ids, and forget them."""
        ids = self._joined()
        self._chunks, self._length = [], 0
        return ids

    def _joined(self) -> Int32Array:
        if len(self._chunks) != 1:
            self._chunks = [np.concatenate((np.zeros(0, dtype=np.int32), *self._chunks))]
        return self._chunks[0]

    def __len__(self) -> int:
        return self._length
