"""What has been replaced so far: ids given out with others in the place of some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array, IntegerArray, running_sum
from tokdfa.replacing.result import Changes, Replacement
from tokdfa.replacing.rewriting import Rewritten
from tokdfa.tokenizers.decoder import Decoder

__all__ = ["Edit", "Output", "OwnIds", "spliced", "unchanged"]

_NO_IDS: Int32Array = np.empty(0, dtype=np.int32)
_ROW = 4
# Ids are given this part of their number as room to grow into, and a few more.
_SHARE, _MORE = 8, 1024
# numpy asks for large pages for arrays of this many bytes. Only those that are wholly in the array become large.
_LARGE, _PAGE = 1 << 22, 1 << 21


class Edit(NamedTuple):
    """The ids from `start` to `stop`, in whose place others come."""

    start: int
    stop: int
    new: Rewritten


class OwnIds(NamedTuple):
    """Ids that may be overwritten, and the number of places directly before them in their memory that may be, too."""

    ids: Int32Array
    n_free: int

    @classmethod
    def checked(cls, decoder: Decoder, ids: IntegerArray) -> OwnIds:
        """Return a copy of the ids of a stream, and room to grow into.

        Raises
        ------
        TokenStreamError
            If they are not ids of the tokenizer.
        """
        n_free, n = len(ids) // _SHARE + _MORE, len(ids)
        size = np.dtype(np.int32).itemsize
        # Memory that is not touched costs nothing.
        more = 2 * _PAGE // size if n * size >= _LARGE else 0
        room: Int32Array = np.empty(n_free + n + more, dtype=np.int32)
        if more:
            n_free += (-(room.ctypes.data + n_free * size) % _PAGE) // size
        return cls(decoder.check(ids, out=room[n_free : n_free + n]), n_free)


class Output:
    """What has been replaced so far and not been taken yet.

    Parameters
    ----------
    limit : int or None
        The number of matches that are replaced at most.

    Attributes
    ----------
    n_in, n_out : int
        The number of ids of the stream that have been given out, and of those in their place.
    """

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.n_in = self.n_out = 0
        self._parts: list[Int32Array] = []
        self._rows: list[int] = []
        self._removed: list[Int32Array] = []
        self._inserted: list[Int32Array] = []
        self._starts: list[int] | None = None
        self._count = 0

    def give(self, ids: Int32Array, edits: Sequence[Edit] = (), n_matches: int = 0, *, n_free: int = 0) -> None:
        """Give out ids, with others in the place of some.

        Parameters
        ----------
        ids : int32 array
            They may be overwritten if there are edits and `n_free` is not zero.
        edits : sequence of Edit
            In order.
        n_matches : int
            The number of matches that were replaced.
        n_free : int
            The number of places before the ids in their memory that may be overwritten, too.
        """
        if not len(ids) and not edits:
            return
        self._count += n_matches
        at, shift = self.n_in, self.n_out - self.n_in
        removed, inserted, rows = [], self._inserted, self._rows
        for start, stop, (new, same, rest) in edits:
            n_new = len(new)
            if same < max(stop - start, n_new):
                removed.append(ids[start + same : stop - rest])
                inserted.append(new[same : n_new - rest])
                rows += (at + start + same, at + stop - rest, at + shift + start + same)
                shift += n_new - stop + start
                rows.append(at + shift + stop - rest)
        if removed:
            # A copy, before the ids are overwritten.
            self._removed.append(np.concatenate(removed))
        new_ids = spliced(ids, edits, n_free)
        self._parts.append(new_ids)
        self.n_in += len(ids)
        self.n_out += len(new_ids)

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
        """Return what has not been taken yet."""
        parts, self._parts = self._parts, []
        ids = parts[0] if len(parts) == 1 else np.concatenate((_NO_IDS, *parts))
        rows = np.array(self._rows, dtype=np.int64).reshape(-1, _ROW)
        changes = Changes(rows, np.concatenate((_NO_IDS, *self._removed)), np.concatenate((_NO_IDS, *self._inserted)))
        starts = np.array(self._starts or (), dtype=np.int64) if documents else None
        found = Replacement(ids, self._count, changes, starts)
        self._rows, self._removed, self._inserted, self._starts, self._count = [], [], [], None, 0
        return found


def spliced(ids: Int32Array, edits: Sequence[Edit], n_free: int) -> Int32Array:
    """Return ids with others in the place of some.

    Parameters
    ----------
    ids : int32 array
    edits : sequence of Edit
        In order.
    n_free : int
        The number of places directly before the ids in their memory that may be overwritten, as the ids may be; 0 if
        nothing may be.

    Notes
    -----
    In their own memory, the ids between edits are moved once, in order. If the new ids begin as far before the old
    ones as they ever get ahead of them, none is overwritten that is still to be moved.
    """
    if not edits:
        return ids
    sizes = [len(edit.new.ids) for edit in edits]
    bounds = np.array([edit[:2] for edit in edits], dtype=np.int64)
    growth: Int64Array = running_sum(np.array(sizes, dtype=np.int64) - (bounds[:, 1] - bounds[:, 0]))
    ahead = max(int(growth.max()), 0)
    n = len(ids) + int(growth[-1])
    in_place = 0 < n_free >= ahead
    new: Int32Array
    if in_place:
        room = ids.base
        assert isinstance(room, np.ndarray)
        new = room[n_free - ahead : n_free - ahead + n]
    else:
        new = np.empty(n, dtype=np.int32)
    read = written = 0
    for (start, stop, rewritten), size in zip(edits, sizes, strict=True):
        end = written + start - read
        if not in_place or ahead or read != written:
            new[written:end] = ids[read:start]
        written = end + size
        new[end:written] = rewritten.ids
        read = stop
    new[written:] = ids[read:]
    return new


def unchanged(ids: IntegerArray) -> Int32Array:
    """Return checked ids as an int32 array that cannot be written: if they are in one, a view of it."""
    new: Int32Array = np.ascontiguousarray(ids, dtype=np.int32)[:]
    new.setflags(write=False)
    return new
