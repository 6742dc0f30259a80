"""Texts that are checked word by word: wrong words come with their canonical ids, and only they are decoded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, ranges, running_sum
from tokdfa.base.errors import TokenStreamError
from tokdfa.jobs.validation.differences import NO_CUTS, Parts, trimmed
from tokdfa.jobs.validation.engines.segment import encoded_otherwise
from tokdfa.jobs.validation.engines.texts import Text
from tokdfa.jobs.validation.violation import Violation, ViolationKind
from tokdfa.jobs.validation.violations import Rows, Spans
from tokdfa.jobs.validation.window import CLOSE, are_within, merged
from tokdfa.kernels.unigram.accept import ASKED, OTHER, SAME
from tokdfa.kernels.walk.differences import Tokenizations, find_differences
from tokdfa.tokenizers.decoder import Decoded
from tokdfa.tokenizers.models.unigram.segmenter import WrongWords
from tokdfa.tokenizers.round_trip import RoundTrip, ends_in

_NEAR = 1 << 5
"""The number of ids among which a boundary usually is."""

Found = tuple[int, list["Violation"]]


class WordText(Text):
    """Ids of a text that is judged word by word; see :class:`Text`."""

    def check(self) -> tuple[list[Sequence[Violation]], int, int]:
        """Return the violations, the number of ids that are judged, and the offset at which they end."""
        if not len(self._ids):
            return self._all_closely() if self._begins and not self._is_open else ([], 0, self._byte)
        words, found, covered, n_checked, byte = self._found()
        words = whole_words(self._trip, self._ids, words, begins=self._begins)
        unjudged = np.array([n_checked, *(at for at, _ in covered)], dtype=np.int64)
        following = UNKNOWN if self._is_open else TEXT_ENDS
        parts = differing_parts_of(
            self._trip, self._ids, words, begins=self._begins, following=following, unjudged=unjudged
        )
        rows, begins, undecided = self._rows(words, parts)
        firsts = [at for at, _ in found]
        for number in np.unique(undecided).tolist():
            at, until = words.bounds[number].tolist()
            if any(begin <= at < end for begin, end in covered):
                continue
            trip = self._trip.after(words.before(number))
            result = self._closely(at, until, int(words.byte[number]), CLOSE, trip)
            if result is None:
                n_checked, byte, self.following = at, int(words.byte[number]), trip
                break
            # Violations that are known after that are not found again.
            end = min((first for first in firsts if at < first < result[1]), default=len(self._all) + 1)
            found.append((at, [each for each in result[0] if each.start - self._first < end]))
            covered.append((at, min(result[1], end)))
            if result[1] >= n_checked:
                n_checked, byte, self.following = *result[1:3], result[3]
        covered = sorted(covered)
        # A part without ids is at the end of its word, where the next one begins.
        kept = (begins < n_checked) & ~(are_within(begins, covered) & are_within(rows.first, covered))
        found = sorted((each for each in found if each[0] < n_checked), key=lambda each: each[0])

        def spans_of(rows: Rows) -> Spans:
            return Spans(rows, partial(_of_word, self, words), self._first, ViolationKind.ENCODED_OTHERWISE)

        return merged(found, rows.chosen(kept), spans_of, begins[kept]), n_checked, byte

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
            result = self._closely(at, at + 1, byte, CLOSE, trip)
            if result is None:
                break
            found.append((at, result[0]))
            covered.append((at, result[1]))
            at, byte, trip = result[1:]
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
        rows = Rows.of(self._ids, (starts, stops, lows, highs), words.right, words.byte[word] + before)
        # Where a part is among the canonical ids of its word is needed, too.
        rows = rows._replace(canonical=words.right, canonical_spans=np.column_stack((lows, highs)))
        return rows, words.bounds[word, 0], parts[~decided, 0]


def _of_word(text: WordText, words: WrongWords, rows: Rows, number: int) -> Violation:
    """Return a violation in one of the wrong words of a text."""
    at = int(rows.first[number])
    ids, canonical, _ = rows.row(number)
    # A part without ids may be where the next word begins, and one without canonical ids before the next one's.
    begins, first = (words.bounds[:, 0], at) if len(ids) else (words.right_bounds, rows.canonical_spans[number, 0])
    word = int(np.searchsorted(begins, first, side="right")) - 1
    begin, stop = words.bounds[word].tolist()
    # The sum at the end of a word depends on whether the text continues there.
    stop = text.next_cut(stop)
    is_first = text._begins and not begin
    trip: RoundTrip = text._trip.after(words.before(word))
    recorded = trip.recorded(trip.decode(text._ids[begin:stop], begins=is_first).text, begins=is_first)
    low, high = (rows.canonical_spans[number] - words.right_bounds[word]).tolist()
    scores = None if recorded is None else recorded.compare(ids.tolist(), low, high)
    return encoded_otherwise(trip, text._first, text._ids, at, int(rows.byte[number]), ids, canonical, scores)


_SPACE = ord(" ")


TEXT_ENDS, UNKNOWN = -1, -2
"""Stand for the id after a word where the text ends, and where the id is not known."""


def whole_words(trip: RoundTrip, ids: Int32Array, words: WrongWords, *, begins: bool) -> WrongWords:
    """Return wrong words among ids; it is known whether their canonical ids have the same text.

    Words that remain `ASKED` have the same text, but for spaces. Words with another text are one word with those that
    are wrong between the same cuts. `begins` is whether a text begins with the ids.
    """
    asked = words.text == ASKED
    if asked.any():
        words = words._replace(text=words.text.copy())
        words.text[asked] = np.where(_have_same_text(trip, ids, words.chosen(asked), begins), ASKED, OTHER)
    is_other = words.text == OTHER
    if not is_other.any() or _are_apart(trip, ids, words, is_other):
        return words
    cuts = np.flatnonzero(trip.boundaries.always_cut(ids, begins=begins)) + 1
    unit = np.searchsorted(cuts, words.bounds[:, 0], side="right")
    first = np.flatnonzero(np.diff(unit, prepend=-1))
    n_words = np.diff(np.append(first, len(unit)))
    is_joined = np.repeat((n_words > 1) & (np.add.reduceat(is_other, first) > 0), n_words)
    if not is_joined.any():
        return words
    parts = [words.chosen(~is_joined)]
    for at, n in zip(first.tolist(), n_words.tolist(), strict=True):
        if is_joined[at]:
            parts.append(_joined(ids, words, at, at + n))
    joined = WrongWords.joined(parts)
    order = np.argsort(joined.bounds[:, 0], kind="stable")
    chosen, right_bounds = ranges(joined.right_bounds[order], joined.right_bounds[order + 1])
    sides = (joined.byte[order], joined.sums[order], joined.is_unknown[order], joined.text[order])
    return WrongWords(joined.bounds[order], joined.right[chosen], right_bounds, *sides)


def _are_apart(trip: RoundTrip, ids: Int32Array, words: WrongWords, is_other: BoolArray) -> bool:
    """Return whether the text is cut between some words and their neighbours: after the one, or before the other."""
    chosen = np.flatnonzero(is_other[1:] | is_other[:-1])
    indices = np.concatenate((words.bounds[chosen, 1], words.bounds[chosen + 1, 0]))
    pairs = np.column_stack((ids[indices - 1], ids[indices])).ravel()
    is_cut = trip.boundaries.always_cut(pairs)[::2].reshape(2, -1)
    return bool(is_cut.any(axis=0).all())


def _joined(ids: Int32Array, words: WrongWords, first: int, last: int) -> WrongWords:
    """Return the words from `first` to before `last` as one, with the ids between them."""
    right: list[Int32Array] = []
    end = int(words.bounds[first, 0])
    for number in range(first, last):
        right += (ids[end : words.bounds[number, 0]], words.right[slice(*words.right_bounds[number : number + 2])])
        end = int(words.bounds[number, 1])
    one = words.chosen(np.arange(len(words.bounds)) == first)
    canonical = np.concatenate(right)
    bounds = np.array([[words.bounds[first, 0], end]])
    return one._replace(
        bounds=bounds, right=canonical, right_bounds=np.array([0, len(canonical)]), text=np.array([OTHER])
    )


def _have_same_text(trip: RoundTrip, ids: Int32Array, words: WrongWords, begins: bool) -> BoolArray:
    """Return which words have the same text as their canonical ids, spaces left out."""
    given, bounds = _given(ids, words)
    is_first = _begins(words, begins)
    try:
        decoded, again = (trip.decode(each, begins=is_first) for each in (given, words.right))
    except TokenStreamError:
        return np.zeros(len(words.bounds), dtype=np.bool_)
    if again.text == decoded.text:
        return np.ones(len(words.bounds), dtype=np.bool_)
    return _same_but_for_spaces(decoded, bounds, again, words.right_bounds)


def _begins(words: WrongWords, begins: bool) -> bool:
    """Return whether a text begins with the first word."""
    return begins and len(words.bounds) > 0 and not words.bounds[0, 0]


def _given(ids: Int32Array, words: WrongWords) -> tuple[Int32Array, Int64Array]:
    """Return the ids of words, and where the ids of each word begin."""
    chosen, bounds = ranges(*words.bounds.T)
    return ids[chosen], bounds


def _same_but_for_spaces(left: Decoded, bounds: Int64Array, right: Decoded, other_bounds: Int64Array) -> BoolArray:
    """Return which words have the same bytes in both texts, spaces left out; the bytes of word k end at an id's end."""
    (solid, at), (other_solid, other_at) = _solid(left, bounds), _solid(right, other_bounds)
    same: BoolArray = np.diff(at) == np.diff(other_at)
    indices, offsets = ranges(at[:-1][same], at[1:][same])
    other_indices, _ = ranges(other_at[:-1][same], other_at[1:][same])
    differs = running_sum(solid[indices] != other_solid[other_indices])
    same[np.flatnonzero(same)[np.diff(differs[offsets]) > 0]] = False
    return same


