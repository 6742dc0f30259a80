"""Parts of a stream: ids not judged yet, how many are kept, windows with their text, and blocks judged at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, IntegerArray, Uint16Array, running_sum
from tokdfa.jobs.validation.model import Model
from tokdfa.jobs.validation.violation import Cause, Violation, ViolationKind, not_utf8, out_of_range
from tokdfa.jobs.validation.violations import Rows, Spans
from tokdfa.kernels.walk.differences import offsets_at
from tokdfa.regex.unicode.utf8 import begins_symbol
from tokdfa.tokenizers.round_trip import RoundTrip

NEAR = 1 << 12
"""The number of ids among which a certain cut usually is."""


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


class Rest(NamedTuple):
    """The part of a stream that is left to check: it begins with the id `first`, at the offset `byte`.

    Its text is always cut there, unless it is the whole stream; a text begins there, or continues. `following` is the
    round trip of its text, if something of the text before counts.
    """

    first: int
    byte: int
    begins: bool = True
    following: RoundTrip | None = None


WHOLE = Rest(0, 0)


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


@dataclass(frozen=True, slots=True)
class FoundSpecial:
    """A special token in a text: from character `start` to `end`."""

    start: int
    end: int
    id: int


@dataclass(frozen=True, slots=True)
class Specials:
    """The special tokens of a text."""

    found: list[FoundSpecial]  # The special tokens that the tokenizer finds in it, in order.
    intruder: FoundSpecial | None  # The first of them that the ids do not have.
    decided: int  # No other special token begins before this character, whatever comes next.


class Window:
    """Consecutive ids of a stream, from the index `first` and the offset `byte` on; its last ones if `final`.

    Each id begins and ends at an offset of `starts` and `ends` in the bytes of the window.
    """

    def __init__(self, model: Model, ids: Int32Array, first: int, byte: int, final: bool) -> None:
        self.model = model
        self.ids = ids
        self.first = first
        self.byte = byte
        self.final = final
        lengths = model.lengths[ids]
        self.ends: Int64Array = np.cumsum(lengths)
        self.starts: Int64Array = self.ends - lengths

    @cached_property
    def data(self) -> bytes:
        """The bytes of the ids."""
        return self.model.tokenizer.decode_bytes(self.ids)

    @cached_property
    def _decoded(self) -> tuple[str, tuple[int, int] | None]:
        try:
            return self.data.decode("utf-8"), None
        except UnicodeDecodeError as error:
            bad = (error.start, error.end)
            # A symbol that is cut off at the end may be completed by later ids.
            if not self.final and error.end == len(self.data) and error.reason == "unexpected end of data":
                return self.data[: error.start].decode("utf-8"), None
            return self.data[: error.start].decode("utf-8"), bad

    @property
    def text(self) -> str:
        """The text, as far as the bytes are UTF-8."""
        return self._decoded[0]

    @property
    def bad(self) -> tuple[int, int] | None:
        """The first bytes that are not UTF-8, as start and end; None if there are none."""
        return self._decoded[1]

    @cached_property
    def byte_at(self) -> Int64Array:
        """For each character of the text, and for its end, the offset of its first byte."""
        if self.text.isascii():
            return np.arange(len(self.text) + 1)
        size = len(self.data) if self.bad is None else self.bad[0]
        leads = np.flatnonzero(begins_symbol(self.data[:size]))
        return np.append(leads[: len(self.text)], size if len(leads) == len(self.text) else leads[len(self.text)])

    def begins_at(self, byte: int) -> bool:
        """Return whether a token begins at this byte, or the ids end there."""
        token = self.token_from(byte)
        return bool((self.starts[token] if token < len(self.starts) else self.ends[-1]) == byte)

    def token_at(self, byte: int) -> int:
        """Return the token to which a byte belongs."""
        return int(np.searchsorted(self.ends, byte, side="right"))

    def token_from(self, byte: int) -> int:
        """Return the first token that begins at this byte or later."""
        return int(np.searchsorted(self.starts, byte))

    def specials(self) -> Specials:
        """Return the special tokens of the text, and whether the tokenizer would find the same ones."""
        size, tokenizer = int(self.byte_at[-1]), self.model.tokenizer
        tokens = np.flatnonzero(self.model.special[self.ids] & (self.ends <= size))
        starts = np.searchsorted(self.byte_at, self.starts[tokens]).tolist()
        ends = np.searchsorted(self.byte_at, self.ends[tokens]).tolist()
        real = [FoundSpecial(*row) for row in zip(starts, ends, self.ids[tokens].tolist(), strict=True)]
        if not tokenizer.found_specials:
            return Specials(real, None, len(self.text))
        # A special token may be part of a longer one, or be cut by one of another level.
        held_back = 0 if self.final or self.bad else 2 * self.model.longest_special
        decided = max(len(self.text) - held_back, 0)
        found = []
        at = 0
        for part in tokenizer.added_tokens.cut(self.text):
            length = len(part if isinstance(part, str) else part.content)
            if not isinstance(part, str) and at < decided:
                found.append(FoundSpecial(at, at + length, part.id))
            at += length
        same = 0
        while same < len(found) and same < len(real) and found[same] == real[same]:
            same += 1
        return Specials(found, found[same] if same < len(found) else None, decided)

    def violation(
        self, start: int, stop: int, prefix: int, canonical: Int32Array | None, detected: int, cause: Cause
    ) -> Violation:
        """Return the violation at tokens `start` to `stop` of the window; the first `prefix` of them are right."""
        index = start + prefix
        byte = self.byte + int(self.starts[index] if index < len(self.starts) else self.ends[-1])
        indices = {"index": self.first + index, "detected_at": self.first + max(detected, index)}
        return cause.at(self.first + start, byte, self.ids[start:stop], canonical, **indices)

    def spelling(self, intruder: FoundSpecial) -> Cause:
        """Return the cause for a text that spells a special token which the ids do not have."""
        shown = self.text[intruder.start : intruder.end]
        return Cause(kind=ViolationKind.SPECIAL_TOKEN, special=intruder.id, text=shown)

    def not_utf8(self) -> tuple[Violation, int]:
        """Return the violation at the first bad bytes, and the token after them."""
        assert self.bad is not None
        start, end = self.bad
        first, stop = self.token_at(start), self.token_at(end - 1) + 1
        return not_utf8(self.data, self.ids[first:stop], self.first + first, self.byte, self.bad), stop


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
