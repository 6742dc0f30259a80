"""Finding stretches by the definition: decoding a stream, encoding its text, and comparing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, running_sum
from tokdfa.errors import AlphabetError, TokenStreamError
from tokdfa.rollouts.stretches import ENCODED, NOT_ENCODABLE, NOT_UTF8, Stretches, in_order, joined, without_ids
from tokdfa.tokenizers.round_trip import Ends, RoundTrip
from tokdfa.validation.differences import differences

__all__ = ["bad_ids", "find_by_encoding"]


def find_by_encoding(trip: RoundTrip, ids: Int32Array) -> Stretches:
    """Return the stretches of a stream that differ; see :class:`Stretches`.

    Parameters
    ----------
    trip : RoundTrip
        The way in which the tokenizer decodes and encodes again, and where it cuts texts.
    ids : int32 array
        Ids of the tokenizer.
    """
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
            is_bad = bad_ids(trip, part)
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
        cut = np.flatnonzero(trip.cut_between(part)) + 1 if others is None else np.zeros(0, dtype=np.int64)
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


def bad_ids(trip: RoundTrip, ids: Int32Array) -> BoolArray:
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