def _solid(decoded: Decoded, bounds: Int64Array) -> tuple[np.ndarray, Int64Array]:
    """Return the bytes of a text without spaces, and where the bytes of each word begin."""
    data = np.frombuffer(decoded.text.encode("utf-8"), dtype=np.uint8)
    is_solid = data != _SPACE
    return data[is_solid], running_sum(is_solid)[np.append(0, decoded.ends)[bounds]]


def differing_parts_of(
    trip: RoundTrip,
    ids: Int32Array,
    words: WrongWords,
    *,
    begins: bool,
    following: int = TEXT_ENDS,
    unjudged: Int64Array | tuple[()] = (),
) -> Int64Array:
    """Return where wrong words among ids, as :func:`whole_words` returns them, differ from their canonical ids.

    `following` is `UNKNOWN` unless the text ends with the ids; the ids from the indices `unjudged` on may not be
    canonical either. Returns an int64 array of shape (parts, 7), in order: the word; the first id of a part and the one
    after its last; the same of ``words.right``; the bytes of the word before the part; and whether the following ids
    decide where the two first differ. Parts are between neighbouring ends of ids that both share, without their common
    beginning and end; a word with canonical ids of another text is one part.
    """
    found = [_parts_of(trip, ids, words, kind, begins) for kind in (SAME, ASKED) if (words.text == kind).any()]
    if (words.text == OTHER).any():
        found.append(_whole_parts(trip, ids, words, begins))
    if not found:
        return np.zeros((0, 7), dtype=np.int64)
    parts = found[0] if len(found) == 1 else np.concatenate(found)
    # The common beginning of both sides may be all of one of them: the next ids tell where they differ.
    short = np.flatnonzero(parts[:, 6])
    word, start, low = parts[short, 0], parts[short, 1], parts[short, 3]
    end = words.bounds[word, 1]
    given, canonical = _ids_at(ids, start, following), _ids_at(ids, end, following)
    is_before_other = np.append(words.bounds[1:, 0], -1)[word] == end
    canonical[is_before_other | (np.isin(end, unjudged) & (end < len(ids)))] = UNKNOWN
    is_within = low < words.right_bounds[word + 1]
    canonical[is_within] = words.right[low[is_within]]
    parts[short, 6] = (given == canonical) | (given == UNKNOWN) | (canonical == UNKNOWN)
    if len(found) == 1:
        return parts
    # PERF: a stable sort merges runs that are in order, several times as fast as one by two keys.
    return parts[np.argsort(parts[:, 0] * (len(ids) + 1) + parts[:, 1], kind="stable")]


