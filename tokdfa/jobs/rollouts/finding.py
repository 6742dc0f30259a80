"""Finding the spans of many rollouts: by a walk over their ids where a walk decides, else by the definition.

By the definition, where words between cuts of the text are encoded alone, many texts are compared word by word at once,
and a word that is known to be canonical is not looked at again. So of the WordPiece ids 11 12 13, for " the", " dri"
and "##fty", only the last two are decoded, encoded and compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, offsets_of, ranges, running_sum
from tokdfa.base.errors import AlphabetError, LimitExceededError, TokenStreamError
from tokdfa.jobs.rollouts.spans import NOT_ENCODABLE, NOT_UTF8, Spans, in_order, joined, nothing, without_ids
from tokdfa.jobs.validation.api import validate
from tokdfa.jobs.validation.differences import compare_texts, differences
from tokdfa.jobs.validation.engine import engine_of
from tokdfa.jobs.validation.engines.blocks import differing, encode_parts, is_split_at_once
from tokdfa.jobs.validation.model import Model
from tokdfa.jobs.validation.table import Table
from tokdfa.kernels.unigram.accept import WrongWords
from tokdfa.kernels.walk.differences import Tokenizations, find_differences
from tokdfa.tokenizers.decoder import Decoded, SpelledTexts
from tokdfa.tokenizers.derived import OfTokenizer
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.round_trip import Ends, RoundTrip

_MOST_UNITS = 1 << 14


class Finder(OfTokenizer["AnyTokenizer"]):
    """Finds the spans of streams that differ from the canonical ids, by the definition.

    Streams that validation accepts by something cheaper than encoding are not encoded.
    """

    def __init__(self, tokenizer: AnyTokenizer, *, by_encoding: bool) -> None:
        super().__init__(tokenizer)
        self._encodes = by_encoding

    def find(self, ids: Int32Array, begins: Int64Array, ends: Int64Array) -> Spans:
        """Return the spans of streams, in order: stream k has the ids from ``begins[k]`` to ``ends[k]``."""
        lows, highs = begins, ends
        if not self._encodes:
            streams = zip(begins.tolist(), ends.tolist(), strict=True)
            is_wrong = [low < high and not validate(self.tokenizer, ids[low:high]) for low, high in streams]
            lows, highs = begins[is_wrong], ends[is_wrong]
        return in_order(_all_by_encoding(self.tokenizer, ids, lows, highs), begins) if len(lows) else nothing()


class WalkFinder(Finder):
    """Finds spans by one walk over all ids; only the wrong parts are encoded, with a little around them.

    Streams with a wrong part that is not UTF-8, is not in the normalization form, or spells a special token are judged
    by the definition.
    """

    def __init__(self, tokenizer: AnyTokenizer, model: Model, walk: Table) -> None:
        super().__init__(tokenizer, by_encoding=False)
        self._model = model
        self._walk = walk

    def find(self, ids: Int32Array, begins: Int64Array, ends: Int64Array) -> Spans:
        """Return the spans of streams; see :meth:`Finder.find`."""
        try:
            parts, _ = self._walk.wrong_parts(ids, begins, ends)
        except LimitExceededError:
            return super().find(ids, begins, ends)
        if not len(parts):
            return nothing()
        stream = np.searchsorted(begins, parts[:, 0], side="right") - 1
        encoded, is_odd = encode_parts(self._model, ids, parts, ends[stream], stream, around_broken=False)
        rows = differing(self._model, ids, encoded, by_pieces=False)
        bounds = np.column_stack((rows.first, rows.first + rows.spans[:, 1] - rows.spans[:, 0]))
        found = Spans.encoded(bounds, rows.canonical, np.append(0, rows.canonical_spans[:, 1]))
        if not is_odd.any():
            return found
        others = self._in_odd_streams(ids, parts[is_odd], stream[is_odd], begins, ends)
        return in_order(joined([found, *others]), begins)

    def _in_odd_streams(
        self, ids: Int32Array, parts: Int64Array, stream: Int64Array, begins: Int64Array, ends: Int64Array
    ) -> Iterator[Spans]:
        """Yield the spans of streams with parts that are not UTF-8 or spell something odd."""
        trip = self.tokenizer.round_trip
        lows: list[int] = []
        highs: list[int] = []
        for number in np.unique(stream).tolist():
            begin, end = int(begins[number]), int(ends[number])
            own = parts[stream == number].tolist()
            indices = np.concatenate([low + np.flatnonzero(_bad_ids(trip, ids[low:high])) for low, high in own])
            if not len(indices):
                yield _by_encoding(trip, ids[begin:end]).moved(begin)
                continue
            yield without_ids(np.column_stack((indices, indices + 1)), NOT_UTF8)
            lows += [begin, *(indices + 1).tolist()]
            highs += [*indices.tolist(), end]
        if lows:
            rest = np.array([lows, highs], dtype=np.int64)
            yield self.find(ids, *np.ascontiguousarray(rest[:, rest[0] < rest[1]]))


def finder_of(tokenizer: AnyTokenizer) -> Finder:
    """Return the finder of the spans of a tokenizer, a derived table."""
    engine = tokenizer.derived(engine_of)
    model = engine.model
    if model is not None and model.table is not None and is_split_at_once(model):
        return WalkFinder(tokenizer, model, model.table)
    return Finder(tokenizer, by_encoding=engine.model is None)


def _by_encoding(trip: RoundTrip, ids: Int32Array) -> Spans:
    """Return the spans of a stream that differ, by the definition: decode it, encode its text, and compare."""
    found: list[Spans] = []
    cuts = np.concatenate(([-1], np.flatnonzero(trip.cuts[ids]), [len(ids)])).tolist()
    for before, stop in pairwise(cuts):
        found += _found_in(trip, ids, before + 1, stop, begins=True)
    return in_order(joined(found))


def _all_by_encoding(tokenizer: AnyTokenizer, ids: Int32Array, begins: Int64Array, ends: Int64Array) -> Spans:
    """Return the spans of several streams, not in order: most streams are encoded at once."""
    trip = tokenizer.round_trip
    lows, highs = begins, ends
    if trip.cuts.any():
        indices, _ = ranges(begins, ends)
        cuts = indices[trip.cuts[ids[indices]]]
        lows, highs = np.sort(np.concatenate((begins, cuts + 1))), np.sort(np.concatenate((ends, cuts)))
    lows, highs = lows[lows < highs], highs[lows < highs]
    found, is_odd = _by_words(tokenizer, ids, lows, highs) or _by_texts(trip, ids, lows, highs)
    odd = np.flatnonzero(is_odd)
    one_by_one = zip(lows[odd].tolist(), highs[odd].tolist(), strict=True)
    return joined([found, *(part for low, high in one_by_one for part in _found_in(trip, ids, low, high, begins=True))])


def _by_texts(trip: RoundTrip, ids: Int32Array, lows: Int64Array, highs: Int64Array) -> _SomeFound:
    """Return the spans of texts that are decoded, encoded and compared at once."""
    indices, bounds = ranges(lows, highs)
    compared = compare_texts(trip, ids[indices], bounds)
    if compared is None:
        return _SomeFound(nothing(), np.ones(len(lows), dtype=np.bool_))
    rows, canonical = compared.rows, compared.canonical
    chosen, offsets = ranges(rows[:, 3], rows[:, 4])
    bounds = rows[:, 1:3] + (lows - bounds[:-1])[rows[:, :1]]
    return _SomeFound(Spans.encoded(bounds, canonical[chosen], offsets), compared.is_odd)


def _found_in(trip: RoundTrip, ids: Int32Array, begin: int, stop: int, *, begins: bool) -> Iterator[Spans]:
    """Yield the spans of the ids from `begin` to `stop`, before and after which the text is cut."""
    waiting = [(begin, stop, begins)]
    while waiting:
        begin, stop, begins = waiting.pop()
        part = ids[begin:stop]
        if not len(part):
            continue
        try:
            decoded = trip.decode(part, begins=begins)
        except TokenStreamError:
            is_bad = _bad_ids(trip, part)
            bad = begin + np.flatnonzero(is_bad if is_bad.any() else ~is_bad)
            # The parts between the ids without a text, in the order in which they are taken up again.
            indices = [begin - 1, *bad.tolist(), stop]
            rest = [(low + 1, high, begins and low < begin) for low, high in pairwise(indices) if high > low + 1]
            waiting += reversed(rest)
            yield without_ids(np.column_stack((bad, bad + 1)), NOT_UTF8)
            continue
        try:
            canonical = trip.encode(decoded.text, begins=begins)
        except AlphabetError:
            yield without_ids(np.array([[begin, stop]]), NOT_ENCODABLE)
            continue
        if np.array_equal(part, canonical):
            continue
        ends, others = ends_of_both(trip, part, canonical, decoded, begins)
        cut = np.flatnonzero(trip.boundaries.always_cut(part)) + 1 if others is None else np.zeros(0, dtype=np.int64)
        if len(cut):
            indices = [begin, *(begin + cut).tolist(), stop]
            rest = [(low, high, begins and low == begin) for low, high in pairwise(indices)]
            waiting += reversed([rest[number] for number in _wrong_units(trip, part, cut, begins)])
            continue
        rows = differences(part, ends, canonical, others)
        chosen, offsets = ranges(*rows[:, 2:].T)
        yield Spans.encoded(rows[:, :2] + begin, canonical[chosen], offsets)


def _wrong_units(trip: RoundTrip, ids: Int32Array, cuts: Int64Array, begins: bool) -> list[int]:
    """Return the numbers of the parts between cuts that may not be canonical: the ones with wrong words, or all."""
    if trip.checks_words:
        n, _, _, words = trip.wrong_words(ids, begins=begins)
        if n == len(ids):
            return [*np.unique(np.searchsorted(cuts, words.bounds[:, 0], side="right")).tolist()]
    return [*range(len(cuts) + 1)]


def _bad_ids(trip: RoundTrip, ids: Int32Array) -> BoolArray:
    """Return, for each id, whether it has a byte that is not UTF-8."""
    data, ends = trip.spelled(ids)
    text = data.decode("utf-8", "surrogateescape")
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    is_bad = (points >= 0xDC80) & (points <= 0xDCFF)
    sizes = np.where(is_bad, 1, 1 + (points >= 0x80) + (points >= 0x800) + (points >= 0x10000))
    indices = (running_sum(sizes)[:-1])[is_bad]
    bad: BoolArray = np.zeros(len(ids), dtype=np.bool_)
    bad[np.searchsorted(ends, indices, side="right")] = True
    return bad


# Many texts at once


class _SomeFound(NamedTuple):
    """The spans of texts, except undecided ones: a bool array, one entry a text."""

    spans: Spans
    undecided: BoolArray


def _by_words(tokenizer: AnyTokenizer, ids: Int32Array, lows: Int64Array, highs: Int64Array) -> _SomeFound | None:
    """Return the spans of texts, of the ids from ``lows[k]`` to ``highs[k]``, at least one; None without words."""
    trip = tokenizer.round_trip
    if not len(lows) or trip.boundaries.why_none is not None:
        return None
    if trip.checks_words:
        return _of_wrong_words(tokenizer, ids, lows, highs)
    return _of_longest_matches(tokenizer, ids, lows, highs) if trip.takes_longest else None


def _of_longest_matches(tokenizer: AnyTokenizer, ids: Int32Array, lows: Int64Array, highs: Int64Array) -> _SomeFound:
    """Return the same as :func:`_by_words`, where the longest match is taken."""
    from tokdfa.tokenizers.models.wordpiece.end_to_end import Reencoder

    if np.array_equal(lows[1:], highs[:-1]):
        indices, bounds = np.arange(lows[0], highs[-1]), np.append(lows, highs[-1:]) - lows[0]
    else:
        indices, bounds = ranges(lows, highs)
    words = tokenizer.derived(Reencoder).encode(ids[indices], bounds)
    rows = find_differences(
        Tokenizations(words.ids, words.ends, words.bounds, words.starts),
        Tokenizations(words.canonical, words.canonical_ends, words.canonical_bounds, words.starts),
    )
    text = _number(words.indices[words.bounds[:-1]], bounds)
    undecided = np.zeros(len(lows), dtype=np.bool_)
    undecided[text[words.is_odd]] = True
    rows = rows[~undecided[text[rows[:, 0]]]]
    return _SomeFound(_spans(rows, indices[words.indices], words.canonical), undecided)


def _of_wrong_words(tokenizer: AnyTokenizer, ids: Int32Array, lows: Int64Array, highs: Int64Array) -> _SomeFound:
    """Return the same as :func:`_by_words`, where each text is judged word by word."""
    trip = tokenizer.round_trip
    undecided = np.zeros(len(lows), dtype=np.bool_)
    parts: list[WrongWords] = []
    for text, (low, high) in enumerate(zip(lows.tolist(), highs.tolist(), strict=True)):
        n, _, _, words = trip.wrong_words(ids[low:high])
        undecided[text] = n < high - low
        if n == high - low and len(words.bounds):
            parts.append(words.moved(low, 0))
    if not parts:
        return _SomeFound(nothing(), undecided)
    words = WrongWords.joined(parts)
    begins: BoolArray = np.isin(words.bounds[:, 0], lows)
    # The first word of a text is decoded in another way.
    first, is_odd = _compared(trip, ids, words.chosen(begins), begins=True)
    rest, rest_is_odd = _compared(trip, ids, words.chosen(~begins), begins=False)
    odd = np.sort(np.append(np.flatnonzero(begins)[is_odd], np.flatnonzero(~begins)[rest_is_odd]))
    if not len(odd):
        return _SomeFound(joined((first, rest)), undecided)
    is_cut = np.ones(len(ids) + 1, dtype=np.bool_)
    is_cut[1:-1] = trip.boundaries.always_cut(ids)
    is_cut[lows] = is_cut[highs] = True
    cuts = np.flatnonzero(is_cut)
    unit = np.unique(np.searchsorted(cuts, words.bounds[odd, 0], side="right"))
    units = np.column_stack((cuts[unit - 1], cuts[unit]))
    in_units, is_other_text = tokenizer.derived(_Units).find(trip, ids, words, units, np.isin(units[:, 0], lows))
    # If a unit has another text, so does the whole text, and each unit is compared by itself.
    undecided[np.setdiff1d(_number(units[:, 0], lows), _number(units[is_other_text, 0], lows))] = True
    found = joined((first, rest))
    number = _number(found.bounds[:, 0], units[:, 0])
    found = joined((found.where((number < 0) | (found.bounds[:, 0] >= units[number, 1])), in_units))
    return _SomeFound(found.where(~undecided[_number(found.bounds[:, 0], lows)]), undecided)


def _number(indices: Int64Array, lows: Int64Array) -> Int64Array:
    """Return the number of the text that each index is in, given where the texts begin."""
    return np.searchsorted(lows, indices, side="right") - 1


def _compared(trip: RoundTrip, ids: Int32Array, words: WrongWords, *, begins: bool) -> tuple[Spans, BoolArray]:
    """Return the spans of wrong words, and which of them are odd: their canonical ids have another text.

    All words are the first of their texts if it `begins`; otherwise none is. A word with an id that adds nothing to
    the text is odd as well.
    """
    indices, bounds = ranges(*words.bounds.T)
    given, right = ids[indices], words.right
    spelled, other = (
        trip.spell_texts(side, each, begins=begins) for side, each in ((given, bounds), (right, words.right_bounds))
    )
    if spelled is None or other is None:
        return nothing(), np.ones(len(words.bounds), dtype=np.bool_)
    sides = _Side(given, spelled, bounds), _Side(right, other, words.right_bounds)
    is_odd = _differ(*sides)
    rows = find_differences(*(side.tokenizations for side in sides))
    return _spans(rows[~is_odd[rows[:, 0]]], indices, right), is_odd


class _Side:
    """The ids of words, their bytes, and which ids each word has."""

    def __init__(self, ids: Int32Array, spelled: SpelledTexts, bounds: Int64Array) -> None:
        begins = np.append(0, spelled.ends)
        self.data = spelled.data
        # Where the bytes of each word begin, and how many there are.
        self.starts: Int64Array = begins[bounds[:-1]] + np.maximum(spelled.removed, 0)
        self.sizes: Int64Array = begins[bounds[1:]] - self.starts
        self.tokenizations = Tokenizations(ids, spelled.ends, bounds, self.starts)
        # For each word, whether it is empty, an id has no bytes, or it is not known how many are removed from it.
        silent = running_sum(np.diff(spelled.ends, prepend=0) == 0)
        self.is_silent: BoolArray = np.diff(silent[bounds]) > 0
        self.is_silent |= (spelled.removed < 0) | (bounds[:-1] == bounds[1:])


def _differ(given: _Side, canonical: _Side) -> BoolArray:
    """Return which words do not have the same bytes on both sides, or have an id without any."""
    is_odd = given.is_silent | canonical.is_silent | (given.sizes != canonical.sizes)
    sizes = np.where(is_odd, 0, given.sizes)
    indices, bounds = ranges(given.starts, given.starts + sizes)
    other_indices, _ = ranges(canonical.starts, canonical.starts + sizes)
    differs = running_sum(given.data[indices] != canonical.data[other_indices])
    found: BoolArray = is_odd | (np.diff(differs[bounds]) > 0)
    return found


class _Units:
    """The parts of units that differ, by their ids and the canonical ids of their text: units repeat.

    A unit is between two neighbouring cuts of a text.
    """

    def __init__(self, tokenizer: AnyTokenizer) -> None:
        self._known: dict[tuple[bytes, bytes, bool], tuple[list[list[int]], bool]] = {}

    def find(
        self, trip: RoundTrip, ids: Int32Array, words: WrongWords, units: Int64Array, begins: BoolArray
    ) -> tuple[Spans, BoolArray]:
        """Return the spans of units that have wrong words, and whether the canonical ids of each have another text.

        `begins` is whether a text begins with each, and spaces do not make another text.
        """
        is_other_text = np.zeros(len(units), dtype=np.bool_)
        bounds: list[list[int]] = []
        canonical: list[Int32Array] = []
        numbers = np.searchsorted(words.bounds[:, 0], units).tolist()
        for at, (first, last) in enumerate(numbers):
            start, stop = units[at].tolist()
            right = _right_of(ids, words, (start, stop), range(first, last))
            parts, is_other_text[at] = self._parts(trip, ids[start:stop], right, bool(begins[at]))
            for low, high, other_low, other_high in parts:
                bounds.append([start + low, start + high])
                canonical.append(right[other_low:other_high])
        rows = np.array(bounds, dtype=np.int64).reshape(-1, 2)
        return Spans.encoded(rows, np.concatenate((ids[:0], *canonical)), offsets_of(canonical)), is_other_text

    def _parts(self, trip: RoundTrip, ids: Int32Array, right: Int32Array, begins: bool) -> tuple[list[list[int]], bool]:
        name = ids.tobytes(), right.tobytes(), begins
        parts = self._known.get(name)
        if parts is None:
            if len(self._known) >= _MOST_UNITS:
                self._known.clear()
            ends, others = ends_of_both(trip, ids, right, trip.decode(ids, begins=begins), begins)
            parts = self._known[name] = differences(ids, ends, right, others).tolist(), others is None
        return parts


def _right_of(ids: Int32Array, words: WrongWords, bounds: tuple[int, int], numbers: range) -> Int32Array:
    """Return the canonical ids of the ids between bounds, among which the words of these numbers are wrong."""
    right: list[Int32Array] = []
    end, stop = bounds
    for number in numbers:
        right += (ids[end : words.bounds[number, 0]], words.right[slice(*words.right_bounds[number : number + 2])])
        end = int(words.bounds[number, 1])
    return np.concatenate((*right, ids[end:stop]))


def _spans(rows: Int64Array, indices: Int64Array, canonical: Int32Array) -> Spans:
    """Return differences as spans, given the index of each id of the words among the ids of all texts."""
    chosen, offsets = ranges(rows[:, 3], rows[:, 4])
    bounds = np.column_stack((indices[rows[:, 1]], indices[rows[:, 2] - 1] + 1))
    return Spans.encoded(bounds, canonical[chosen], offsets)


def ends_of_both(
    trip: RoundTrip, ids: Int32Array, canonical: Int32Array, decoded: Decoded, begins: bool
) -> tuple[Int64Array, Ends | None]:
    """Return the ends of ids and of the canonical ids of their text; None for these if they have another text."""
    ends, others = decoded.ends, trip.ends(canonical, decoded, begins=begins)
    if others is not None and _each_adds(ends) and _each_adds(others) and ends[-1] == others[-1]:
        return ends, others
    # Ids that spell the same bytes show their boundaries even within a symbol.
    (data, spelled), (other_data, other_spelled) = trip.spelled(ids), trip.spelled(canonical)
    return (spelled, other_spelled) if data == other_data else (ends, others)


def _each_adds(ends: Ends) -> bool:
    """Return whether each id adds something to the text."""
    return len(ends) > 0 and bool(ends[0] > 0 and (ends[1:] > ends[:-1]).all())
