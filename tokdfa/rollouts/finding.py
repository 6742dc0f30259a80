"""Finding the stretches of many rollouts: by a walk over their ids where a walk decides, else by the definition."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import ClassVar

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array, running_sum
from tokdfa.errors import AlphabetError, LimitExceededError, TokenStreamError
from tokdfa.rollouts.stretches import (
    ENCODED,
    NOT_ENCODABLE,
    NOT_UTF8,
    Stretches,
    in_order,
    joined,
    nothing,
    without_ids,
)
from tokdfa.splitting.certain import CONTEXT as SYMBOLS
from tokdfa.tokenizers.derived import OfTokenizer
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.round_trip import Ends, RoundTrip
from tokdfa.validation.api import validate
from tokdfa.validation.differences import differences
from tokdfa.validation.engine import engine_of
from tokdfa.validation.table import CONTEXT, Table

__all__ = ["Finder", "finder_of"]


class Finder(OfTokenizer["AnyTokenizer"]):
    """Finds the stretches of streams that differ from the canonical ids, by the definition.

    Streams that validation accepts by something cheaper than encoding are not encoded. `inserts` is whether a stretch
    may be without ids, and so be at the end of a stream or at the beginning of the next.
    """

    inserts: ClassVar[bool] = True

    def __init__(self, tokenizer: AnyTokenizer, *, is_judged_by_encoding: bool) -> None:
        super().__init__(tokenizer)
        self._encodes = is_judged_by_encoding

    def find(self, ids: Int32Array, begins: Int64Array, ends: Int64Array) -> Stretches:
        """Return the stretches of streams, in order: stream k has the ids from ``begins[k]`` to ``ends[k]``."""
        streams = zip(begins.tolist(), ends.tolist(), strict=True)
        return joined([self._in_stream(ids, begin, end) for begin, end in streams if end > begin])

    def _in_stream(self, ids: Int32Array, begin: int, end: int) -> Stretches:
        stream = ids[begin:end]
        if not self._encodes and validate(self.tokenizer, stream):
            return nothing()
        return _by_encoding(self.tokenizer.round_trip, stream).moved(begin)


class WalkFinder(Finder):
    """Finds stretches by one walk over all ids; only what is wrong is encoded, with a little around it.

    The walk encloses what is wrong between two places where the text is certainly cut, and text up to such a place is
    split in the same way whatever follows the next two symbols. So these parts are encoded with two more symbols, and
    compared up to where they end. Where such a part is not UTF-8, its whole stream is judged by the definition.
    """

    inserts = False

    def __init__(self, tokenizer: AnyTokenizer, walk: Table) -> None:
        super().__init__(tokenizer, is_judged_by_encoding=False)
        self._walk = walk
        self._lengths, self._special = walk.lengths, walk.special

    def find(self, ids: Int32Array, begins: Int64Array, ends: Int64Array) -> Stretches:
        """Return the stretches of streams; see :meth:`Finder.find`."""
        try:
            parts, _ = self._walk.wrong_parts(ids, begins, ends)
        except LimitExceededError:
            return super().find(ids, begins, ends)
        if not len(parts):
            return nothing()
        stream = np.searchsorted(begins, parts[:, 0], side="right") - 1
        found, is_odd = self._encoded(ids, parts, stream, ends)
        if not is_odd.any():
            return found
        return in_order(
            joined([found, *self._in_odd_streams(ids, parts[is_odd], stream[is_odd], begins, ends)]), begins
        )

    def _in_odd_streams(
        self, ids: Int32Array, parts: Int64Array, stream: Int64Array, begins: Int64Array, ends: Int64Array
    ) -> Iterator[Stretches]:
        """Yield the stretches of streams of which some parts are not UTF-8 or spell something odd."""
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

    def _encoded(
        self, ids: Int32Array, parts: Int64Array, stream: Int64Array, ends: Int64Array
    ) -> tuple[Stretches, BoolArray]:
        """Return the stretches of parts, and for each part whether it is odd; those of its stream are left out then."""
        begin, stop, part = self._between_specials(ids, parts)
        taken, offsets = _ranges(begin, np.minimum(stop + CONTEXT, ends[stream[part]]))
        around = ids[taken]
        data = self.tokenizer.decode_bytes(around)
        byte_at = running_sum(self._lengths[around])
        inner = offsets[:-1] + (stop - begin)
        # A special token ends the text.
        specials = np.append(np.flatnonzero(self._special[around]), len(around))
        after = np.minimum(specials[np.searchsorted(specials, inner)], offsets[1:])
        rows = zip(byte_at[offsets[:-1]].tolist(), byte_at[inner].tolist(), byte_at[after].tolist(), strict=True)
        odd: BoolArray = np.zeros(len(parts), dtype=np.bool_)
        encode = self.tokenizer.encode
        encoded: list[Int32Array] = []
        for number, (low, high, behind) in enumerate(rows):
            try:
                text = data[low:high].decode("utf-8")
                if behind > high:
                    text += data[high:behind].decode("utf-8", "ignore")[:SYMBOLS]
                encoded.append(encode(text))
            except (UnicodeDecodeError, AlphabetError):
                odd[part[number]] = True
                encoded.append(around[:0])
        canonical, n_canonical, is_whole = _up_to(encoded, byte_at[inner] - byte_at[offsets[:-1]], self._lengths)
        odd[part[~is_whole]] = True
        known = ~np.isin(stream, stream[odd])[part]
        given, bounds = _ranges(begin, stop)
        given = given[np.repeat(known, np.diff(bounds))]
        canonical = canonical[np.repeat(known, n_canonical)]
        return self._compared(ids, given, canonical), odd

    def _between_specials(self, ids: Int32Array, parts: Int64Array) -> tuple[Int64Array, Int64Array, Int64Array]:
        """Return the beginnings and ends of what is between the special tokens of parts, and the part of each."""
        places, _ = _ranges(parts[:, 0], parts[:, 1])
        cuts = places[self._special[ids[places]]]
        begin = np.sort(np.concatenate((parts[:, 0], cuts + 1)))
        stop = np.sort(np.concatenate((parts[:, 1], cuts)))
        begin, stop = begin[begin < stop], stop[begin < stop]
        return begin, stop, np.searchsorted(parts[:, 0], begin, side="right") - 1

    def _compared(self, ids: Int32Array, given: Int64Array, canonical: Int32Array) -> Stretches:
        """Return the stretches in which the ids at some places differ from the canonical ids of the same text."""
        stretch = ids[given]
        ends, others = np.cumsum(self._lengths[stretch]), np.cumsum(self._lengths[canonical])
        rows = differences(stretch, ends, canonical, others)
        chosen, offsets = _ranges(rows[:, 2], rows[:, 3])
        bounds = np.column_stack((given[rows[:, 0]], given[rows[:, 1] - 1] + 1))
        return Stretches(bounds, canonical[chosen], offsets, np.full(len(rows), ENCODED, dtype=np.int8))


def _ranges(begins: Int64Array, stops: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Return the places of all ranges, one range after the other, and where each begins among them."""
    offsets = running_sum(stops - begins)
    places: Int64Array = np.arange(offsets[-1]) + np.repeat(begins - offsets[:-1], stops - begins)
    return places, offsets


