"""The re-encoding: streams compared with their text, by its pieces, or by decoding, encoding again and comparing."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.errors import LimitExceededError
from tokdfa.jobs.validation.engines.pieces import TextIsDroppedError, compare_pieces
from tokdfa.jobs.validation.engines.segment import EncodedSegment
from tokdfa.jobs.validation.model import Model
from tokdfa.jobs.validation.violation import Cause, Violation, ViolationKind, spelled
from tokdfa.jobs.validation.window import DEFAULT, Buffer, Rest, Tuning, Window
from tokdfa.tokenizers.round_trip import RoundTrip

_BLOCK = 1 << 16

_HEAD = 1 << 8
"""The number of ids of a window among which its text is usually cut."""


class TextComparison:
    """The engine that compares a stream with the text to which it decodes: with its pieces, or with its encoding.

    Encoding is for tokenizers for which pairs of neighbours do not decide: tokenizers that drop text or insert spaces,
    change a text before they encode it, spell ids in a way of their own, or take the longest match. Special tokens that
    `encode` never gives split the stream, and the parts between them are judged separately.

    The stream is kept back to the last boundary where its text is cut, or as a whole if there is none. In a window, up
    to the first such boundary only neighbours that no canonical ids have side by side are reported; from there on
    nothing depends on the ids before.

    `first` is the index of the first token fed in the stream, and `byte` the offset of its first byte. If `literal`,
    special tokens that `encode` never gives are judged by the text that they decode to, and split nothing. `begins` is
    whether a text begins with the first token, rather than continues after a boundary where it is always cut, and
    `window` whether the stream was cut out of a longer one; only if the trip cuts texts. With `pieces`, the tables of a
    tokenizer with a pre-tokenizer and a dictionary over bytes, the pieces of the text are compared with the ids until
    the pre-tokenizer drops text (`drops_text`). `following` is the round trip of the text from the next token on, if
    something of the text before counts; `size` the number of ids that are judged at once, by default as in `tuning`.

    A violation found in a window is one in any context. The reverse is not promised for the ids before the first cut
    and after the last.
    """

    def __init__(
        self,
        trip: RoundTrip,
        first: int = 0,
        byte: int = 0,
        *,
        literal: bool = False,
        begins: bool = True,
        window: bool = False,
        pieces: Model | None = None,
        following: RoundTrip | None = None,
        size: int | None = None,
        tuning: Tuning = DEFAULT,
    ) -> None:
        self._trip = trip
        self._max_ids = tuning.max_ids
        self._size = tuning.window if size is None else size
        self.buffer = Buffer(first, byte, min(self._size, _HEAD) if window else self._size)
        self._literal = literal
        self._begins = begins and not window  # Whether a text begins with the next id.
        self.following = trip if following is None else following
        self._pieces = pieces
        self.drops_text = False
        self._is_head = window  # Whether nothing is known to cut the text of a window before the ids in the buffer.

    @cached_property
    def _is_cut(self) -> BoolArray:
        """For each id, whether it splits the stream."""
        cuts = self._trip.cuts
        return np.zeros_like(cuts) if self._literal else cuts

    @property
    def n_kept(self) -> int:
        """The number of ids kept."""
        return len(self.buffer)

    @property
    def byte(self) -> int:
        """The byte offset of the next token to be judged, or of the end of a finished text."""
        return self.buffer.byte

    def unjudged(self) -> tuple[Rest, Int32Array] | None:
        """Return where the ids that are kept begin, and them, if nothing before them matters; None if it does."""
        if self._is_head or self.drops_text:
            return None
        following = None if self.following is self._trip else self.following
        return Rest(self.buffer.first, self.buffer.byte, self._begins, following), self.buffer.all()

    def accept(self, ids: Int32Array) -> bool:
        """Return False: no look at ids shows without judging them that nothing is wrong."""
        return False

    def feed(self, ids: Int32Array, until: int | None = None) -> Iterator[Violation]:
        """Take more ids, and yield the violations that they settle.

        With `until`, judging stops once token `until` of the stream has been judged.
        """
        buffer = self.buffer
        buffer.append(ids)
        while buffer.is_full() and (until is None or self.drops_text or buffer.first <= until):
            if self._pieces is not None:
                yield from self._compare_pieces(self._pieces, final=False)
                continue
            window = buffer.window
            cuts = self._cut_ids(window)
            found = None
            if len(cuts):
                stop = int(cuts[0 if self._is_head else -1]) + 1
                found = self._check_head(window[:stop]) if self._is_head else self._check(window[:stop], final=False)
            if found is not None:
                yield from found
                continue
            if len(window) > self._max_ids:
                break
            buffer.drop(0, 0)
        if len(buffer) > self._max_ids:
            raise LimitExceededError(
                "the stream is too long to be judged as a whole",
                where=f"token {buffer.first + self._max_ids}",
                hint=f"after token {buffer.first} nothing certainly cuts the text; validate the stream in parts",
            )

    def _cut_ids(self, ids: Int32Array) -> Int64Array:
        """Return the ids after which the text of the first ids is cut."""
        # A window may begin with a text.
        begins = self._begins or self._is_head
        return np.flatnonzero(self._trip.boundaries.always_cut(ids, begins=begins) | self._is_cut[ids[:-1]])

    def finish_open(self) -> Iterator[Violation]:
        """End a stream that may continue, and yield the violations before the last boundary where its text is cut."""
        if self._is_head:
            ids = self.buffer.all()
            yield from self._check_head(ids[: next(iter(self._cut_ids(ids) + 1), len(ids))])
        ids = self.buffer.all()
        for at in self._cut_ids(ids)[::-1].tolist():
            found = self._check(ids[: at + 1], final=False)
            if found is not None:
                yield from found
                return

    def finish(self) -> Iterator[Violation]:
        """End the stream, and yield the remaining violations."""
        while self._pieces is not None:
            if not len(self.buffer):
                return
            yield from self._compare_pieces(self._pieces, final=self.buffer.is_last)
        # At the end of the stream nothing is undecided.
        yield from self._check(self.buffer.all(), final=True) or ()

    def _check_head(self, ids: Int32Array) -> Iterator[Violation]:
        """Check the ids of a window up to the first boundary where its text is always cut, and drop them."""
        buffer = self.buffer
        ends = np.append(0, self._trip.decode(ids, begins=False).ends)
        found = []
        # The pairs of neighbours that no canonical ids have.
        for at in (np.flatnonzero(self._trip.boundaries.never_beside(ids)) + 1).tolist():
            left, right = int(ids[at - 1]), int(ids[at])
            index, offset = buffer.first + at, buffer.byte + int(ends[at])
            spellings = spelled((right, left, right), self._trip.spelling)
            cause = Cause(kind=ViolationKind.IN_NO_TEXT, token=right, pair=(left, right), spellings=spellings)
            found.append(cause.at(index - 1, offset, ids[at - 1 : at + 1], index=index))
        self._is_head = False
        self._begins = bool(len(ids)) and bool(self._trip.cuts[ids[-1]])
        buffer.drop(len(ids), int(ends[-1]), self._size)
        return iter(found)

    def _compare_pieces(self, model: Model, final: bool) -> Iterator[Violation]:
        """Check the first ids by the pieces of their text, and drop them; from now on encode if text is dropped."""
        buffer = self.buffer
        window = Window(model, buffer.window, buffer.first, buffer.byte, final)
        try:
            violations, stop = compare_pieces(window)
        except TextIsDroppedError:
            self._pieces, self.drops_text = None, True
            return
        buffer.drop(stop, int(window.starts[stop] if stop < len(window.starts) else window.ends[-1]))
        yield from violations

    def _check(self, ids: Int32Array, final: bool) -> Iterator[Violation] | None:
        """Check the first ids and drop them; None if the following ids decide where they go wrong."""
        buffer = self.buffer
        found: list[EncodedSegment] = []
        byte, begins, trip = buffer.byte, self._begins, self.following
        bounds = np.concatenate(([-1], np.flatnonzero(self._is_cut[ids]), [len(ids)])).tolist()
        for before, stop in pairwise(bounds):
            if before >= 0:
                byte += int(self._trip.decode(ids[before : before + 1]).ends[-1])
                begins = True
            is_open = not final and stop == len(ids)
            if stop == before + 1 and (is_open or not begins):
                continue
            text, first, done = ids[before + 1 : stop], buffer.first + before + 1, 0
            for low, high in self._trip.boundaries.doubtful(text, begins=begins).tolist():
                low = max(low, done)
                if low >= high > 0:
                    continue
                byte += int(self._trip.boundaries.sizes_of(text[done:low]).sum())
                segments, done = self._decided_segments(trip, text, low, high, first, byte, begins)
                found += segments
                trip = segments[-1].following
                byte += sum(segment.size for segment in segments)
            if is_open and not found[-1].is_decided():
                return None
        self._begins = bounds[-2] == len(ids) - 1
        self.following = trip
        buffer.drop(len(ids), byte - buffer.byte)
        return (violation for segment in found if not segment.is_canonical for violation in segment.violations())

    def _decided_segments(
        self, trip: RoundTrip, ids: Int32Array, low: int, high: int, first: int, byte: int, begins: bool
    ) -> tuple[list[EncodedSegment], int]:
        """Return the segments of ids from `low` to `high`, or to a later cut if violations depend on it.

        Also return the end of the last one.
        """
        while True:
            segments = [*self._segments(trip, ids[low:high], first + low, byte, begins and low == 0)]
            if high == len(ids) or segments[-1].is_decided():
                return segments, high
            later = np.flatnonzero(self._trip.boundaries.always_cut(ids[high - 1 :], begins=False, ends=True)[1:])
            high = high + 1 + int(later[0]) if len(later) else len(ids)

    def _segments(
        self, trip: RoundTrip, ids: Int32Array, first: int, byte: int, begins: bool
    ) -> Iterator[EncodedSegment]:
        """Yield the segments to be judged: all of the ids, or up to and after each symbol that is not UTF-8.

        The canonical ids before such a symbol depend on it, back to the last boundary where the text is cut.
        """
        whole = EncodedSegment(trip, ids, first, byte, begins)
        # Not for parts up to a symbol that is not UTF-8: their ids may depend on that symbol.
        if whole.bad is None or whole.accept_replaced():
            yield from whole.encodable()
            return
        at = 0
        for start, stop in _bad_symbols(*self._trip.spelled(ids)):
            cuts = np.flatnonzero(self._trip.boundaries.always_cut(ids[at : start + 1]))
            cut = at + int(cuts[-1]) + 1 if len(cuts) else at
            for low, high in ((at, cut), (cut, stop)):
                if low < high:
                    segment = EncodedSegment(self._trip, ids[low:high], first + low, byte, begins and low == 0)
                    yield from segment.encodable()
                    byte += segment.size
            at = stop
        if at < len(ids):
            yield from EncodedSegment(self._trip, ids[at:], first + at, byte, begins=False).encodable()


def _bad_symbols(data: bytes, ends: Int64Array) -> Iterator[tuple[int, int]]:
    """Yield the first id and the one after the last of each symbol that is not UTF-8."""
    at = 0
    while at < len(data):
        block = data[at : at + _BLOCK]
        try:
            at += codecs.utf_8_decode(block, "strict", at + len(block) == len(data))[1]
        except UnicodeDecodeError as error:
            start, end = at + error.start, at + error.end
            first, last = np.searchsorted(ends, (start, end - 1), side="right").tolist()
            yield first, last + 1
            at = int(ends[last])
