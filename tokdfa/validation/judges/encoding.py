"""Judging by the definition: decoding ids, encoding their text, and comparing."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.errors import LimitExceededError
from tokdfa.tokenizers.round_trip import RoundTrip
from tokdfa.validation.buffer import Buffer
from tokdfa.validation.judges.stretch import EncodedStretch
from tokdfa.validation.tuning import DEFAULT, Tuning
from tokdfa.validation.violation import Violation

__all__ = ["EncodingJudge"]


_BLOCK = 1 << 16


class EncodingJudge:
    """A judge that compares a stream with the encoding of the text to which it decodes.

    It is for tokenizers for which pairs of neighbours do not decide: those that drop text or insert spaces, change a
    text before they encode it, spell ids in a way of their own, or take the longest match.

    Special tokens that `encode` never gives split the stream, and the parts between them are judged separately. The
    stream is kept back to the last place where its text is cut, or as a whole if there is no such place.

    Parameters
    ----------
    trip : RoundTrip
        The way in which the tokenizer decodes and encodes again, and where it cuts texts.
    first, byte : int
        The index of the first token fed in the stream, and the offset of its first byte.
    literal : bool
        Whether special tokens that `encode` never gives are judged by the text that they decode to, and split nothing.
    begins : bool
        Whether a text begins with the first token, rather than going on from a place where it is certainly cut.
    tuning : Tuning, optional
        The number of ids that are judged at once, and the maximum number that are kept.

    Attributes
    ----------
    buffer : Buffer
        The ids that have not been judged yet.
    """

    def __init__(
        self,
        trip: RoundTrip,
        first: int = 0,
        byte: int = 0,
        *,
        literal: bool = False,
        begins: bool = True,
        tuning: Tuning = DEFAULT,
    ) -> None:
        self._trip = trip
        self._max_ids = tuning.max_ids
        self.buffer = Buffer(first, byte, tuning.window)
        self._is_cut = trip.cuts & (not literal)
        self._begins = begins  # Whether a text begins with the next id.
        self._following = trip  # The round trip of the text from there on.

    @property
    def n_kept(self) -> int:
        """The number of ids kept."""
        return len(self.buffer)

    @property
    def byte(self) -> int:
        """The byte offset of the next token to be judged, or of the end of a finished text."""
        return self.buffer.byte

    def feed(self, ids: Int32Array, until: int | None = None) -> Iterator[Violation]:
        """Take more ids, and yield the violations that they make certain.

        With `until`, judging stops once token `until` of the stream has been judged.
        """
        buffer = self.buffer
        buffer.append(ids)
        while buffer.is_full() and (until is None or buffer.first <= until):
            window = buffer.window
            places = np.flatnonzero(
                self._trip.boundaries.always_cut(window, begins=self._begins) | self._is_cut[window[:-1]]
            )
            found = self._judge(window[: int(places[-1]) + 1], final=False) if len(places) else None
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

    def finish_open(self) -> Iterator[Violation]:
        """End a stream that may go on, and yield what is wrong before the last place where its text is cut."""
        ids = self.buffer.all()
        places = np.flatnonzero(self._trip.boundaries.always_cut(ids, begins=self._begins) | self._is_cut[ids[:-1]])
        for place in places[::-1].tolist():
            found = self._judge(ids[: place + 1], final=False)
            if found is not None:
                yield from found
                return

    def finish(self) -> Iterator[Violation]:
        """End the stream, and yield the remaining violations."""
        # At the end of the stream nothing is undecided.
        yield from self._judge(self.buffer.all(), final=True) or ()

    def _judge(self, ids: Int32Array, final: bool) -> Iterator[Violation] | None:
        """Judge the first ids and drop them; None if the place where they go wrong depends on what follows."""
        buffer = self.buffer
        found: list[EncodedStretch] = []
        byte, begins, trip = buffer.byte, self._begins, self._following
        bounds = np.concatenate(([-1], np.flatnonzero(self._is_cut[ids]), [len(ids)])).tolist()
        for before, stop in pairwise(bounds):
            if before >= 0:
                byte += self._size(ids[before : before + 1])
                begins = True
            is_open = not final and stop == len(ids)
            if stop == before + 1 and (is_open or not begins):
                continue
            text, first, done = ids[before + 1 : stop], buffer.first + before + 1, 0
            for low, high in self._trip.boundaries.doubtful(text, begins=begins).tolist():
                low = max(low, done)
                if low >= high > 0:
                    continue
                byte += self._trip.boundaries.size_of(text[done:low])
                stretches, done = self._judged(trip, text, low, high, first, byte, begins)
                found += stretches
                trip = stretches[-1].following
                byte += sum(stretch.size for stretch in stretches)
            if is_open and not found[-1].is_decided():
                return None
        self._begins = bounds[-2] == len(ids) - 1
        self._following = trip
        buffer.drop(len(ids), byte - buffer.byte)
        return (violation for stretch in found if not stretch.is_canonical for violation in stretch.violations())

    def _judged(
        self, trip: RoundTrip, ids: Int32Array, low: int, high: int, first: int, byte: int, begins: bool
    ) -> tuple[list[EncodedStretch], int]:
        """Return the stretches of ids from `low` to `high`, or to a later cut if what is wrong depends on what follows.

        Also return the end of the last one.
        """
        while True:
            stretches = [*self._stretches(trip, ids[low:high], first + low, byte, begins and low == 0)]
            if high == len(ids) or stretches[-1].is_decided():
                return stretches, high
            later = np.flatnonzero(self._trip.boundaries.always_cut(ids[high - 1 :], begins=False, ends=True)[1:])
            high = high + 1 + int(later[0]) if len(later) else len(ids)

    def _stretches(
        self, trip: RoundTrip, ids: Int32Array, first: int, byte: int, begins: bool
    ) -> Iterator[EncodedStretch]:
        """Yield the stretches to be judged: all of the ids, or up to and after each symbol that is not UTF-8.

        What is right before such a symbol depends on it, back to the last place where the text is cut.
        """
        whole = EncodedStretch(trip, ids, first, byte, begins)
        # Not for parts up to a symbol that is not UTF-8: their ids may depend on what follows.
        if whole.bad is None or whole.accept_replaced():
            yield from whole.encodable()
            return
        at = 0
        for start, stop in _bad_symbols(*self._trip.spelled(ids)):
            places = np.flatnonzero(self._trip.boundaries.always_cut(ids[at:start]))
            cut = at + int(places[-1]) + 1 if len(places) else at
            for low, high in ((at, cut), (cut, stop)):
                if low < high:
                    stretch = EncodedStretch(self._trip, ids[low:high], first + low, byte, begins and low == 0)
                    yield from stretch.encodable()
                    byte += stretch.size
            at = stop
        if at < len(ids):
            yield from EncodedStretch(self._trip, ids[at:], first + at, byte, begins=False).encodable()

    def _size(self, ids: Int32Array) -> int:
        return int(self._trip.decode(ids).ends[-1])


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
