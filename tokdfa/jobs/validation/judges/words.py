"""Judging texts word by word: wrong words come with their canonical ids, and only they are decoded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tokdfa.base.arrays import Int64Array
from tokdfa.jobs.validation.judges.encoded import Text
from tokdfa.jobs.validation.judges.found import CLOSE, are_within, encoded_otherwise, merged
from tokdfa.jobs.validation.kind import ViolationKind
from tokdfa.jobs.validation.units import TEXT_ENDS, UNKNOWN, differing_parts_of, whole_words
from tokdfa.jobs.validation.violations import Rows, Spans, ranges, spans_between
from tokdfa.tokenizers.models.unigram.segmenter import WrongWords

if TYPE_CHECKING:
    from tokdfa.jobs.validation.violation import Violation
    from tokdfa.tokenizers.round_trip import RoundTrip

__all__ = ["WordText"]

_NEAR = 1 << 5
"""The number of ids among which a boundary usually is."""

Found = tuple[int, list["Violation"]]


class WordText(Text):
    """Ids of a text that is judged word by word; see :class:`Text`."""

    def judged(self) -> tuple[list[Sequence[Violation]], int, int]:
        """Return the violations, the number of ids that are judged, and the offset at which they end."""
        if not len(self._ids):
            return self._all_closely() if self._begins and not self._is_open else ([], 0, self._byte)
        words, found, covered, n_judged, byte = self._found()
        words = whole_words(self._trip, self._ids, words, begins=self._begins)
        unjudged = np.array([n_judged, *(at for at, _ in covered)], dtype=np.int64)
        following = UNKNOWN if self._is_open else TEXT_ENDS
        parts = differing_parts_of(
            self._trip, self._ids, words, begins=self._begins, following=following, unjudged=unjudged
        )
        rows, begins, undecided = self._rows(words, parts)
        places = [at for at, _ in found]
        for number in np.unique(undecided).tolist():
            at, until = words.bounds[number].tolist()
            if any(begin <= at < end for begin, end in covered):
                continue
            trip = self._trip.after(words.before(number))
            judged = self._closely(at, until, int(words.byte[number]), CLOSE, trip)
            if judged is None:
                n_judged, byte, self.following = at, int(words.byte[number]), trip
                break
            # Violations that are known after that are not found again.
            end = min((place for place in places if at < place < judged[1]), default=len(self._all) + 1)
            found.append((at, [each for each in judged[0] if each.start - self._first < end]))
            covered.append((at, min(judged[1], end)))
            if judged[1] >= n_judged:
                n_judged, byte, self.following = *judged[1:3], judged[3]
        covered = sorted(covered)
        # A part without ids is at the end of its word, where the next one begins.
        kept = (begins < n_judged) & ~(are_within(begins, covered) & are_within(rows.first, covered))
        found = sorted((each for each in found if each[0] < n_judged), key=lambda each: each[0])
        return merged(found, rows.chosen(kept), partial(_spans_of, self, words), begins[kept]), n_judged, byte

    def next_cut(self, at: int) -> int:
        """Return the next index from `at` on where the text is cut, or the number of ids."""
        size = _NEAR
        while True:
            cut = np.flatnonzero(self._trip.boundaries.always_cut(self._ids[at - 1 : at + size]))
            if len(cut) or at + size >= len(self._ids):
                return at + int(cut[0]) if len(cut) else len(self._ids)
            size *= 4

    def _found(self) -> tuple[WrongWords, list[Found], list[tuple[int, int]], int, int]:
        """Return the wrong words, the violations found one by one, and where; the number of ids and the offset."""
        at, byte, trip = 0, self._byte, self.following
        parts: list[WrongWords] = []
        found: list[Found] = []
        covered: list[tuple[int, int]] = []
        while True:
            n, size, after, words = trip.wrong_words(self._ids[at:], begins=self._begins and not at)
            parts.append(words.moved(at, byte))
            if n:
                at, byte, trip = at + n, byte + size, after
            if at >= len(self._ids):
                break
            judged = self._closely(at, at + 1, byte, CLOSE, trip)
            if judged is None:
                break
            found.append((at, judged[0]))
            covered.append((at, judged[1]))
            at, byte, trip = judged[1:]
            if at >= len(self._ids):
                break
        self.following = trip
        return WrongWords.joined(parts), found, covered, at, byte

    def _rows(self, words: WrongWords, parts: Int64Array) -> tuple[Rows, Int64Array, Int64Array]:
        """Return the parts that differ as rows, where the word of each begins, and the words that are undecided."""
        word, starts, stops, lows, highs, before, undecided = parts.T
        decided = undecided == 0
        word, starts, stops, lows, highs, before = (
            side[decided] for side in (word, starts, stops, lows, highs, before)
        )
        given, bounds = ranges(starts, stops)
        rows = Rows(
            starts,
            words.byte[word] + before,
            self._ids[given],
            spans_between(bounds),
            words.right,
            np.column_stack((lows, highs)),
            np.zeros(0, dtype=np.int64),
            np.zeros((len(starts), 2), dtype=np.int64),
            np.ones(len(starts), dtype=np.bool_),
        )
        return rows, words.bounds[word, 0], parts[~decided, 0]


def _spans_of(text: WordText, words: WrongWords, rows: Rows) -> Spans:
    """Return the violations in rows, each in one of the wrong words of a text."""
    return Spans(rows, partial(_of_word, text, words), text._first, ViolationKind.ENCODED_OTHERWISE)


def _of_word(text: WordText, words: WrongWords, rows: Rows, number: int) -> Violation:
    """Return a violation in one of the wrong words of a text."""
    at = int(rows.first[number])
    ids, canonical, _ = rows.row(number)
    # A part without ids may be where the next word begins, and one without canonical ids before the next one's.
    places, place = (words.bounds[:, 0], at) if len(ids) else (words.right_bounds, rows.canonical_spans[number, 0])
    word = int(np.searchsorted(places, place, side="right")) - 1
    begin, stop = words.bounds[word].tolist()
    # The sum at the end of a word depends on whether the text continues there.
    stop = text.next_cut(stop)
    begins = text._begins and not begin
    trip: RoundTrip = text._trip.after(words.before(word))
    recorded = trip.recorded(trip.decode(text._ids[begin:stop], begins=begins).text, begins=begins)
    low, high = (rows.canonical_spans[number] - words.right_bounds[word]).tolist()
    scores = None if recorded is None else recorded.compare(ids.tolist(), low, high)
    return encoded_otherwise(trip, text._first, text._ids, at, int(rows.byte[number]), ids, canonical, scores)
