"""The ids of a stream that have not been judged yet, and how many are judged at once, kept, and looked at again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokdfa.base.arrays import Int32Array


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of validation. They change its cost and the inputs that it refuses, never its findings.

    The `chunk` of ids that are taken from an array at once stays in the second-level cache. A `window` of ids is
    decoded and judged at once where pairs of ids do not decide: smaller ones take less memory, larger ones fewer steps;
    it grows until it has a boundary where its text is always cut. A `close_window` is one after a walk has found that
    something is wrong, mostly within a few ids. After `patience` ids, a walk drops those with which no violation can
    begin; it reads the `head` of a chunk together with the ids before it, which may be looked at again.

    If nothing cuts the text, `history` judged ids are kept, because a violation found later may begin with them; if it
    begins even earlier, the stream is refused, as it is if more than `max_ids` are kept, of 4 bytes each. `walks` and
    `at_once` are whether streams are walked over, rather than judged window by window, and the least number of ids that
    are judged at once, if they come at once, rather than one by one; none by default. Both find the same.
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
        return self.all()[: self._wanted]

    @property
    def is_last(self) -> bool:
        """Whether the window contains all ids."""
        return self._length <= self._wanted

    def drop(self, count: int, size: int, window: int | None = None) -> None:
        """Drop the first ids, which have `size` bytes; from now on a window has `window` ids, if that is given."""
        self._size = self._size if window is None else window
        self._wanted = self._size if count or window is not None else 2 * self._wanted
        self._chunks = [self.all()[count:]]
        self._length -= count
        self.first += count
        self.byte += size

    def take_all(self) -> Int32Array:
        """Return all ids, and forget them."""
        ids = self.all()
        self._chunks, self._length = [], 0
        return ids

    def all(self) -> Int32Array:
        """Return all ids."""
        if len(self._chunks) != 1:
            self._chunks = [np.concatenate((np.zeros(0, dtype=np.int32), *self._chunks))]
        return self._chunks[0]

    def __len__(self) -> int:
        return self._length
