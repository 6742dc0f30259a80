"""A block: some ids of a stream, with the texts that they are in, and the violations found in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, IntegerArray, Uint16Array, running_sum
from tokdfa.jobs.validation.violation import Violation, out_of_range
from tokdfa.jobs.validation.violations import Rows, Spans
from tokdfa.jobs.validation.window import Rest
from tokdfa.kernels.walk.differences import offsets_at
from tokdfa.tokenizers.round_trip import RoundTrip

_NEAR = 1 << 8
"""The number of ids among which a boundary usually is."""

CLOSE = 1 << 5
"""The number of ids of a window where ids are judged one by one."""

_NONE: Int64Array = np.zeros(0, dtype=np.int64)


class Feed(NamedTuple):
    """Ids that follow in a stream, and the ascending indices of the ids that end texts.

    Documents begin at `starts`; `separators` are the ids in no document. The `unknown` ids stand in for `numbers`,
    which are not ids of the tokenizer. They are in no text, and have no bytes.
    """

    ids: Int32Array
    starts: Int64Array = _NONE
    separators: Int64Array = _NONE
    unknown: Int64Array = _NONE
    numbers: IntegerArray = _NONE

    @property
    def is_plain(self) -> bool:
        """Whether all ids are in one text."""
        return not (len(self.starts) or len(self.separators) or len(self.unknown))

    def part(self, begin: int, end: int) -> Feed:
        """Return the ids from `begin` to before `end`."""
        if begin == 0 and end == len(self.ids):
            return self
        low, high = np.searchsorted(self.unknown, (begin, end))
        both = (self.starts, self.separators)
        starts, separators = (each[slice(*np.searchsorted(each, [begin, end]))] - begin for each in both)
        return Feed(self.ids[begin:end], starts, separators, self.unknown[low:high] - begin, self.numbers[low:high])

    def after(self, ids: Int32Array) -> Feed:
        """Return the same ids after others."""
        n = len(ids)
        if not n:
            return self
        indices = (self.starts + n, self.separators + n, self.unknown + n)
        return Feed(np.concatenate((ids, self.ids)), *indices, self.numbers)


class Block(NamedTuple):
    """Ids of a stream, from the index `first` and the offset `byte` on; its last ones if `is_last`.

    `texts`, of shape (texts, 2), are the first id of each text and the one after its last, ascending. The last one ends
    with the block, and continues after it unless the block `is_last`; the first one `begins` here, rather than
    continues after a boundary where it is always cut. `following` is its round trip, if something of the text before
    counts. The other ids, in no text, are `unknown` (see :class:`Feed`) or `separators`, each with `separator_size`
    bytes.
    """

    ids: Int32Array
    texts: Int64Array
    unknown: Int64Array
    numbers: IntegerArray
    separators: Int64Array
    separator_size: int
    first: int
    byte: int
    begins: bool
    following: RoundTrip | None
    is_last: bool

    @classmethod
    def of(cls, feed: Feed, size: int, rest: Rest, *, has_begun: bool, is_last: bool) -> Block:
        """Return a feed as a block.

        `has_begun` is whether the first document has ids before these. Documents that have no ids are left out, unless
        an id that is in no text ends them.
        """
        ids, starts, separators, unknown, numbers = feed
        outside = np.union1d(unknown, separators) if len(separators) else unknown
        begins = np.unique(np.concatenate((starts[starts < len(ids)], outside + 1)))
        is_after = np.isin(begins - 1, outside, assume_unique=True)
        if has_begun or not len(begins) or begins[0]:
            begins, is_after = np.append(0, begins), np.append(False, is_after)
        texts = np.column_stack((begins, np.append(begins[1:] - is_after[1:], len(ids))))
        return cls(ids, texts, unknown, numbers, separators, size, *rest, is_last)

    def offsets(self, length_of: Uint16Array, indices: Int64Array) -> Int64Array:
        """Return the offsets at which the ids of ascending indices begin, given the lengths of the tokenizer's ids."""
        offsets = self.byte + offsets_at(length_of, self.ids, indices)
        if len(self.unknown) or len(self.separators):
            outside = np.union1d(self.unknown, self.separators)
            sizes = np.where(np.isin(outside, self.unknown), 0, self.separator_size)
            offsets += running_sum(sizes - length_of[self.ids[outside]])[np.searchsorted(outside, indices)]
        return offsets

    def out_of_range(self, at: int, byte: int) -> Violation:
        """Return the violation for an unknown number, at the offset `byte`."""
        return out_of_range(int(self.numbers[np.searchsorted(self.unknown, at)]), self.first + at, byte)


class BlockResult(NamedTuple):
    """The violations in the first ids of a block, the number of these ids, the offset at which they end.

    `begins` is whether a text begins after them, and `following` its round trip, if the text before counts. The offset
    may not be the end if nothing follows the block and nothing is wrong in it.

    No ids are judged if nothing in the block decides the violations at its beginning.
    """

    violations: list[Sequence[Violation]]
    n_ids: int
    byte: int
    begins: bool = True
    following: RoundTrip | None = None


def are_within(indices: Int64Array, intervals: list[tuple[int, int]]) -> BoolArray:
    """Return which indices are in one of some ascending intervals."""
    if not intervals:
        return np.zeros(len(indices), dtype=np.bool_)
    begins, ends = np.array(intervals).T
    number = np.searchsorted(begins, indices, side="right")
    within: BoolArray = indices < np.append(0, ends)[number]
    return within


def last_cut(trip: RoundTrip, ids: Int32Array, low: int, stop: int, *, begins: bool = True) -> int:
    """Return the last index after `low`, before `stop`, at which neighbours always cut the text; `low` without any.

    `begins` is whether a text begins at `low`.
    """
    size = _NEAR
    while True:
        # A boundary is safe after any ids.
        begin = max(stop - size, low)
        cuts = np.flatnonzero(trip.boundaries.always_cut(ids[begin:stop], begins=begins or begin > low))
        if len(cuts) or begin == low:
            return begin + int(cuts[-1]) + 1 if len(cuts) else low
        size *= 4


def merged(
    found: list[tuple[int, list[Violation]]],
    rows: Rows,
    spans_of: Callable[[Rows], Spans],
    indices: Int64Array | None = None,
) -> list[Sequence[Violation]]:
    """Return violations found one by one, each with its index, and violations in rows, at `indices`, all in order."""
    parts: list[Sequence[Violation]] = []
    low = 0
    indices = rows.first if indices is None else indices
    bounds = np.searchsorted(indices, np.array([at for at, _ in found], dtype=np.int64)).tolist()
    for high, (_, violations) in zip(bounds, found, strict=True):
        parts += (spans_of(rows.chosen(slice(low, high))), violations)
        low = high
    return [*parts, spans_of(rows.chosen(slice(low, None)))]
