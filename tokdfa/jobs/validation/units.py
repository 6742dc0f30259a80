"""Words of a stream that are not canonical, next to the canonical ids of their text: where the two differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, running_sum
from tokdfa.base.errors import TokenStreamError
from tokdfa.jobs.validation.differences import NO_CUTS, parts_of_texts, trimmed
from tokdfa.jobs.validation.violations import ranges
from tokdfa.tokenizers.encoding.encoded import Decoded
from tokdfa.tokenizers.models.unigram.segmenter import WrongWords
from tokdfa.tokenizers.round_trip import ends_in

if TYPE_CHECKING:
    from tokdfa.tokenizers.round_trip import RoundTrip

__all__ = ["differing_parts_of", "whole_words"]

_SPACE = ord(" ")


class Side(NamedTuple):
    """Ids of words, the first of each and the end of the last, and the end of each id in the text of all."""

    ids: Int32Array
    bounds: Int64Array
    ends: Int64Array


def whole_words(trip: RoundTrip, ids: Int32Array, words: WrongWords, *, begins: bool) -> tuple[WrongWords, BoolArray]:
    """Return wrong words among ids, and whether the ends of the canonical ids of each in its text are known.

    They are known of words whose canonical ids have the same text, but for spaces. Others are one word with those that
    are wrong between the same cuts. `begins` is whether a text begins with the ids.
    """
    is_known: BoolArray = np.ones(len(words.bounds), dtype=np.bool_)
    given, bounds = _given(ids, words)
    is_first = _begins(words, begins)
    decoded, again = _decoded(trip, given, is_first), _decoded(trip, words.right, is_first)
    if decoded is None or again is None:
        is_known[:] = False
    elif again.text != decoded.text:
        is_known = _same_but_for_spaces(decoded, bounds, again, words.right_bounds)
    if is_known.all():
        return words, is_known
    cuts = np.flatnonzero(trip.boundaries.always_cut(ids, begins=begins)) + 1
    unit = np.searchsorted(cuts, words.bounds[:, 0], side="right")
    first = np.flatnonzero(np.diff(unit, prepend=-1))
    n_words = np.diff(np.append(first, len(unit)))
    is_joined = np.repeat((n_words > 1) & (np.add.reduceat(~is_known, first) > 0), n_words)
    if not is_joined.any():
        return words, is_known
    parts = [words.chosen(~is_joined)]
    for at, n in zip(first.tolist(), n_words.tolist(), strict=True):
        if is_joined[at]:
            parts.append(_joined(ids, words, at, at + n))
    joined = WrongWords.joined(parts)
    order = np.argsort(joined.bounds[:, 0], kind="stable")
    is_known = np.append(is_known[~is_joined], np.zeros(len(parts) - 1, dtype=np.bool_))[order]
    chosen, right_bounds = ranges(joined.right_bounds[order], joined.right_bounds[order + 1])
    sides = (joined.byte[order], joined.sums[order], joined.is_unknown[order])
    return WrongWords(joined.bounds[order], joined.right[chosen], right_bounds, *sides), is_known


def _joined(ids: Int32Array, words: WrongWords, first: int, last: int) -> WrongWords:
    """Return the words from `first` to before `last` as one, with what is between them."""
    right: list[Int32Array] = []
    end = int(words.bounds[first, 0])
    for number in range(first, last):
        right += (ids[end : words.bounds[number, 0]], words.right[slice(*words.right_bounds[number : number + 2])])
        end = int(words.bounds[number, 1])
    one = words.chosen(np.arange(len(words.bounds)) == first)
    canonical = np.concatenate(right)
    bounds = np.array([[words.bounds[first, 0], end]])
    return one._replace(bounds=bounds, right=canonical, right_bounds=np.array([0, len(canonical)]))


def _sides(trip: RoundTrip, ids: Int32Array, words: WrongWords, *, begins: bool) -> tuple[Side, Side]:
    """Return the two sides of words of which the ends of the canonical ids are known."""
    given, bounds = _given(ids, words)
    is_first = _begins(words, begins)
    decoded, again = trip.decode(given, begins=is_first), trip.decode(words.right, begins=is_first)
    ends = ends_in(decoded.text, again)
    assert ends is not None
    return Side(given, bounds, decoded.ends), Side(words.right, words.right_bounds, ends)


def _begins(words: WrongWords, begins: bool) -> bool:
    """Return whether a text begins with the first word."""
    return begins and len(words.bounds) > 0 and not words.bounds[0, 0]


def _given(ids: Int32Array, words: WrongWords) -> tuple[Int32Array, Int64Array]:
    """Return the ids of words, and where those of each begin."""
    chosen, bounds = ranges(*words.bounds.T)
    return ids[chosen], bounds


def _decoded(trip: RoundTrip, ids: Int32Array, begins: bool) -> Decoded | None:
    try:
        return trip.decode(ids, begins=begins)
    except TokenStreamError:
        return None


def _same_but_for_spaces(left: Decoded, bounds: Int64Array, right: Decoded, other_bounds: Int64Array) -> BoolArray:
    """Return which words have the same bytes in both texts, spaces left out; those of word k end at an id's end."""
    (solid, at), (other_solid, other_at) = _solid(left, bounds), _solid(right, other_bounds)
    same: BoolArray = np.diff(at) == np.diff(other_at)
    places, offsets = ranges(at[:-1][same], at[1:][same])
    other_places, _ = ranges(other_at[:-1][same], other_at[1:][same])
    differs = running_sum(solid[places] != other_solid[other_places])
    same[np.flatnonzero(same)[np.diff(differs[offsets]) > 0]] = False
    return same


