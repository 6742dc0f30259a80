"""Finding the stretches of many rollouts: by a walk over their ids where a walk decides, else by the definition."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, running_sum
from tokdfa.base.errors import AlphabetError, LimitExceededError, TokenStreamError
from tokdfa.jobs.rollouts.stretches import (
    ENCODED,
    NOT_ENCODABLE,
    NOT_UTF8,
    Stretches,
    in_order,
    joined,
    nothing,
    without_ids,
)
from tokdfa.jobs.rollouts.words import ends_of_both, find_by_words
from tokdfa.jobs.validation.api import validate
from tokdfa.jobs.validation.differences import differences
from tokdfa.jobs.validation.engine import engine_of
from tokdfa.jobs.validation.judges.parts import differing_tokens, encode_parts, is_split_at_once
from tokdfa.jobs.validation.model import Model
from tokdfa.jobs.validation.reencoding import compare_texts
from tokdfa.jobs.validation.table import Table
from tokdfa.jobs.validation.violations import ranges
from tokdfa.tokenizers.derived import OfTokenizer
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.round_trip import RoundTrip


class Finder(OfTokenizer["AnyTokenizer"]):
    """Finds the stretches of streams that differ from the canonical ids, by the definition.

    Streams that validation accepts by something cheaper than encoding are not encoded.
    """

    def __init__(self, tokenizer: AnyTokenizer, *, is_judged_by_encoding: bool) -> None:
        super().__init__(tokenizer)
        self._encodes = is_judged_by_encoding

    def find(self, ids: Int32Array, begins: Int64Array, ends: Int64Array) -> Stretches:
        """Return the stretches of streams, in order: stream k has the ids from ``begins[k]`` to ``ends[k]``."""
        if self._encodes:
            return in_order(_all_by_encoding(self.tokenizer, ids, begins, ends), begins)
        streams = zip(begins.tolist(), ends.tolist(), strict=True)
        wrong = [(begin, end) for begin, end in streams if end > begin and not validate(self.tokenizer, ids[begin:end])]
        if not wrong:
            return nothing()
        rows = np.array(wrong, dtype=np.int64)
        return in_order(_all_by_encoding(self.tokenizer, ids, rows[:, 0], rows[:, 1]), begins)


class WalkFinder(Finder):
    """Finds stretches by one walk over all ids; only the wrong parts are encoded, with a little around them.

    Streams with a wrong part that is not UTF-8, is not in the normalization form, or spells a special token are judged
    by the definition.
    """

    def __init__(self, tokenizer: AnyTokenizer, model: Model, walk: Table) -> None:
        super().__init__(tokenizer, is_judged_by_encoding=False)
        self._model = model
        self._walk = walk

    def find(self, ids: Int32Array, begins: Int64Array, ends: Int64Array) -> Stretches:
        """Return the stretches of streams; see :meth:`Finder.find`."""
        try:
            parts, _ = self._walk.wrong_parts(ids, begins, ends)
        except LimitExceededError:
            return super().find(ids, begins, ends)
        if not len(parts):
            return nothing()
        stream = np.searchsorted(begins, parts[:, 0], side="right") - 1
        encoded, is_odd = encode_parts(self._model, ids, parts, ends[stream], stream, around_broken=False)
        rows = differing_tokens(self._model, ids, encoded)
        found = Stretches(
            np.column_stack((rows.first, rows.first + rows.spans[:, 1] - rows.spans[:, 0])),
            rows.canonical,
            np.append(0, rows.canonical_spans[:, 1]),
            np.full(len(rows.first), ENCODED, dtype=np.int8),
        )
        if not is_odd.any():
            return found
        return in_order(
            joined([found, *self._in_odd_streams(ids, parts[is_odd], stream[is_odd], begins, ends)]), begins
        )

    def _in_odd_streams(
        self, ids: Int32Array, parts: Int64Array, stream: Int64Array, begins: Int64Array, ends: Int64Array
    ) -> Iterator[Stretches]:
        """Yield the stretches of streams with parts that are not UTF-8 or spell something odd."""
        trip = self.tokenizer.round_trip
        lows: list[int] = []
        highs: list[int] = []
        for number in np.unique(stream).tolist():
            begin, end = int(begins[number]), int(ends[number])
            own = parts[stream == number].tolist()
            places = np.concatenate([low + np.flatnonzero(_bad_ids(trip, ids[low:high])) for low, high in own])
            if not len(places):
                yield _by_encoding(trip, ids[begin:end]).moved(begin)
                continue
            yield without_ids(np.column_stack((places, places + 1)), NOT_UTF8)
            lows += [begin, *(places + 1).tolist()]
            highs += [*places.tolist(), end]
        if lows:
            rest = np.array([lows, highs], dtype=np.int64)
            yield self.find(ids, *np.ascontiguousarray(rest[:, rest[0] < rest[1]]))


def finder_of(tokenizer: AnyTokenizer) -> Finder:
    """Return the finder of the stretches of a tokenizer, a derived table."""
    engine = tokenizer.derived(engine_of)
    model = engine.model
    if model is not None and model.table is not None and is_split_at_once(model):
        return WalkFinder(tokenizer, model, model.table)
    return Finder(tokenizer, is_judged_by_encoding=engine.model is None)


def _by_encoding(trip: RoundTrip, ids: Int32Array) -> Stretches:
    """Return the stretches of a stream that differ, by the definition: decode it, encode its text, and compare."""
    found: list[Stretches] = []
    cuts = np.concatenate(([-1], np.flatnonzero(trip.cuts[ids]), [len(ids)])).tolist()
    for before, stop in pairwise(cuts):
        found += _found_in(trip, ids, before + 1, stop, begins=True)
    return in_order(joined(found))


def _all_by_encoding(tokenizer: AnyTokenizer, ids: Int32Array, begins: Int64Array, ends: Int64Array) -> Stretches:
    """Return the stretches of several streams, not in order: most streams are encoded at once."""
    trip = tokenizer.round_trip
    lows, highs = begins, ends
    if trip.cuts.any():
        places, _ = ranges(begins, ends)
        cuts = places[trip.cuts[ids[places]]]
        lows, highs = np.sort(np.concatenate((begins, cuts + 1))), np.sort(np.concatenate((ends, cuts)))
    lows, highs = lows[lows < highs], highs[lows < highs]
    by_words = find_by_words(tokenizer, ids, lows, highs)
    if by_words is not None:
        found, odd = by_words.stretches, np.flatnonzero(by_words.undecided)
    else:
        found, odd = _compared(trip, ids, lows, highs)
    one_by_one = zip(lows[odd].tolist(), highs[odd].tolist(), strict=True)
    return joined([found, *(part for low, high in one_by_one for part in _found_in(trip, ids, low, high, begins=True))])


def _compared(trip: RoundTrip, ids: Int32Array, lows: Int64Array, highs: Int64Array) -> tuple[Stretches, Int64Array]:
    """Return the stretches of texts that are decoded, encoded and compared at once, and the numbers of the others."""
    places, bounds = ranges(lows, highs)
    compared = compare_texts(trip, ids[places], bounds)
    rows, canonical = compared.rows, compared.canonical
    chosen, offsets = ranges(rows[:, 3], rows[:, 4])
    found = Stretches(
        rows[:, 1:3] + (lows - bounds[:-1])[rows[:, :1]],
        canonical[chosen],
        offsets,
        np.full(len(rows), ENCODED, dtype=np.int8),
    )
    return found, np.flatnonzero(compared.is_odd)


def _found_in(trip: RoundTrip, ids: Int32Array, begin: int, stop: int, *, begins: bool) -> Iterator[Stretches]:
    """Yield the stretches of the ids from `begin` to `stop`, before and after which the text is cut."""
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
            places = [begin - 1, *bad.tolist(), stop]
            rest = [(low + 1, high, begins and low < begin) for low, high in pairwise(places) if high > low + 1]
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
            places = [begin, *(begin + cut).tolist(), stop]
            rest = [(low, high, begins and low == begin) for low, high in pairwise(places)]
            waiting += reversed([rest[number] for number in _wrong_units(trip, part, cut, begins)])
            continue
        rows = differences(part, ends, canonical, others)
        pieces = [canonical[low:high] for low, high in rows[:, 2:].tolist()]
        yield Stretches(
            rows[:, :2] + begin,
            np.concatenate((canonical[:0], *pieces)),
            running_sum(rows[:, 3] - rows[:, 2]),
            np.full(len(rows), ENCODED, dtype=np.int8),
        )


def _wrong_units(trip: RoundTrip, ids: Int32Array, cuts: Int64Array, begins: bool) -> list[int]:
    """Return the numbers of the parts between cuts that may not be canonical: the ones with wrong words, or all."""
    if trip.judges_words:
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
    places = (running_sum(sizes)[:-1])[is_bad]
    bad: BoolArray = np.zeros(len(ids), dtype=np.bool_)
    bad[np.searchsorted(ends, places, side="right")] = True
    return bad
