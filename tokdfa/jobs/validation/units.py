"""Words of a stream that are not canonical, next to the canonical ids of their text: where the two differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, running_sum
from tokdfa.base.errors import TokenStreamError
from tokdfa.jobs.validation.differences import NO_CUTS, trimmed
from tokdfa.jobs.validation.violations import ranges
from tokdfa.kernels.unigram.accept import ASKED, OTHER, SAME
from tokdfa.kernels.walk.differences import Tokenizations, find_differences
from tokdfa.tokenizers.encoding.encoded import Decoded
from tokdfa.tokenizers.models.unigram.segmenter import WrongWords
from tokdfa.tokenizers.round_trip import ends_in

if TYPE_CHECKING:
    from tokdfa.tokenizers.round_trip import RoundTrip

__all__ = ["TEXT_ENDS", "UNKNOWN", "differing_parts_of", "whole_words"]

_SPACE = ord(" ")


TEXT_ENDS, UNKNOWN = -1, -2
"""Stand for the id after a word where the text ends, and where the id is not known."""


def whole_words(trip: RoundTrip, ids: Int32Array, words: WrongWords, *, begins: bool) -> WrongWords:
    """Return wrong words among ids, of which it is known whether their canonical ids have the same text.

    What remains `ASKED` has the same text, but for spaces. Words with another text are one word with those that are
    wrong between the same cuts. `begins` is whether a text begins with the ids.
    """
    asked = words.text == ASKED
    if asked.any():
        words = words._replace(text=words.text.copy())
        words.text[asked] = np.where(_have_same_text(trip, ids, words.chosen(asked), begins), ASKED, OTHER)
    is_other = words.text == OTHER
    if not is_other.any():
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
    """Return the ids of words, and where those of each begin."""
    chosen, bounds = ranges(*words.bounds.T)
    return ids[chosen], bounds


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
    trip: RoundTrip,
    ids: Int32Array,
    words: WrongWords,
    *,
    begins: bool,
    following: int = TEXT_ENDS,
    unjudged: Int64Array | tuple[()] = (),
) -> Int64Array:
    """Return where wrong words among ids, as :func:`whole_words` returns them, differ from their canonical ids.

    `following` is `UNKNOWN` unless the text ends with the ids; the ids from some places on, `unjudged`, may not be
    canonical either. Returns an int64 array of shape (parts, 8), in order:
    the word; the first id of a part and the one after its last; the same of ``words.right``; the bytes of the word
    before the part; whether it depends on what follows where the two first differ; and whether an id of the part adds
    nothing. Parts are between neighbouring ends of ids that both share, without what both begin or end with; a word
    with canonical ids of another text is one part.
    """
    found = [_parts_of(trip, ids, words, kind, begins) for kind in (OTHER, SAME, ASKED) if (words.text == kind).any()]
    if not found:
        return np.zeros((0, 8), dtype=np.int64)
    parts = found[0] if len(found) == 1 else np.concatenate(found)
    # What both sides have in common at the beginning may be all of one of them: the next ids tell where they differ.
    short = np.flatnonzero(parts[:, 6])
    word, start, low = parts[short, 0], parts[short, 1], parts[short, 3]
    given = np.append(ids, following)[start]
    end = words.bounds[word, 1]
    canonical = np.append(ids, following)[end]
    is_before = np.append(words.bounds[1:, 0], -1)[word] == end
    canonical[is_before | (np.isin(end, unjudged) & (end < len(ids)))] = UNKNOWN
    is_within = low < words.right_bounds[word + 1]
    canonical[is_within] = words.right[low[is_within]]
    parts[short, 6] = (given == canonical) | (given == UNKNOWN) | (canonical == UNKNOWN)
    return parts if len(found) == 1 else parts[np.lexsort((parts[:, 1], parts[:, 0]))]


def _parts_of(trip: RoundTrip, ids: Int32Array, words: WrongWords, kind: int, begins: bool) -> Int64Array:
    """Return the parts of the words of a kind, as :func:`differing_parts_of` does; of short ones all is undecided."""
    chosen = words.text == kind
    number = np.flatnonzero(chosen)
    some = words if len(number) == len(words.text) else words.chosen(chosen)
    given, bounds = _given(ids, some)
    right, right_bounds = some.right, some.right_bounds
    is_first = _begins(some, begins)
    if kind == ASKED:
        decoded, again = trip.decode(given, begins=is_first), trip.decode(right, begins=is_first)
        ends, others = decoded.ends, ends_in(decoded.text, again)
    else:
        ends = _ends(trip, given, is_first)
        others = np.cumsum(trip.word_sizes[right]) if kind == SAME else None
    byte_at = np.append(0, ends)
    if others is None:
        sides = (bounds[:-1], bounds[1:], right_bounds[:-1], right_bounds[1:])
        rows = np.column_stack((np.arange(len(number)), *sides, np.zeros(len(number), dtype=np.int64)))
    else:
        starts = byte_at[bounds[:-1]]
        rows = find_differences(
            Tokenizations(given, ends, bounds, starts), Tokenizations(right, others, right_bounds, starts)
        )
    parts = trimmed(given, right, rows[:, 1:], NO_CUTS)
    at = rows[:, 0]
    is_short = ((parts.starts == parts.stops) | (parts.lows == parts.highs)) & (parts.stops == rows[:, 2])
    before = byte_at[parts.starts] - byte_at[bounds[at]]
    word = number[at]
    move, other_move = words.bounds[word, 0] - bounds[at], words.right_bounds[word] - right_bounds[at]
    sides = (parts.starts + move, parts.stops + move, parts.lows + other_move, parts.highs + other_move)
    found: Int64Array = np.column_stack((word, *sides, before, is_short, parts.is_silent))
    return found[(parts.starts < parts.stops) | (parts.lows < parts.highs)]


def _ends(trip: RoundTrip, ids: Int32Array, is_first: bool) -> Int64Array:
    """Return the ends of ids in their text."""
    sizes = trip.word_sizes[ids]
    if is_first or sizes.min(initial=0) < 0:
        return trip.decode(ids, begins=is_first).ends
    ends: Int64Array = np.cumsum(sizes)
    return ends
