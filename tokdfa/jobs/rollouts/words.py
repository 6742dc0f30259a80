"""Finding stretches word by word, in many texts at once, where words between cuts of the text are encoded alone.

A word that is known to be canonical is not looked at again. So of the WordPiece ids 11 12 13, for " the", " dri" and
"##fty", only the last two are decoded, encoded and compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, running_sum
from tokdfa.jobs.rollouts.stretches import ENCODED, Stretches, joined, nothing
from tokdfa.jobs.validation.differences import differences
from tokdfa.jobs.validation.violations import ranges
from tokdfa.kernels.unigram.accept import WrongWords
from tokdfa.kernels.walk.differences import Tokenizations, find_differences

if TYPE_CHECKING:
    from tokdfa.tokenizers.decoder import SpelledTexts
    from tokdfa.tokenizers.encoding.encoded import Decoded
    from tokdfa.tokenizers.protocol import AnyTokenizer
    from tokdfa.tokenizers.round_trip import Ends, RoundTrip

_MOST_UNITS = 1 << 14


class FoundByWords(NamedTuple):
    """The stretches of texts, except texts that words do not decide: a bool array, one entry a text."""

    stretches: Stretches
    undecided: BoolArray


def find_by_words(tokenizer: AnyTokenizer, ids: Int32Array, lows: Int64Array, highs: Int64Array) -> FoundByWords | None:
    """Return the stretches of texts, of the ids from ``lows[k]`` to ``highs[k]``, at least one; None without words."""
    trip = tokenizer.round_trip
    if not len(lows) or trip.boundaries.why_none is not None:
        return None
    if trip.judges_words:
        return _of_wrong_words(tokenizer, ids, lows, highs)
    return _of_longest_matches(tokenizer, ids, lows, highs) if trip.takes_longest else None


def _of_longest_matches(tokenizer: AnyTokenizer, ids: Int32Array, lows: Int64Array, highs: Int64Array) -> FoundByWords:
    """Return the same as :func:`find_by_words`, where the longest match is taken."""
    from tokdfa.tokenizers.models.wordpiece.reencoding import Reencoder

    if np.array_equal(lows[1:], highs[:-1]):
        places, bounds = np.arange(lows[0], highs[-1]), np.append(lows, highs[-1:]) - lows[0]
    else:
        places, bounds = ranges(lows, highs)
    words = tokenizer.derived(Reencoder).encode(ids[places], bounds)
    rows = find_differences(
        Tokenizations(words.ids, words.ends, words.bounds, words.starts),
        Tokenizations(words.canonical, words.canonical_ends, words.canonical_bounds, words.starts),
    )
    text = _number(words.places[words.bounds[:-1]], bounds)
    undecided = np.zeros(len(lows), dtype=np.bool_)
    undecided[text[words.is_odd]] = True
    rows = rows[~undecided[text[rows[:, 0]]]]
    return FoundByWords(_stretches(rows, places[words.places], words.canonical), undecided)


def _of_wrong_words(tokenizer: AnyTokenizer, ids: Int32Array, lows: Int64Array, highs: Int64Array) -> FoundByWords:
    """Return the same as :func:`find_by_words`, where each text is judged word by word."""
    trip = tokenizer.round_trip
    undecided = np.zeros(len(lows), dtype=np.bool_)
    parts: list[WrongWords] = []
    for text, (low, high) in enumerate(zip(lows.tolist(), highs.tolist(), strict=True)):
        n, _, _, words = trip.wrong_words(ids[low:high])
        undecided[text] = n < high - low
        if n == high - low and len(words.bounds):
            parts.append(words.moved(low, 0))
    if not parts:
        return FoundByWords(nothing(), undecided)
    words = WrongWords.joined(parts)
    begins: BoolArray = np.isin(words.bounds[:, 0], lows)
    # The first word of a text is decoded in another way.
    first, is_odd = _compared(trip, ids, words.chosen(begins), begins=True)
    rest, rest_is_odd = _compared(trip, ids, words.chosen(~begins), begins=False)
    odd = np.sort(np.append(np.flatnonzero(begins)[is_odd], np.flatnonzero(~begins)[rest_is_odd]))
    if not len(odd):
        return FoundByWords(joined((first, rest)), undecided)
    is_cut = np.ones(len(ids) + 1, dtype=np.bool_)
    is_cut[1:-1] = trip.boundaries.always_cut(ids)
    is_cut[lows] = is_cut[highs] = True
    cuts = np.flatnonzero(is_cut)
    unit = np.unique(np.searchsorted(cuts, words.bounds[odd, 0], side="right"))
    units = np.column_stack((cuts[unit - 1], cuts[unit]))
    in_units, is_other_text = tokenizer.derived(_Units).find(trip, ids, words, units, np.isin(units[:, 0], lows))
    # If a unit has another text, so does the whole text, and each unit is compared by itself.
    undecided[np.setdiff1d(_number(units[:, 0], lows), _number(units[is_other_text, 0], lows))] = True
    found = joined((*(each.where(~_are_in(each.bounds[:, 0], units)) for each in (first, rest)), in_units))
    return FoundByWords(found.where(~undecided[_number(found.bounds[:, 0], lows)]), undecided)


def _number(places: Int64Array, lows: Int64Array) -> Int64Array:
    """Return the number of the text that each index is in, given where the texts begin."""
    return np.searchsorted(lows, places, side="right") - 1


def _are_in(places: Int64Array, spans: Int64Array) -> BoolArray:
    """Return which indices are in spans, of shape (spans, 2), which ascend."""
    number = _number(places, spans[:, 0])
    inside: BoolArray = (number >= 0) & (places < spans[number, 1])
    return inside


def _compared(trip: RoundTrip, ids: Int32Array, words: WrongWords, *, begins: bool) -> tuple[Stretches, BoolArray]:
    """Return the stretches of wrong words, and which of them are odd: their canonical ids have another text.

    All words are the first of their texts if it `begins`; otherwise none is. A word with an id that adds nothing to
    the text is odd as well.
    """
    places, bounds = ranges(*words.bounds.T)
    given, right = ids[places], words.right
    spelled, other = (
        trip.spell_texts(side, each, begins=begins) for side, each in ((given, bounds), (right, words.right_bounds))
    )
    if spelled is None or other is None:
        return nothing(), np.ones(len(words.bounds), dtype=np.bool_)
    sides = _Side(given, spelled, bounds), _Side(right, other, words.right_bounds)
    is_odd = _differ(*sides)
    rows = find_differences(*(side.tokenizations for side in sides))
    return _stretches(rows[~is_odd[rows[:, 0]]], places, right), is_odd


class _Side(NamedTuple):
    """The ids of words, their bytes, and which ids each word has."""

    ids: Int32Array
    spelled: SpelledTexts
    bounds: Int64Array

    @property
    def starts(self) -> Int64Array:
        """Where the bytes of each word begin."""
        starts: Int64Array = np.append(0, self.spelled.ends)[self.bounds[:-1]] + np.maximum(self.spelled.removed, 0)
        return starts

    @property
    def tokenizations(self) -> Tokenizations:
        """The words as :func:`find_differences` takes them."""
        return Tokenizations(self.ids, self.spelled.ends, self.bounds, self.starts)

    @property
    def is_silent(self) -> BoolArray:
        """For each word, whether it is empty, an id has no bytes, or it is not known how many are removed from it."""
        silent = running_sum(np.diff(self.spelled.ends, prepend=0) == 0)
        is_silent: BoolArray = np.diff(silent[self.bounds]) > 0
        is_silent |= (self.spelled.removed < 0) | (self.bounds[:-1] == self.bounds[1:])
        return is_silent


def _differ(given: _Side, canonical: _Side) -> BoolArray:
    """Return which words do not have the same bytes on both sides, or have an id without any."""
    starts, other_starts = given.starts, canonical.starts
    sizes, other_sizes = (np.append(0, each.spelled.ends)[each.bounds[1:]] - each.starts for each in (given, canonical))
    is_odd = given.is_silent | canonical.is_silent | (sizes != other_sizes)
    sizes = np.where(is_odd, 0, sizes)
    places, bounds = ranges(starts, starts + sizes)
    other_places, _ = ranges(other_starts, other_starts + sizes)
    differs = running_sum(given.spelled.data[places] != canonical.spelled.data[other_places])
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
    ) -> tuple[Stretches, BoolArray]:
        """Return the stretches of units that have wrong words, and whether the canonical ids of each have another text.

        `begins` is whether a text begins with each, and spaces do not make another text.
        """
        is_other_text = np.zeros(len(units), dtype=np.bool_)
        bounds: list[list[int]] = []
        canonical: list[Int32Array] = [np.zeros(0, dtype=np.int32)]
        numbers = np.searchsorted(words.bounds[:, 0], units).tolist()
        for at, (first, last) in enumerate(numbers):
            start, stop = units[at].tolist()
            right = _right_of(ids, words, (start, stop), range(first, last))
            parts, is_other_text[at] = self._parts(trip, ids[start:stop], right, bool(begins[at]))
            for low, high, other_low, other_high in parts:
                bounds.append([start + low, start + high])
                canonical.append(right[other_low:other_high])
        offsets = running_sum(np.array([*map(len, canonical[1:])], dtype=np.int64))
        rows = np.array(bounds, dtype=np.int64).reshape(-1, 2)
        outcomes = np.full(len(rows), ENCODED, dtype=np.int8)
        return Stretches(rows, np.concatenate(canonical), offsets, outcomes), is_other_text

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


def _stretches(rows: Int64Array, places: Int64Array, canonical: Int32Array) -> Stretches:
    """Return differences as stretches, given the index of each id of the words among the ids of all texts."""
    chosen, offsets = ranges(rows[:, 3], rows[:, 4])
    bounds = np.column_stack((places[rows[:, 1]], places[rows[:, 2] - 1] + 1))
    return Stretches(bounds, canonical[chosen], offsets, np.full(len(rows), ENCODED, dtype=np.int8))


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
