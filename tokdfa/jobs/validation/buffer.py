"""The ids of a stream that have not been judged yet, and how many are judged at once, kept, and looked at again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokdfa.base.arrays import Int32Array


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of validation. They change its cost and the inputs that it refuses, never its findings.

    Parameters
    ----------
    chunk : int
        Number of ids that are taken from an array at once: few enough for them to stay in the second-level cache.
    window : int
        Number of ids that are decoded and judged at once where pairs of ids do not decide at once. Smaller windows take
        less memory, larger ones fewer steps; a window grows until it has a boundary where its text is always cut.
    close_window : int
        The same after a walk has found that something is wrong, which is mostly within a few ids.
    patience : int
        Number of ids walked over before the ids with which no violation can begin are dropped.
    head : int
        Number of ids of a chunk that are walked over together with the ids before it, which may be looked at again.
    history : int
        Number of judged ids that are kept if nothing cuts the text, because a violation found later may begin with
        them. If it begins even earlier, the stream is refused.
    max_ids : int
        Number of ids that are kept, of 4 bytes each, where the text has no boundary at which it is always cut. Longer
        streams are refused.
    walks : bool
        Whether streams are walked over where a table allows it, and not only judged window by window, which is slower
        and finds the same.
    at_once : int, optional
        Number of ids, or more, that are judged at once if they come at once, and not one by one, which is slower and
        finds the same; by default none are.
    """

    chunk: int = 1 << 18
    window: int = 1 << 15
    close_window: int = 1 << 8
    patience: int = 1 << 10
    head: int = 1 << 10
    history: int = 1 << 12
    max_ids: int = 1 << 26
    walks: bool = True
    at_once: int | None = None


DEFAULT = Tuning(at_once=1 << 10)


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
