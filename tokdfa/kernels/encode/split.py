"""Splitting UTF-8 by the machine of a split pattern."""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.kernels.encode.events import CONTINUES, EVENT_BITS
from tokdfa.kernels.library import Struct, ffi, lib, readable, writable

BLOCK_BITS = 7
"""Code points that agree except for this number of low bits share a page of the table of classes."""

CONTINUATION = 128
"""The byte of a class stream that stands for the second and further bytes of a symbol; after it come the classes of the
symbols that are not ASCII."""

LONGEST_PART = 4096
"""The maximum number of bytes of a text that are read together."""


class SplitRun:
    """A machine, ``tokdfa_splitting``, that reads a text part by part, with buffers for `capacity` bytes at once.

    With `characters`, ``tokdfa_characters``, the text is cut where nothing joins them, without a machine.

    It must not be used by two threads at the same time. `struct` is the ``tokdfa_split_run`` for C. `begun` gets the
    events, ascending: ``offset << EVENT_BITS | event``. `trail_at` has the offsets of the symbols that are not settled,
    `n_waiting` of them.
    """

    def __init__(self, splitting: Struct | None, capacity: int, characters: Struct | None = None) -> None:
        self.splitting = splitting
        self._allocate(capacity)
        self.struct = Struct(
            "tokdfa_split_run", splitting=splitting, characters=characters, trail=self._trail,
            trail_at=self.trail_at, begun=self.begun, state=0, n_waiting=0, n_begun=0, at=0,
        )  # fmt: skip

    def _allocate(self, capacity: int) -> None:
        self.capacity = capacity
        self._trail: Int32Array = np.empty(capacity, dtype=np.int32)
        self.trail_at: Int64Array = np.empty(capacity, dtype=np.int64)
        self.begun: Int64Array = np.empty(capacity + 1, dtype=np.int64)

    @property
    def at(self) -> int:
        """The offset, in the whole text, of the byte that is read next."""
        return int(self.struct.pointer.at)

    @property
    def n_begun(self) -> int:
        """The number of entries of `begun` that the last call has written."""
        return int(self.struct.pointer.n_begun)

    @property
    def n_waiting(self) -> int:
        """The number of symbols that are not settled."""
        return int(self.struct.pointer.n_waiting)

    def grow(self, capacity: int) -> None:
        """Enlarge the buffers to this number of bytes; the waiting symbols and ``begun[0]`` are kept."""
        trail, trail_at, begun, n = self._trail, self.trail_at, self.begun, self.n_waiting
        self._allocate(capacity)
        self._trail[:n], self.trail_at[:n], self.begun[0] = trail[:n], trail_at[:n], begun[0]
        for field, array in (("trail", self._trail), ("trail_at", self.trail_at), ("begun", self.begun)):
            self.struct.set(field, array)

    def release(self, capacity: int) -> None:
        """Give back the memory that a long text needed beyond this number of bytes; nothing waits any more."""
        if self.capacity > capacity:
            self.struct.pointer.n_waiting = 0
            self.grow(capacity)

    def read(self, data: bytes, base: int) -> bool:
        """Read more of the text, and return whether it is UTF-8 so far; `at` is where it is not.

        Its first byte is at the offset `base` of the whole text. Its last symbol may be cut short: then `at` is before
        it.
        """
        if self.n_waiting + len(data) > self.capacity:
            self.grow(max(self.n_waiting + len(data), 2 * self.capacity))
        return bool(lib.tokdfa_split_on(self.struct.pointer, data, len(data), base))

    def finish(self) -> None:
        """Settle the symbols that wait for the end of the text."""
        lib.tokdfa_walk_back(self.struct.pointer)


def split_texts(splitting: Struct, text: bytes, ends: Int64Array) -> Int64Array | None:
    """Return the events of texts, one after the other, that are split separately; None if one is not UTF-8.

    `ends` are their ends in all of `text`, ascending. An event is ``offset << EVENT_BITS | event``. Every text that is
    not empty begins with one; after the last event comes the end of the last text, in the same form.
    """
    if int(ends[-1:].sum()) != len(text) or (np.diff(ends, prepend=0) < 0).any():
        raise ValueError("the ends of texts must ascend up to the end of the last one")
    run = SplitRun(splitting, len(text))
    n_begun = lib.tokdfa_split_texts(run.struct.pointer, text, readable(ends, np.int64), len(ends))
    if n_begun < 0:
        return None
    run.begun[n_begun] = len(text) << EVENT_BITS
    return run.begun[: n_begun + 1]


def close(begun: Int64Array, before: int = CONTINUES) -> Int64Array:
    """Return the pieces that end at an event of `begun`: an int64 array of shape (pieces, 2), start and end.

    `before` is the event before them, in the same form; a piece that it begins ends at the first one.
    """
    spans: Int64Array = np.empty((len(begun), 2), dtype=np.int64)
    pointer = writable(spans, np.int64) if len(begun) else ffi.NULL
    n_spans = lib.tokdfa_close(readable(begun, np.int64), len(begun), before, pointer)
    return spans[:n_spans]
