"""Judging by the definition: decoding ids, encoding their text, and comparing."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.errors import AlphabetError, LimitExceededError, TokenStreamError
from tokdfa.tokenizers.decoded import Decoded
from tokdfa.tokenizers.round_trip import RoundTrip
from tokdfa.validation.buffer import Buffer
from tokdfa.validation.differences import differences
from tokdfa.validation.kind import ViolationKind
from tokdfa.validation.tuning import DEFAULT, Tuning
from tokdfa.validation.violation import Cause, Violation, common_prefix, spelled
from tokdfa.validation.wording import MOST_NAMED

if TYPE_CHECKING:
    from tokdfa.unigram.lattice import RecordedText
    from tokdfa.unigram.scores import Scores

__all__ = ["EncodingJudge", "bad_bytes"]


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
            places = np.flatnonzero(self._trip.cut_between(window, begins=self._begins) | self._is_cut[window[:-1]])
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
        places = np.flatnonzero(self._trip.cut_between(ids, begins=self._begins) | self._is_cut[ids[:-1]])
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
        found: list[_Stretch] = []
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
            for low, high in self._trip.doubtful(text, begins=begins).tolist():
                low = max(low, done)
                if low >= high > 0:
                    continue
                byte += self._trip.size_of(text[done:low])
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
    ) -> tuple[list[_Stretch], int]:
        """Return the stretches of ids from `low` to `high`, or to a later cut if what is wrong depends on what follows.

        Also return the end of the last one.
        """
        while True:
            stretches = [*self._stretches(trip, ids[low:high], first + low, byte, begins and low == 0)]
            if high == len(ids) or stretches[-1].is_decided():
                return stretches, high
            later = np.flatnonzero(self._trip.cut_between(ids[high - 1 :], begins=False, ends=True)[1:])
            high = high + 1 + int(later[0]) if len(later) else len(ids)

    def _stretches(self, trip: RoundTrip, ids: Int32Array, first: int, byte: int, begins: bool) -> Iterator[_Stretch]:
        """Yield the stretches to be judged: all of the ids, or up to and after each symbol that is not UTF-8.

        What is right before such a symbol depends on it, back to the last place where the text is cut.
        """
        whole = _Stretch(trip, ids, first, byte, begins)
        if whole.bad is None:
            yield whole
            return
        at = 0
        for start, stop in _bad_symbols(*self._trip.spelled(ids)):
            places = np.flatnonzero(self._trip.cut_between(ids[at:start]))
            cut = at + int(places[-1]) + 1 if len(places) else at
            for low, high in ((at, cut), (cut, stop)):
                if low < high:
                    stretch = _Stretch(self._trip, ids[low:high], first + low, byte, begins and low == 0)
                    yield stretch
                    byte += stretch.size
            at = stop
        if at < len(ids):
            yield _Stretch(self._trip, ids[at:], first + at, byte, begins=False)

    def _size(self, ids: Int32Array) -> int:
        return int(self._trip.decode(ids).ends[-1])


class _Stretch:
    """Ids between two places where the text is cut, compared with the encoding of their text.

    Attributes
    ----------
    size : int
        Their number of bytes.
    is_canonical : bool
        Whether they are the encoding of their text.
    following : RoundTrip
        The round trip of the text after them.
    bad : tuple of int, or None
        The first of the ids whose bytes are not UTF-8, and the one after them; None if they are.
    """

    def __init__(self, trip: RoundTrip, ids: Int32Array, first: int, byte: int, begins: bool) -> None:
        self._trip = trip
        self._ids = ids
        self._first = first
        self._byte = byte
        self._begins = begins
        self.following = trip
        self._canonical: Int32Array | None = None
        self._known: list[tuple[int, int, int, int, int]] | None = None
        self._refusal: str | None = None
        self.is_canonical = False
        self.bad: tuple[int, int] | None = None
        accepted = trip.accept(ids, begins=begins)
        if accepted is not None:
            self.size, self.following = accepted
            self.is_canonical = True
            return
        try:
            self._decoded = trip.decode(ids, begins=begins)
        except TokenStreamError:
            self._data, ends = trip.spelled(ids)
            self._decoded = Decoded("", ends)
            self.size = len(self._data)
            start, end = self._bad_bytes = bad_bytes(self._data)
            self.bad = int(np.searchsorted(ends, start, "right")), int(np.searchsorted(ends, end - 1, "right")) + 1
            return
        self.size = int(self._decoded.ends[-1:].sum())
        try:
            self._canonical, self.following = trip.encode_on(self._decoded.text, begins=begins)
            self.is_canonical = np.array_equal(ids, self._canonical)
        except AlphabetError as error:
            self._refusal = str(error)

    def is_decided(self) -> bool:
        """Return whether the place where they go wrong does not depend on what follows."""
        if self._canonical is None or self.is_canonical:
            return True
        n, n_canonical = len(self._ids), len(self._canonical)
        self._known = [*self._differences(self._canonical)]
        return all(start + same < n and low + same < n_canonical for start, _, low, _, same in self._known)

    def violations(self) -> Iterator[Violation]:
        """Yield the places where they are not the encoding of their text, in order."""
        if self._refusal is not None:
            yield self._not_encodable(self._refusal)
        elif self._canonical is None:
            yield self._not_utf8()
        elif not self.is_canonical:
            for start, stop, low, high, same in self._known or self._differences(self._canonical):
                yield self._otherwise(start, stop, low, high, start + same)

    def _differences(self, canonical: Int32Array) -> Iterator[tuple[int, int, int, int, int]]:
        """Yield the differing parts of the ids and of the canonical ids, and the number of equal ids from there on.

        A part neither begins nor ends with equal ids, as it may between borders that both share where tokens add
        nothing to the text. So a part does not depend on where the text before and after it is cut.
        """
        ids, others = self._ids, self._trip.ends(canonical, self._decoded, begins=self._begins)
        for start, stop, low, high in differences(ids, self._decoded.ends, canonical, others).tolist():
            equal = same = common_prefix(ids[start:stop], canonical[low:high])
            if same == min(stop - start, high - low):
                # Further on, tokens that add nothing to the text may be the same on both sides.
                same = common_prefix(ids[start:], canonical[low:])
            rest = min(stop - start, high - low) - equal
            after = common_prefix(ids[stop - rest : stop][::-1], canonical[high - rest : high][::-1])
            yield start + equal, stop - after, low + equal, high - after, same - equal

    def _otherwise(self, start: int, stop: int, low: int, high: int, index: int) -> Violation:
        assert self._canonical is not None
        canonical = self._canonical[low:high]
        given, right = self._ids[start:stop].tolist(), canonical.tolist()
        detected = max(self._trip.detected(self._ids, start, stop), index)
        scores = None if self._recorded is None else self._recorded.compare(given, low, high)
        return self._cause(given, right, scores).at(
            index=self._first + index,
            detected_at=self._first + detected,
            byte_offset=self._byte + self._end_of(index),
            start=self._first + start,
            ids=self._ids[start:stop],
            canonical_ids=canonical,
        )

    def _end_of(self, count: int) -> int:
        """Return the byte offset at which the first ids end."""
        return int(self._decoded.ends[count - 1]) if count else 0

    @cached_property
    def _recorded(self) -> RecordedText | None:
        return self._trip.recorded(self._decoded.text, begins=self._begins)

    def _cause(self, given: list[int], right: list[int], scores: Scores | None) -> Cause:
        named = right[:MOST_NAMED]
        if self._trip.takes_longest and given:
            wrong = next((id for id, other in zip(given, right, strict=False) if id != other), given[-1])
            spellings = spelled([wrong, *named], self._trip.spelling)
            return Cause(kind=ViolationKind.NOT_LONGEST_MATCH, token=wrong, spellings=spellings)
        spellings = spelled([*given[:MOST_NAMED], *named], self._trip.spelling)
        return Cause(kind=ViolationKind.ENCODED_OTHERWISE, scores=scores, spellings=spellings)

    def _not_encodable(self, error: str) -> Violation:
        # A token may be unencodable, or one that the tokenizer itself inserts or appends.
        place = next((place for place in range(len(self._ids)) if not self._is_encodable(place)), 0)
        return Cause(kind=ViolationKind.NOT_ENCODABLE, error=error).at(
            index=self._first + place,
            detected_at=self._first + place,
            byte_offset=self._byte + self._end_of(place),
            start=self._first + place,
            ids=self._ids[place : place + 1],
            canonical_ids=None,
        )

    def _is_encodable(self, place: int) -> bool:
        begins = self._begins and place == 0
        try:
            text = self._trip.decode(self._ids[place : place + 1], begins=begins).text
            self._trip.encode(text, begins=begins)
        except TokenStreamError:
            return True  # The token is part of a symbol.
        except AlphabetError:
            return False
        return True

    def _not_utf8(self) -> Violation:
        """Return the violation at the first bytes that are not UTF-8."""
        assert self.bad is not None
        start, end = self._bad_bytes
        begin, stop = self.bad
        return Cause(kind=ViolationKind.NOT_UTF8, bad_bytes=self._data[start:end]).at(
            index=self._first + begin,
            detected_at=self._first + stop - 1,
            byte_offset=self._byte + start,
            start=self._first + begin,
            ids=self._ids[begin:stop],
            canonical_ids=None,
        )


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


def bad_bytes(data: bytes) -> tuple[int, int]:
    """Return the start and end of the first bytes that are not UTF-8; without any, the end of all bytes twice."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start, error.end
    return len(data), len(data)
