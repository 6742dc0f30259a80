"""Many texts of ids decoded, encoded again and compared at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, running_sum
from tokdfa.jobs.validation.differences import Parts, trimmed
from tokdfa.jobs.validation.violations import ranges
from tokdfa.kernels.walk.differences import Tokenizations, find_differences
from tokdfa.tokenizers.decoder import SpelledTexts
from tokdfa.tokenizers.encoding.encoded import Decoded
from tokdfa.tokenizers.round_trip import RoundTrip, ends_in

__all__ = ["ComparedApart", "ComparedTexts", "compare_apart", "compare_texts"]


class ComparedTexts(NamedTuple):
    """Where the ids of texts differ from the canonical ids.

    Attributes
    ----------
    rows : int64 array of shape (parts, 6)
        The parts that differ, with the text that each is in; see :func:`find_differences`. Ends are those of bytes,
        also within symbols.
    canonical : int32 array
        The canonical ids of all texts.
    is_odd : bool array, one entry a text
        Whether it is not compared like this: its bytes are not UTF-8, its canonical ids have another text, or its
        beginning or the tokenizer needs more care.
    sizes : int64 array, one entry a text
        The number of bytes of each text that is not odd.
    """

    rows: Int64Array
    canonical: Int32Array
    is_odd: BoolArray
    sizes: Int64Array


def compare_texts(trip: RoundTrip, ids: Int32Array, bounds: Int64Array, *, begins: bool = True) -> ComparedTexts:
    """Compare the ids of texts, one or more each, with what the texts are encoded as.

    Text k has the ids from ``bounds[k]`` to ``bounds[k + 1]``, from 0 up to all, and `begins` is whether a text begins
    with them, rather than goes on after a boundary.
    """
    n_texts = len(bounds) - 1
    rows, sizes = np.zeros((0, 6), dtype=np.int64), np.zeros(n_texts, dtype=np.int64)
    nothing = ComparedTexts(rows, np.zeros(0, dtype=np.int32), np.ones(n_texts, dtype=np.bool_), sizes)
    spelled = trip.spell_texts(ids, bounds, begins=begins) if n_texts and not trip.takes_longest else None
    if spelled is None:
        return nothing
    parts = _parts(spelled, bounds)
    sizes = np.array([*map(len, parts)], dtype=np.int64)
    is_odd = spelled.removed < 0
    texts = [""] * n_texts
    for number in np.flatnonzero(~is_odd).tolist():
        try:
            texts[number] = parts[number].decode("utf-8")
        except UnicodeDecodeError:
            is_odd[number] = True
    encoded = trip.encode_texts(texts, begins=begins)
    if encoded is None:
        return nothing
    canonical, canonical_bounds = encoded
    if not is_odd.any() and np.array_equal(bounds, canonical_bounds) and np.array_equal(ids, canonical):
        return ComparedTexts(rows, canonical, is_odd, sizes)
    again = trip.spell_texts(canonical, canonical_bounds, begins=begins)
    if again is None:
        return nothing
    is_odd |= again.removed < 0
    other_parts = _parts(again, canonical_bounds)
    for number in np.flatnonzero(~is_odd).tolist():
        is_odd[number] = parts[number] != other_parts[number]
    rows = find_differences(
        Tokenizations(ids, spelled.ends, bounds, _starts(spelled, bounds)),
        Tokenizations(canonical, again.ends, canonical_bounds, _starts(again, canonical_bounds)),
    )
    return ComparedTexts(rows[~is_odd[rows[:, 0]]] if is_odd.any() else rows, canonical, is_odd, sizes)


def _starts(spelled: SpelledTexts, bounds: Int64Array) -> Int64Array:
    """Return where each text begins in the bytes."""
    starts: Int64Array = np.append(0, spelled.ends)[bounds[:-1]] + np.maximum(spelled.removed, 0)
    return starts


def _parts(spelled: SpelledTexts, bounds: Int64Array) -> list[bytes]:
    """Return the bytes of each text."""
    data, stops = spelled.data.tobytes(), np.append(0, spelled.ends)[bounds[1:]]
    starts = _starts(spelled, bounds)
    return [data[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]


class ComparedApart(NamedTuple):
    """What differs in some regions of a text, each of which begins and ends where it is always cut.

    `regions` are the first id of each and the one after its last; `parts` are those of the ids of the text and of the
    `canonical` ids of all regions.
    """

    regions: list[tuple[int, int]]
    parts: Parts
    canonical: Int32Array


def compare_apart(
    trip: RoundTrip, ids: Int32Array, decoded: Decoded, starts: Int64Array, stops: Int64Array, *, begins: bool
) -> ComparedApart | None:
    """Compare the texts between neighbouring cuts around some parts of a text, each alone; None if that cannot be done.

    Parameters
    ----------
    trip : RoundTrip
    ids : int32 array
        The ids of a text, after which it is always cut.
    decoded : Decoded
        That text, and the end of each id.
    starts, stops : int64 arrays
        Parts, ascending. Those before the first cut of a text that `begins` with the ids are in no region.
    """
    if not trip.is_compared_apart:
        return None
    cuts = np.flatnonzero(trip.boundaries.always_cut(ids, begins=begins, ends=True)) + 1
    cuts = np.append(cuts if begins else np.append(0, cuts), len(ids))
    # What adds nothing may belong to the text before a cut at its beginning, and the next id may decide.
    first = np.searchsorted(cuts, starts, side="left") - 1
    last = np.minimum(np.searchsorted(cuts, stops, side="right") + 1, len(cuts) - 1)
    first, last = first[first >= 0], last[first >= 0]
    is_in = running_sum(np.bincount(first, minlength=len(cuts)) - np.bincount(last, minlength=len(cuts)))[1:-1] > 0
    lows, highs = cuts[:-1][is_in], cuts[1:][is_in]
    if not len(lows):
        return None
    found = _each_alone(trip, ids, decoded, lows, highs)
    if found is None:
        return None
    is_first, is_last = (np.append(True, lows[1:] != highs[:-1]), np.append(lows[1:] != highs[:-1], True))
    regions = [*zip(lows[is_first].tolist(), highs[is_last].tolist(), strict=True)]
    return ComparedApart(regions, *found)


def _each_alone(
    trip: RoundTrip, ids: Int32Array, decoded: Decoded, lows: Int64Array, highs: Int64Array
) -> tuple[Parts, Int32Array] | None:
    """Return what differs in the texts of the ids from `lows` to `highs`, each alone, and their canonical ids."""
    mark = trip.mark
    if mark is None:
        return None
    data, ends = decoded.text.encode("utf-8"), np.append(0, decoded.ends)
    spans = zip(ends[lows].tolist(), ends[highs].tolist(), strict=True)
    texts = [data[begin:end].decode("utf-8") for begin, end in spans]
    encoded = trip.encode_texts(texts, begins=False)
    if encoded is None:
        return None
    # Between two texts is a mark on both sides, so that nothing goes across.
    canonical, bounds = encoded
    id, text = mark
    again = trip.decode(np.insert(canonical, bounds[1:], id), begins=False)
    other_ends = np.delete(again.ends, bounds[1:] + np.arange(len(lows)))
    joined = text.join((*texts, ""))
    if again.text != joined:
        in_joined = ends_in(joined, Decoded(again.text, other_ends))
        if in_joined is None:
            return None
        other_ends = in_joined
    size = ends[highs] - ends[lows]
    places, own_bounds = ranges(lows, highs)
    begun = running_sum(size + len(text.encode("utf-8")))[:-1]
    own_ends = ends[places + 1] + np.repeat(begun - ends[lows], highs - lows)
    rows = find_differences(
        Tokenizations(ids[places], own_ends, own_bounds, begun), Tokenizations(canonical, other_ends, bounds, begun)
    )
    parts = trimmed(ids[places], canonical, rows[:, 1:], own_bounds[1:])
    moved = (lows - own_bounds[:-1])[rows[:, 0]]
    # Around bytes that are not UTF-8, the ids of a shorter text may show more cuts.
    is_replaced = np.array(["\ufffd" in each for each in texts])[rows[:, 0]]
    undecided: BoolArray = parts.undecided | is_replaced
    return parts._replace(starts=parts.starts + moved, stops=parts.stops + moved, undecided=undecided), canonical