def _up_to(
    encoded: list[Int32Array], sizes: Int64Array, lengths: Int64Array
) -> tuple[Int32Array, Int64Array, BoolArray]:
    """Return the ids of texts up to a size in bytes, their number for each text, and whether one ends there."""
    ids = np.concatenate(encoded)
    counts = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
    offsets = running_sum(counts)
    ends = running_sum(lengths[ids])
    keep: BoolArray = ends[1:] <= np.repeat(ends[offsets[:-1]] + sizes, counts)
    n_kept = np.diff(running_sum(keep.view(np.uint8))[offsets])
    is_whole: BoolArray = ends[offsets[:-1] + n_kept] - ends[offsets[:-1]] == sizes
    return ids[keep], n_kept, is_whole


def finder_of(tokenizer: AnyTokenizer) -> Finder:
    """Return the finder of the stretches of a tokenizer, a derived table."""
    engine = tokenizer.derived(engine_of)
    if engine.walk is not None:
        return WalkFinder(tokenizer, engine.walk)
    return Finder(tokenizer, is_judged_by_encoding=engine.model is None)


def _by_encoding(trip: RoundTrip, ids: Int32Array) -> Stretches:
    """Return the stretches of a stream that differ, by the definition: decode it, encode its text, and compare."""
    found: list[Stretches] = []
    cuts = np.concatenate(([-1], np.flatnonzero(trip.cuts[ids]), [len(ids)])).tolist()
    for before, stop in pairwise(cuts):
        found += _found_in(trip, ids, before + 1, stop, begins=True)
    return in_order(joined(found))


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
            # What is between the ids without a text, in the order in which it is taken up again.
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
        # Ids that spell the same bytes show their borders even within a symbol.
        others: Ends | None
        (data, ends), (other_data, others) = trip.spelled(part), trip.spelled(canonical)
        if data != other_data:
            ends, others = decoded.ends, trip.ends(canonical, decoded, begins=begins)
        cut = np.flatnonzero(trip.boundaries.always_cut(part)) + 1 if others is None else np.zeros(0, dtype=np.int64)
        if len(cut):
            places = [begin, *(begin + cut).tolist(), stop]
            rest = [(low, high, begins and low == begin) for low, high in pairwise(places)]
            waiting += reversed(rest)
            continue
        rows = differences(part, ends, canonical, others)
        pieces = [canonical[low:high] for low, high in rows[:, 2:].tolist()]
        yield Stretches(
            rows[:, :2] + begin,
            np.concatenate((canonical[:0], *pieces)),
            running_sum(rows[:, 3] - rows[:, 2]),
            np.full(len(rows), ENCODED, dtype=np.int8),
        )


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