def _ids_at(ids: Int32Array, indices: Int64Array, following: int) -> Int32Array:
    """Return the ids at some indices, which may be the one after the last."""
    found: Int32Array = ids[np.minimum(indices, len(ids) - 1)]
    found[indices == len(ids)] = following
    return found


def _parts_of(trip: RoundTrip, ids: Int32Array, words: WrongWords, kind: int, begins: bool) -> Int64Array:
    """Return the parts of the words of a kind, as :func:`differing_parts_of` does; all short ones are undecided."""
    number = np.flatnonzero(words.text == kind)
    some = words if len(number) == len(words.text) else words.chosen(words.text == kind)
    given, bounds = _given(ids, some)
    right, right_bounds = some.right, some.right_bounds
    if kind == SAME:
        ends, others = (np.cumsum(trip.word_sizes[side]) for side in (given, right))
    else:
        decoded, again = (trip.decode(side, begins=_begins(some, begins)) for side in (given, right))
        ends, in_text = decoded.ends, ends_in(decoded.text, again)
        assert in_text is not None
        others = in_text
    byte_at = np.append(0, ends)
    starts = byte_at[bounds[:-1]]
    rows = find_differences(
        Tokenizations(given, ends, bounds, starts), Tokenizations(right, others, right_bounds, starts)
    )
    at = rows[:, 0]
    parts, is_short = _trimmed(given, right, rows[:, 1:])
    word = number[at]
    move, other_move = words.bounds[word, 0] - bounds[at], words.right_bounds[word] - right_bounds[at]
    sides = (parts.starts + move, parts.stops + move, parts.lows + other_move, parts.highs + other_move)
    found = np.column_stack((word, *sides, byte_at[parts.starts] - starts[at], is_short))
    return _not_empty(found)


