"""The output so far: ids given out, with new ones in place of some."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, IntegerArray, running_sum
from tokdfa.jobs.replacing.result import Changes, Replacement
from tokdfa.jobs.replacing.rewriting import Edits
from tokdfa.kernels.replacing.regions import splice
from tokdfa.tokenizers.decoder import Decoder

_NO_IDS: Int32Array = np.empty(0, dtype=np.int32)
_NO_ROWS: Int64Array = np.empty((0, 4), dtype=np.int64)
# Ids get a buffer larger than they are by this part of their number, and a few more.
_SHARE, _MORE = 8, 1024
# numpy asks for large pages for arrays of this many bytes. Only pages that are wholly in the array become large.
_LARGE, _PAGE = 1 << 22, 1 << 21


class OwnIds(NamedTuple):
    """Ids that may be overwritten, and the number of positions directly before them that may be, too."""

    ids: Int32Array
    n_free: int

    @classmethod
    def room_for(cls, n: int) -> OwnIds:
        """Return a buffer for n ids, not yet filled, and to grow into."""
        n_free, size = n // _SHARE + _MORE, np.dtype(np.int32).itemsize
        # Memory that is not touched costs nothing.
        more = 2 * _PAGE // size if n * size >= _LARGE else 0
        buffer: Int32Array = np.empty(n_free + n + more, dtype=np.int32)
        if more:
            n_free += (-(buffer.ctypes.data + n_free * size) % _PAGE) // size
        return cls(buffer[n_free : n_free + n], n_free)

    @classmethod
    def checked(cls, decoder: Decoder, ids: IntegerArray) -> OwnIds:
        """Return a copy of the ids of a stream, which are checked, in a buffer to grow into."""
        own = cls.room_for(len(ids))
        decoder.check(ids, out=own.ids)
        return own


class Output:
    """The ids given out so far and not yet taken, with `limit` matches replaced at most."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        # The number of ids of the stream that have been given out, and of the ids in their place.
        self.n_in = self.n_out = 0
        self._parts: list[Int32Array] = []
        self._rows: list[Int64Array] = []
        self._removed: list[Int32Array] = []
        self._inserted: list[Int32Array] = []
        self._starts: list[int] | None = None
        self._count = 0

    def give(self, ids: Int32Array, edits: Edits | None = None, n_matches: int = 0, *, n_free: int = 0) -> None:
        """Give out ids, with new ones in place of some, the ids of `n_matches` matches.

        If there are edits and `n_free` is not zero, the ids and as many positions before them may be overwritten.
        """
        self._count += n_matches
        new_ids = ids
        if edits is not None and len(edits.kind):
            new_ids = self._spliced(ids, edits, n_free)
        if len(new_ids):
            self._parts.append(new_ids)
        self.n_in += len(ids)
        self.n_out += len(new_ids)

    def _spliced(self, ids: Int32Array, edits: Edits, n_free: int) -> Int32Array:
        """Return ids with new ones in place of some, and note the changes."""
        bounds, kind, new = edits
        same, rest = np.array([one[1:] for one in new], dtype=np.int64).T
        of_kind = running_sum(np.array([len(one.ids) for one in new], dtype=np.int64))
        fresh = np.concatenate([one.ids for one in new])
        starts, stops = bounds.T
        begins, ends = of_kind[kind], of_kind[kind + 1]
        growth = running_sum(ends - begins - (stops - starts))
        # Neither the first nor the last ids of a change are equal.
        low, high = starts + same[kind], stops - rest[kind]
        new_low, new_high = begins + same[kind], ends - rest[kind]
        changed = np.flatnonzero((low < high) | (new_low < new_high))
        low, high, new_low, new_high = low[changed], high[changed], new_low[changed], new_high[changed]
        rows = np.column_stack((low, high, low + growth[changed], high + growth[changed + 1]))
        rows[:, :2] += self.n_in
        rows[:, 2:] += self.n_out
        self._rows.append(rows)
        self._removed.append(ids[_within(low, high)])
        self._inserted.append(fresh[_within(new_low, new_high)])
        ahead = int(growth.max())
        n = len(ids) + int(growth[-1])
        out: Int32Array
        if 0 < n_free >= ahead:
            buffer = ids.base
            assert isinstance(buffer, np.ndarray)
            out = buffer[n_free - ahead : n_free - ahead + n]
        else:
            out = np.empty(n, dtype=np.int32)
        splice(ids, bounds, kind, fresh, of_kind, out)
        return out

    def begin_document(self) -> None:
        """Note that a document begins."""
        self._starts = [] if self._starts is None else self._starts
        self._starts.append(self.n_out)

    def allowed(self, n: int) -> int:
        """Return how many of the next n matches are replaced, and count them."""
        if self.limit is None:
            return n
        n = min(n, self.limit)
        self.limit -= n
        return n

    def take(self, *, documents: bool) -> Replacement:
        """Return the ids that have not been taken yet."""
        parts, self._parts = self._parts, []
        ids = parts[0] if len(parts) == 1 else np.concatenate((_NO_IDS, *parts))
        rows = np.concatenate((_NO_ROWS, *self._rows))
        changes = Changes(rows, np.concatenate((_NO_IDS, *self._removed)), np.concatenate((_NO_IDS, *self._inserted)))
        starts = np.array(self._starts or (), dtype=np.int64) if documents else None
        found = Replacement(ids, self._count, changes, starts)
        self._rows, self._removed, self._inserted, self._starts, self._count = [], [], [], None, 0
        return found


def _within(starts: Int64Array, stops: Int64Array) -> Int64Array:
    """Return all positions from each start to its stop, one after the other."""
    offsets = running_sum(stops - starts)
    positions: Int64Array = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], stops - starts)
    return positions


def unchanged(ids: IntegerArray) -> Int32Array:
    """Return checked ids as an int32 array that cannot be written: if they are in one, a view of it."""
    new: Int32Array = np.ascontiguousarray(ids, dtype=np.int32)[:]
    new.setflags(write=False)
    return new
