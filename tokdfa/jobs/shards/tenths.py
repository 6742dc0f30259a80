"""Where in their documents violations are, in tenths: 7 of a document of 10 ids is in the eighth tenth."""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import Int64Array

N_TENTHS = 10

_NONE: Int64Array = np.empty(0, dtype=np.int64)


class Tenths:
    """Counts violations by the tenth of their document that they are in.

    The length of a document is known once it ends, so the violations of documents that are open are kept: 8 bytes each.
    Each document is followed by `gap` ids that are in none.
    """

    def __init__(self, gap: int) -> None:
        self.counts: Int64Array = np.zeros(N_TENTHS, dtype=np.int64)
        self._gap = gap
        self.begin(_NONE)

    def begin(self, starts: Int64Array, length: int | None = None, base: int = 0) -> None:
        """Begin a stream with some documents; or with the id `base` of the only one, if that has a known `length`."""
        self._starts = starts
        self._length = length
        self._base = base
        self._waiting: list[Int64Array] = []

    def add(self, indices: Int64Array) -> None:
        """Count violations at some indices of the stream."""
        if self._length is not None:
            self._count(indices + self._base, np.full(len(indices), max(self._length, 1)))
        elif len(indices):
            self._waiting.append(indices)

    def settle(self, starts: Int64Array, until: int, *, is_last: bool = False) -> None:
        """Take the starts of further documents, and count the violations in documents that end at `until` or before.

        If it `is_last`, all documents end there.
        """
        self._starts = np.append(self._starts, starts)
        if self._length is not None or not len(self._starts):
            return
        waiting = np.concatenate((_NONE, *self._waiting))
        is_done = (waiting < until) | is_last
        done, self._waiting = waiting[is_done], [waiting[~is_done]]
        slot = np.maximum(np.searchsorted(self._starts, done, side="right") - 1, 0)
        begins, ends = self._starts[slot], np.append(self._starts, until)[slot + 1]
        self._count(done - begins, np.maximum(ends - begins - self._gap, 1))
        self._starts = self._starts[self._starts >= until]

    def _count(self, indices: Int64Array, lengths: Int64Array) -> None:
        # Ids before the first document are at its beginning.
        part = np.clip(N_TENTHS * indices // lengths, 0, N_TENTHS - 1)
        self.counts += np.bincount(part, minlength=N_TENTHS)