def _whole_parts(trip: RoundTrip, ids: Int32Array, words: WrongWords, begins: bool) -> Int64Array:
    """Return words with another text as parts, each without the common beginning and end of both sides."""
    whole = np.flatnonzero(words.text == OTHER)
    begin = words.bounds[whole, 0]
    sides = (begin, words.bounds[whole, 1], words.right_bounds[whole], words.right_bounds[whole + 1])
    parts, is_short = _trimmed(ids, words.right, np.column_stack((*sides, np.zeros(len(whole), dtype=np.int64))))
    chosen, bounds = ranges(begin, parts.starts)
    sizes = trip.word_sizes[ids[chosen]]
    if sizes.min(initial=0) < 0:
        sizes = np.diff(trip.decode(ids[chosen], begins=False).ends, prepend=0)
    before = np.diff(running_sum(sizes)[bounds])
    if begins and not begin[0]:
        before[0] = trip.decode(ids[: parts.starts[0]]).ends[-1:].sum()
    return _not_empty(np.column_stack((whole, *parts[:4], before, is_short)))


def _trimmed(ids: Int32Array, right: Int32Array, rows: Int64Array) -> tuple[Parts, BoolArray]:
    """Return parts without the common beginning and end of both sides, and where all of one side begins the other."""
    parts = trimmed(ids, right, rows, NO_CUTS)
    is_short: BoolArray = ((parts.starts == parts.stops) | (parts.lows == parts.highs)) & (parts.stops == rows[:, 1])
    return parts, is_short


def _not_empty(parts: Int64Array) -> Int64Array:
    return parts[(parts[:, 1] < parts[:, 2]) | (parts[:, 3] < parts[:, 4])]