def _solid(decoded: Decoded, bounds: Int64Array) -> tuple[np.ndarray, Int64Array]:
    """Return the bytes of a text that are no spaces, and where those of each word begin."""
    data = np.frombuffer(decoded.text.encode("utf-8"), dtype=np.uint8)
    is_solid = data != _SPACE
    return data[is_solid], running_sum(is_solid)[np.append(0, decoded.ends)[bounds]]


def differing_parts_of(
    trip: RoundTrip, ids: Int32Array, words: WrongWords, is_known: BoolArray, *, begins: bool
) -> Int64Array:
    """Return where wrong words among ids, as :func:`whole_words` returns them, differ from their canonical ids.

    Returns an int64 array of shape (parts, 7), in order: the word; the first id of a part and the one after its last;
    the same of ``words.right``; the bytes of the word before the part; and whether it depends on what follows where the
    two first differ. The parts are trimmed as those of :func:`differing_parts`; a word is one part if the ends of its
    canonical ids are not known.
    """
    if not len(words.bounds):
        return np.zeros((0, 7), dtype=np.int64)
    given, canonical = _sides(trip, ids, words.chosen(is_known), begins=begins)
    given_cuts, canonical_cuts = given.bounds[1:-1], canonical.bounds[1:-1]
    found = parts_of_texts(given.ids, given.ends, given_cuts, canonical.ids, canonical.ends, canonical_cuts)
    number = np.searchsorted(given.bounds, found.starts, side="right") - 1
    number = np.minimum(number, len(given.bounds) - 2)
    word = np.flatnonzero(is_known)[number]
    move, other_move = words.bounds[word, 0] - given.bounds[number], words.right_bounds[word] - canonical.bounds[number]
    byte_at = np.append(0, given.ends)
    sides = (found.starts + move, found.stops + move, found.lows + other_move, found.highs + other_move)
    before = byte_at[found.starts] - byte_at[given.bounds[number]]
    parts = np.column_stack((word, *sides, before, found.undecided))
    whole = np.flatnonzero(~is_known)
    if len(whole):
        parts = np.concatenate((parts, _whole_parts(trip, ids, words, whole, begins=begins)))
    # What follows a word is not next to it among the wrong words, or in its text.
    is_short = (parts[:, 1] == parts[:, 2]) | (parts[:, 3] == parts[:, 4])
    is_at_end = (parts[:, 1] == words.bounds[parts[:, 0], 1]) | (parts[:, 3] == words.right_bounds[parts[:, 0] + 1])
    parts[:, 6] |= is_short & is_at_end
    in_order: Int64Array = parts[np.lexsort((parts[:, 1], parts[:, 0]))]
    return in_order


def _whole_parts(trip: RoundTrip, ids: Int32Array, words: WrongWords, whole: Int64Array, *, begins: bool) -> Int64Array:
    """Return the parts that some words are, each but for what both sides begin and end with."""
    sides = (words.bounds[whole], words.right_bounds[whole], words.right_bounds[whole + 1])
    parts = trimmed(ids, words.right, np.column_stack((*sides, np.zeros(len(whole), dtype=np.int64))), NO_CUTS)
    begin = sides[0][:, 0]
    chosen, bounds = ranges(begin, parts.starts)
    before = np.diff(np.append(0, trip.decode(ids[chosen], begins=False).ends)[bounds])
    if begins and not begin[0]:
        before[0] = trip.decode(ids[: parts.starts[0]]).ends[-1:].sum()
    is_empty = (parts.starts == parts.stops) & (parts.lows == parts.highs)
    found: Int64Array = np.column_stack((whole, *parts[:4], before, parts.undecided))[~is_empty]
    return found
