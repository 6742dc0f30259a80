"""Parts of a stream compared with the encoding of their text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.base.errors import AlphabetError, TokenStreamError
from tokdfa.jobs.validation.differences import differences
from tokdfa.jobs.validation.violation import (
    MOST_NAMED,
    Cause,
    Violation,
    ViolationKind,
    common_prefix,
    not_utf8,
    spelled,
)
from tokdfa.jobs.validation.violations import Rows, Spans
from tokdfa.tokenizers.decoder import Decoded
from tokdfa.tokenizers.round_trip import RoundTrip

if TYPE_CHECKING:
    from tokdfa.tokenizers.models.unigram.lattice import RecordedText, Scores


class _Difference(NamedTuple):
    """The part of ids from `start` to `stop` that differs from the canonical ids from `low` to `high`.

    From both beginnings on, `same` ids are equal. `n_before` canonical ids are before the segment, which is None if it
    is the whole itself: one that refers to itself, and so its tokenizer, is freed only by the garbage collector.
    """

    segment: EncodedSegment | None
    start: int
    stop: int
    low: int
    high: int
    same: int
    n_before: int


class EncodedSegment:
    """Ids between two boundaries where the text is cut, compared with the encoding of their text.

    `following` is the round trip of the text after them, and `bad` the first of the ids that are not UTF-8, and the one
    after them; None if all are.
    """

    def __init__(
        self, trip: RoundTrip, ids: Int32Array, first: int, byte: int, begins: bool, canonical: Int32Array | None = None
    ) -> None:
        self._trip = trip
        self._ids = ids
        self._first = first
        self._byte = byte
        self._begins = begins
        self.following = trip
        self._canonical = canonical  # The ids of their text, if these are known before.
        self._refusal: str | None = None
        self.is_canonical = False
        self.bad: tuple[int, int] | None = None
        if canonical is not None:
            self.is_canonical = np.array_equal(ids, canonical)
            return
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
        try:
            self._canonical, self.following = trip.encode_on(self._decoded.text, begins=begins)
            self.is_canonical = np.array_equal(ids, self._canonical)
        except AlphabetError as error:
            self._refusal = str(error)

    @cached_property
    def _decoded(self) -> Decoded:
        return self._trip.decode(self._ids, begins=self._begins)

    @cached_property
    def size(self) -> int:
        """Their number of bytes."""
        return int(self._decoded.ends[-1:].sum())

    @property
    def is_encodable(self) -> bool:
        """Whether the tokenizer does not refuse their text."""
        return self._refusal is None

    def accept_replaced(self) -> bool:
        """Take ids that are not UTF-8 as canonical if their text with U+FFFD has them; return whether it does.

        Libraries decode such bytes to U+FFFD. Where a tokenizer leaves out a byte of its three, the ids of that symbol
        are again not UTF-8, and decode to it.
        """
        try:
            canonical = self._trip.encode(self._data.decode("utf-8", "replace"), begins=self._begins)
        except AlphabetError:
            return False
        self.is_canonical = np.array_equal(self._ids, canonical)
        return self.is_canonical

    def encodable(self) -> Iterator[EncodedSegment]:
        """Yield this segment, or if its text is refused, the refused parts between two cuts, and the rest of it."""
        if self.is_encodable:
            yield self
            return
        for is_encodable, group in groupby(self._segments(), key=lambda segment: segment.is_encodable):
            segments = [*group]
            if is_encodable and len(segments) > 1:
                begin = segments[0]
                ids = self._ids[begin._first - self._first :][: sum(len(each._ids) for each in segments)]
                yield EncodedSegment(begin._trip, ids, begin._first, begin._byte, begin._begins)
            else:
                yield from segments

    @property
    def canonical(self) -> Int32Array:
        """The ids of their text, which is not refused."""
        if self.is_canonical:
            return self._ids
        assert self._canonical is not None
        return self._canonical

    def _segments(self) -> Iterator[EncodedSegment]:
        """Yield parts that are canonical, and the ids between neighbouring cuts where they are not."""
        rest = self
        while True:
            cuts = np.flatnonzero(rest._trip.boundaries.always_cut(rest._ids, begins=rest._begins, ends=True)) + 1
            if rest.is_canonical or rest.bad is not None or not len(cuts):
                yield rest
                return
            canonical = rest._canonical if rest.following is rest._trip else None
            # If nothing of the text before a cut changes the ids after it, the canonical ids of the rest are known:
            # then it is cut before the first difference, and after it. Otherwise halving finds few wrong segments.
            middle = len(cuts) // 2
            same = 0
            if canonical is not None:
                same = common_prefix(rest._ids, canonical)
                middle = max(int(np.searchsorted(cuts, same, side="right")) - 1, 0)
            left = rest._until(int(cuts[middle]))
            if cuts[middle] <= same and not left.is_canonical:
                # Alone, ids without a text, such as the ids of unknown words, may be others. Halves end after few
                # steps.
                canonical = None
                left = rest._until(int(cuts[len(cuts) // 2]))
            cut = len(left._ids)
            yield from left._segments()
            known = None if canonical is None else canonical[len(left.canonical) :]
            byte = rest._byte + left.size
            rest = EncodedSegment(left.following, rest._ids[cut:], rest._first + cut, byte, False, known)

    def _until(self, cut: int) -> EncodedSegment:
        """Return the segment of the ids before a cut."""
        return EncodedSegment(self._trip, self._ids[:cut], self._first, self._byte, self._begins)

    def is_decided(self) -> bool:
        """Return whether the index where they go wrong does not depend on the following ids."""
        if self._canonical is None or self.is_canonical:
            return True
        n, n_canonical = len(self._ids), len(self._compared[0])
        return all(each.start + each.same < n and each.low + each.same < n_canonical for each in self._differences)

    def violations(self) -> Iterator[Violation]:
        """Yield the violations, in order: where they are not the encoding of their text."""
        if self._refusal is not None:
            # A token may be unencodable, or one that the tokenizer itself inserts or appends.
            at = next((at for at in range(len(self._ids)) if not self._is_encodable(at)), 0)
            cause = Cause(kind=ViolationKind.NOT_ENCODABLE, error=self._refusal)
            yield cause.at(self._first + at, self._byte + self._end_of(at), self._ids[at : at + 1])
        elif self._canonical is None:
            assert self.bad is not None
            begin, stop = self.bad
            yield not_utf8(self._data, self._ids[begin:stop], self._first + begin, self._byte, self._bad_bytes)
        elif not self.is_canonical:
            yield from map(self._otherwise, self._differences)

    @cached_property
    def _compared(self) -> tuple[Int32Array, list[tuple[EncodedSegment | None, int, int, Int64Array]]]:
        """The canonical ids, and each wrong segment with its first id, its first canonical id, and its differing parts.

        Differences are looked for in each segment alone, so they do not depend on the text before and after.
        """
        canonical: list[Int32Array] = []
        wrong: list[tuple[EncodedSegment | None, int, int, Int64Array]] = []
        n_canonical = 0
        for segment in self._segments():
            ids, right = segment._ids, segment.canonical
            if not segment.is_canonical:
                others = self._trip.ends(right, segment._decoded, begins=segment._begins)
                parts = differences(ids, segment._decoded.ends, right, others)
                wrong.append((None if segment is self else segment, segment._first - self._first, n_canonical, parts))
            canonical.append(right)
            n_canonical += len(right)
        return np.concatenate(canonical), wrong

    @cached_property
    def _differences(self) -> list[_Difference]:
        """The differing parts of the ids and of the canonical ids.

        A part neither begins nor ends with equal ids, as it may between boundaries that both share where tokens add
        nothing to the text.
        """
        ids, (canonical, wrong) = self._ids, self._compared
        found: list[_Difference] = []
        for segment, begin, begin_canonical, parts in wrong:
            bounds = parts + np.array([begin, begin, begin_canonical, begin_canonical])
            for start, stop, low, high in bounds.tolist():
                equal = same = common_prefix(ids[start:stop], canonical[low:high])
                if same == min(stop - start, high - low):
                    # Further on, tokens that add nothing to the text may be the same on both sides.
                    same = common_prefix(ids[start:], canonical[low:])
                rest = min(stop - start, high - low) - equal
                after = common_prefix(ids[stop - rest : stop][::-1], canonical[high - rest : high][::-1])
                found.append(
                    _Difference(
                        segment, start + equal, stop - after, low + equal, high - after, same - equal, begin_canonical
                    )
                )
        return found

    def _otherwise(self, part: _Difference) -> Violation:
        segment, start, stop, low, high, same, n_before = part
        canonical = self._compared[0][low:high]
        given, right = self._ids[start:stop].tolist(), canonical.tolist()
        index = start + same
        detected = max(self._trip.detected(self._ids, start, stop), index)
        indices = {"index": self._first + index, "detected_at": self._first + detected}
        recorded = (segment or self)._recorded
        scores = None if recorded is None else recorded.compare(given, low - n_before, high - n_before)
        cause = otherwise(self._trip, given, right, scores)
        byte = self._byte + self._end_of(index)
        return cause.at(self._first + start, byte, self._ids[start:stop], canonical, **indices)

    def _end_of(self, count: int) -> int:
        """Return the byte offset at which the first ids end."""
        return int(self._decoded.ends[count - 1]) if count else 0

    @cached_property
    def _recorded(self) -> RecordedText | None:
        return self._trip.recorded(self._decoded.text, begins=self._begins)

    def _is_encodable(self, at: int) -> bool:
        begins = self._begins and at == 0
        try:
            text = self._trip.decode(self._ids[at : at + 1], begins=begins).text
            self._trip.encode(text, begins=begins)
        except TokenStreamError:
            return True  # The token is part of a symbol.
        except AlphabetError:
            return False
        return True


def otherwise(trip: RoundTrip, given: list[int], right: list[int], scores: Scores | None = None) -> Cause:
    """Return the cause for ids where a tokenizer gives others."""
    named = right[:MOST_NAMED]
    if trip.takes_longest and given:
        wrong = next((id for id, other in zip(given, right, strict=False) if id != other), given[-1])
        spellings = spelled([wrong, *named], trip.spelling)
        return Cause(kind=ViolationKind.NOT_LONGEST_MATCH, token=wrong, spellings=spellings)
    spellings = spelled([*given[:MOST_NAMED], *named], trip.spelling)
    return Cause(kind=ViolationKind.ENCODED_OTHERWISE, scores=scores, spellings=spellings)


def spans_of_tokens(
    trip: RoundTrip,
    first: int,
    around: Int32Array,
    rows: Rows,
    texts: tuple[Int64Array, Int64Array] | None = None,
) -> Spans:
    """Return the violations in rows, given the ids that these are in, and where the ids begin in the stream.

    The ids are of several `texts`, if the first id of each and the one after its last are given.
    """
    kind = ViolationKind.NOT_LONGEST_MATCH if trip.takes_longest else ViolationKind.ENCODED_OTHERWISE
    return Spans(rows, partial(_of_tokens, trip, first, around, texts), first, kind)


def _of_tokens(
    trip: RoundTrip,
    first: int,
    around: Int32Array,
    texts: tuple[Int64Array, Int64Array] | None,
    rows: Rows,
    number: int,
) -> Violation:
    """Return one of the violations in rows."""
    at, byte = int(rows.first[number]), int(rows.byte[number])
    ids, canonical, ends = rows.row(number)
    if not rows.is_text[number]:
        return not_utf8(trip.spelled(ids)[0], ids, first + at, byte, ends.tolist())
    begin, stop = 0, len(around)
    if texts is not None:
        begin, stop = (int(side[np.searchsorted(texts[0], at, side="right") - 1]) for side in texts)
    return encoded_otherwise(trip, first + begin, around[begin:stop], at - begin, byte, ids, canonical)


def encoded_otherwise(
    trip: RoundTrip,
    first: int,
    around: Int32Array,
    at: int,
    byte: int,
    ids: Int32Array,
    canonical: Int32Array,
    scores: Scores | None = None,
) -> Violation:
    """Return the violation of ids where a tokenizer gives others; they are `around` from the index `at` on."""
    detected_at = first + max(trip.detected(around, at, at + len(ids)), at)
    cause = otherwise(trip, ids.tolist(), canonical.tolist(), scores)
    return cause.at(first + at, byte, ids, canonical, detected_at=detected_at)


def bad_bytes(data: bytes) -> tuple[int, int]:
    """Return the start and end of the first bytes that are not UTF-8; without any, the end of all bytes twice."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start, error.end
    return len(data), len(data)
