"""The results of replacing: the new ids, which of the old ones they take the place of, and the output so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, IntegerArray, offsets_of, ranges, running_sum
from tokdfa.base.suggestions import SuggestsNames
from tokdfa.jobs.replacing.rewriting import Edits
from tokdfa.kernels.replacing.regions import splice
from tokdfa.tokenizers.decoder import Decoder

__all__ = ["Change", "Changes", "Replacement"]


class Change(NamedTuple):
    """Some ids of a stream and the ids in their place; neither their first nor their last ids are equal.

    Attributes
    ----------
    start, stop : int
        The old ids are at `start` to `stop` of the old stream.
    new_start, new_stop : int
        The new ids are at `new_start` to `new_stop` of the new stream.
    ids, new_ids : tuple of int

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> tokdfa.replace(tokenizer, "man", "boy", tokenizer.encode("a single man")).changes[0]
    Change(start=2, stop=3, new_start=2, new_stop=3, ids=(462,), new_ids=(1703,))
    """

    start: int
    stop: int
    new_start: int
    new_stop: int
    ids: tuple[int, ...]
    new_ids: tuple[int, ...]


class Changes(SuggestsNames, Sequence[Change]):
    """Changes in an int64 array of shape (n, 4), one row per change; as a sequence it holds :class:`Change` objects.

    Attributes
    ----------
    rows : int64 array of shape (n, 4)
        For each change `start`, `stop`, `new_start` and `new_stop`.
    removed, inserted : int32 arrays
        The old ids of all changes, one change after the other, and the new ones.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> found = tokdfa.replace(tokenizer, "[ai]n", "", tokenizer.encode("a single man")).changes
    >>> len(found), found.rows.tolist()
    (2, [[1, 2, 1, 4], [2, 3, 4, 5]])
    >>> found.removed.tolist(), tokenizer.decode(found.inserted)
    ([2513, 462], ' sgle m')
    """

    def __init__(self, rows: Int64Array, removed: Int32Array, inserted: Int32Array) -> None:
        self.rows = rows
        self.removed = removed
        self.inserted = inserted
        self._of_removed = running_sum(rows[:, 1] - rows[:, 0])
        self._of_inserted = running_sum(rows[:, 3] - rows[:, 2])
        self._arrays: tuple[IntegerArray, ...] = (rows, removed, inserted)
        for array in self._arrays:
            array.setflags(write=False)

    @overload
    def __getitem__(self, index: int) -> Change: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Change]: ...
    def __getitem__(self, index: int | slice) -> Change | Sequence[Change]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        start, stop, new_start, new_stop = self.rows[index].tolist()
        number = range(len(self))[index]
        removed = self.removed[self._of_removed[number] : self._of_removed[number + 1]]
        inserted = self.inserted[self._of_inserted[number] : self._of_inserted[number + 1]]
        return Change(start, stop, new_start, new_stop, tuple(removed.tolist()), tuple(inserted.tolist()))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Change]:
        return (self[number] for number in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Changes):
            return NotImplemented
        pairs = zip(self._arrays, other._arrays, strict=True)
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} changes>"


@dataclass(frozen=True, eq=False)
class Replacement(SuggestsNames):
    """The ids after replacing.

    Attributes
    ----------
    ids : int32 array
        The new ids. If :meth:`Replacer.replace` changes none, they are not copied: the array cannot be written, and is
        a view of the given ids if these are an int32 array.
    count : int
        The number of matches that were replaced.
    changes : Changes
        The ids that became others. There may be fewer changes than matches: a match may be replaced by its own text,
        and the ids of several matches may be encoded again together.
    starts : int64 array or None
        Where documents were given by their first tokens: the first tokens of the documents that begin here, in the new
        stream.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> replaced = tokdfa.replace(tokenizer, "man", "house", tokenizer.encode("a single man"))
    >>> tokenizer.decode(replaced.ids), replaced.count
    ('a single house', 1)
    """

    ids: Int32Array
    count: int
    changes: Changes
    starts: Int64Array | None = None


# The output so far

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
    def buffer_for(cls, n: int) -> OwnIds:
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
        own = cls.buffer_for(len(ids))
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
        self._starts: list[int] = []
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
        of_kind = offsets_of([one.ids for one in new])
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
        self._removed.append(ids[ranges(low, high)[0]])
        self._inserted.append(fresh[ranges(new_low, new_high)[0]])
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
        ids = self._parts[0] if len(self._parts) == 1 else np.concatenate((_NO_IDS, *self._parts))
        removed, inserted = (np.concatenate((_NO_IDS, *each)) for each in (self._removed, self._inserted))
        changes = Changes(np.concatenate((_NO_ROWS, *self._rows)), removed, inserted)
        found = Replacement(ids, self._count, changes, np.array(self._starts, np.int64) if documents else None)
        self._parts, self._rows, self._removed, self._inserted, self._starts, self._count = [], [], [], [], [], 0
        return found


def unchanged(ids: IntegerArray) -> Int32Array:
    """Return checked ids as an int32 array that cannot be written: if they are in one, a view of it."""
    new: Int32Array = np.ascontiguousarray(ids, dtype=np.int32)[:]
    new.setflags(write=False)
    return new


def apart(joined: Replacement, starts: Int64Array) -> Replacement:
    """Return a replacement in documents, given the same with a control token before each, and the old starts.

    Documents of 3, 0 and 2 ids, at 0, 3 and 3, are joined as S a b c S S d e. No change has an S among its ids.
    """
    rows = joined.changes.rows
    at = starts + np.arange(len(starts))
    growth = running_sum(rows[:, 3] - rows[:, 2] - (rows[:, 1] - rows[:, 0]))
    new_at = at + growth[np.searchsorted(rows[:, 1], at, side="right")]
    own_rows = rows - np.searchsorted(at, rows[:, :1])
    changes = Changes(own_rows, joined.changes.removed, joined.changes.inserted)
    return Replacement(np.delete(joined.ids, new_at), joined.count, changes, new_at - np.arange(len(starts)))
