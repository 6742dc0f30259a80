"""The results of replacing: the new ids, and which of the old ones they take the place of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, IntegerArray, running_sum
from tokdfa.base.suggestions import SuggestsNames

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
