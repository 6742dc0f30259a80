"""Where two tokenizations of a text differ, and the texts of ids decoded, encoded again and compared, many at once."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, ranges, running_sum
from tokdfa.base.errors import TokenStreamError
from tokdfa.jobs.validation.violation import common_prefix
from tokdfa.kernels.walk.differences import Tokenizations, ends_but_for_spaces, find_differences
from tokdfa.tokenizers.decoder import Spellings, gathered, words_of
from tokdfa.tokenizers.round_trip import Ends, RoundTrip

NO_CUTS: Int64Array = np.zeros(0, dtype=np.int64)


def differences(ids: Int32Array, ends: Int64Array, canonical: Int32Array, others: Ends | None) -> Int64Array:
    """Return where two tokenizations of a text differ, as parts of each between neighbouring boundaries of both.

    Each id ends in the text at one of `ends`, in bytes, and each canonical id at one of `others`, half a byte away from
    any end where it is nowhere in the text; if these are unknown, the part is everything between the common prefix and
    suffix. Returns an int64 array of shape (parts, 4): the first id and the one after the last, then the same of the
    other ids.
    """
    if others is None:
        begin = common_prefix(ids, canonical)
        rest = min(len(ids), len(canonical)) - begin
        end = common_prefix(ids[::-1][:rest], canonical[::-1][:rest])
        return np.array([[begin, len(ids) - end, begin, len(canonical) - end]], dtype=np.int64)
    at_ends: Int64Array = others.astype(np.int64, copy=False)
    if others.dtype != np.int64:
        ends, at_ends = 2 * ends, (2 * others).astype(np.int64)
    found: Int64Array = find_differences(Tokenizations(ids, ends), Tokenizations(canonical, at_ends))[:, 1:5]
    return found


class Parts(NamedTuple):
    """Parts of ids, from `starts` to `stops`, next to the parts of the canonical ids that differ from them, in order.

    Neither begins or ends with ids that both sides share. `undecided` is whether the following ids decide where they
    first differ: one side is the beginning of the other, and the next ids of both are the same, or in another text.
    `is_silent` is whether an id of them adds nothing to the text.
    """

    starts: Int64Array
    stops: Int64Array
    lows: Int64Array
    highs: Int64Array
    undecided: BoolArray
    is_silent: BoolArray


def differing_parts(
    ids: Int32Array, ends: Int64Array, cuts: Int64Array, canonical: Int32Array, others: Int64Array
) -> Parts:
    """Return where two tokenizations of a text differ; `cuts` are the ids, ascending, before which it is always cut.

    For the text between two cuts, the parts are the trimmed :func:`differences`.
    """
    parts = find_differences(Tokenizations(ids, ends), Tokenizations(canonical, others))[:, 1:]
    n_before, n_within = np.searchsorted(cuts, parts[:, 0], side="right"), np.searchsorted(cuts, parts[:, 1])
    is_cut = n_within > n_before
    if is_cut.any():
        inner = cuts[ranges(n_before[is_cut], n_within[is_cut])[0]]
        wide = parts[is_cut]
        number = np.searchsorted(wide[:, 0], inner, side="right") - 1
        high = np.searchsorted(others, ends[inner - 1], side="right")
        high = np.clip(high, wide[number, 2], wide[number, 3])
        apart = _parts_apart(ids, ends, inner, canonical, others, high, wide)
        parts = np.concatenate((parts[~is_cut], apart))
        parts = parts[np.argsort(parts[:, 0] + parts[:, 1], kind="stable")]
    return trimmed(ids, canonical, parts, cuts)


def _parts_apart(
    ids: Int32Array,
    ends: Int64Array,
    cuts: Int64Array,
    canonical: Int32Array,
    others: Int64Array,
    other_cuts: Int64Array,
    parts: Int64Array,
) -> Int64Array:
    """Return the parts, of shape (parts, 5), of the texts between the `cuts` in some parts of a text.

    There both sides end, even where one adds nothing to the text before it.
    """
    begins, stops = np.sort(np.append(parts[:, 0], cuts)), np.sort(np.append(parts[:, 1], cuts))
    lows, highs = np.sort(np.append(parts[:, 2], other_cuts)), np.sort(np.append(parts[:, 3], other_cuts))
    (given, bounds), (right, right_bounds) = ranges(begins, stops), ranges(lows, highs)
    starts = np.append(0, ends)[begins]
    found = find_differences(
        Tokenizations(ids[given], ends[given], bounds, starts),
        Tokenizations(canonical[right], others[right], right_bounds, starts),
    )
    found[:, 1:3] += (begins - bounds[:-1])[found[:, :1]]
    found[:, 3:5] += (lows - right_bounds[:-1])[found[:, :1]]
    return found[:, 1:]


def trimmed(ids: Int32Array, canonical: Int32Array, parts: Int64Array, cuts: Int64Array) -> Parts:
    """Return parts, of shape (parts, 5), without the common beginning and end of both sides."""
    starts, stops, lows, highs, is_silent = parts.T.copy()
    live = np.arange(len(parts))
    while len(live := live[(starts[live] < stops[live]) & (lows[live] < highs[live])]):
        live = live[ids[starts[live]] == canonical[lows[live]]]
        starts[live] += 1
        lows[live] += 1
    undecided: BoolArray = (starts == stops) | (lows == highs)
    is_at_cut = (starts == stops) & (np.append(cuts, len(ids))[np.searchsorted(cuts, starts)] == starts)
    rest = np.flatnonzero(undecided & ~is_at_cut & (lows < len(canonical)))
    undecided[rest] = ids[starts[rest]] == canonical[lows[rest]]
    live = np.arange(len(parts))
    while len(live := live[(starts[live] < stops[live]) & (lows[live] < highs[live])]):
        live = live[ids[stops[live] - 1] == canonical[highs[live] - 1]]
        stops[live] -= 1
        highs[live] -= 1
    return Parts(starts, stops, lows, highs, undecided, is_silent != 0)


_SPACE = ord(" ")


class ComparedTexts(NamedTuple):
    """Where the ids of texts differ from the canonical ids.

    `rows`, of shape (parts, 6), are the parts that differ, with the text that each is in; see :func:`find_differences`.
    Ends are offsets of bytes, also within symbols. Text k has the canonical ids
    ``canonical[canonical_bounds[k]:canonical_bounds[k + 1]]``; none, if it does not differ. `sizes` has the number of
    bytes that each id adds to its text. A text `is_odd` if it is not compared: its bytes are not UTF-8, or its
    canonical ids have another text. It `is_cut` if it differs, and is always cut within, so that its parts may be more.
    """

    rows: Int64Array
    canonical: Int32Array
    canonical_bounds: Int64Array
    sizes: Int64Array
    is_odd: BoolArray
    is_cut: BoolArray

    def parts(self, ids: Int32Array, bounds: Int64Array) -> Parts:
        """Return the parts without what both sides share; undecided also where the text may be cut within."""
        text, stops = self.rows[:, 0], bounds[1:]
        parts = trimmed(ids, self.canonical, self.rows[:, 1:], stops)
        is_at_end = (parts.lows == parts.highs) & (parts.lows == self.canonical_bounds[1:][text])
        return parts._replace(undecided=parts.undecided | is_at_end | self.is_cut[text])


def compare_texts(trip: RoundTrip, ids: Int32Array, bounds: Int64Array, *, begins: bool = True) -> ComparedTexts | None:
    """Compare the ids of texts, one or more each, with the encodings of the texts; None if that is not done at once.

    Text k has the ids from ``bounds[k]`` to ``bounds[k + 1]``, from 0 up to all, and `begins` is whether each is a text
    of its own, rather than the part of one between two boundaries where that is always cut.
    """
    read = _separate if begins else _marked
    given = read(trip, ids, bounds) if len(bounds) > 1 else None
    encoded = None if given is None else trip.encode_texts(given.texts(), begins=begins)
    if given is None or encoded is None:
        return None
    is_odd, is_cut = given.is_odd, np.zeros(len(bounds) - 1, dtype=np.bool_)
    number = np.flatnonzero(_differ(ids, bounds, *encoded, is_fine=not begins) & ~is_odd)
    counts = np.zeros_like(bounds[1:])
    if not len(number):
        rows = np.zeros((0, 6), dtype=np.int64)
        return ComparedTexts(rows, encoded.ids[:0], running_sum(counts), given.sizes, is_odd, is_cut)
    own = given.chosen(number)
    right, right_bounds = encoded
    if len(number) < len(is_odd):
        chosen, right_bounds = ranges(right_bounds[number], right_bounds[number + 1])
        right = right[chosen]
    again = read(trip, right, right_bounds)
    ends = None if again is None else again.ends if begins else _ends_in(own, again)
    if again is None or ends is None:
        return None
    if begins:
        is_odd[number] = again.is_odd
        if not (np.array_equal(own.marked[0], again.marked[0]) and np.array_equal(own.marked[1], again.marked[1])):
            sides = zip(words_of(own.marked), words_of(again.marked), strict=True)
            is_odd[number] |= [left != other for left, other in sides]
    else:
        is_cut[number] = _are_cut(trip, own)
    starts = np.zeros_like(number)
    rows = find_differences(
        Tokenizations(own.ids, own.ends, own.bounds, starts), Tokenizations(again.ids, ends, again.bounds, starts)
    )
    rows[:, 1:3] += (bounds[number] - own.bounds[:-1])[rows[:, :1]]
    rows[:, 0] = number[rows[:, 0]]
    counts[number] = np.diff(right_bounds)
    rows = rows[~is_odd[rows[:, 0]]]
    return ComparedTexts(rows, again.ids, running_sum(counts), given.sizes, is_odd, is_cut)


class _Texts(NamedTuple):
    """Texts of ids: text k has ids ``bounds[k]`` to ``bounds[k + 1]``; `ends` is where each id ends in its text.

    Ends of ids that are left out before the first byte of a text may be negative. `marked` are the bytes of the texts,
    each with a mark of `size` bytes after it. Texts are odd if they are not UTF-8.
    """

    ids: Int32Array
    bounds: Int64Array
    ends: Int64Array
    marked: Spellings
    size: int
    is_odd: BoolArray

    @property
    def sizes(self) -> Int64Array:
        """The number of bytes that each id adds."""
        ends = np.maximum(self.ends, 0)
        sizes: Int64Array = np.diff(ends, prepend=0)
        is_first = self.bounds[:-1][self.bounds[:-1] < self.bounds[1:]]
        sizes[is_first] = ends[is_first]
        return sizes

    def texts(self) -> list[str]:
        """Return the texts as strings, the odd ones empty, and take note of texts that are not UTF-8."""
        data, offsets = self.marked
        if self.size:
            # PERF: many short parts, all UTF-8, are sliced from one string.
            text = data.tobytes().decode("utf-8")
            if len(text) < len(data):
                offsets = np.append(0, np.cumsum(data & 0xC0 != 0x80))[offsets]
            return [text[start : stop - self.size] for start, stop in pairwise(offsets.tolist())]
        texts = [""] * len(self.is_odd)
        for number, word in enumerate(words_of(self.marked)):
            try:
                texts[number] = "" if self.is_odd[number] else word.decode("utf-8")
            except UnicodeDecodeError:
                self.is_odd[number] = True
        return texts

    def chosen(self, number: Int64Array) -> _Texts:
        """Return some of the texts."""
        if len(number) == len(self.is_odd):
            return self
        indices, bounds = ranges(self.bounds[number], self.bounds[number + 1])
        marked = gathered(self.marked, number)
        return _Texts(self.ids[indices], bounds, self.ends[indices], marked, self.size, self.is_odd[number])


def _separate(trip: RoundTrip, ids: Int32Array, bounds: Int64Array) -> _Texts | None:
    """Decode texts, each of its own; None if that cannot be done at once."""
    spelled = None if trip.takes_longest else trip.spell_texts(ids, bounds)
    if spelled is None:
        return None
    at = np.append(0, spelled.ends)[bounds]
    starts = at[:-1] + np.maximum(spelled.removed, 0)
    ends = spelled.ends - np.repeat(starts, np.diff(bounds))
    # Every second word is removed.
    words = Spellings(spelled.data, np.append(np.column_stack((at[:-1], starts)), at[-1]))
    kept = (
        gathered(words, np.arange(1, 2 * len(starts), 2)) if (at[:-1] < starts).any() else Spellings(spelled.data, at)
    )
    return _Texts(ids, bounds, ends, kept, 0, spelled.removed < 0)


def _marked(trip: RoundTrip, ids: Int32Array, bounds: Int64Array) -> _Texts | None:
    """Decode parts of a text with a mark after each, so that nothing goes across; None if that cannot be done."""
    if trip.mark is None:
        return None
    id, mark = trip.mark
    after, size = bounds[1:] + np.arange(len(bounds) - 1), len(mark)
    try:
        decoded = trip.decode(np.insert(ids, bounds[1:], id), begins=False)
    except TokenStreamError:
        return None
    data = np.frombuffer(decoded.text.encode("utf-8"), dtype=np.uint8)
    offsets = np.append(0, decoded.ends[after])
    if (np.diff(offsets) < size).any() or offsets[-1] != len(data):
        return None
    if (data[offsets[1:, None] + np.arange(-size, 0)] != np.frombuffer(mark.encode("ascii"), dtype=np.uint8)).any():
        return None
    ends = np.delete(decoded.ends, after) - np.repeat(offsets[:-1], np.diff(bounds))
    return _Texts(ids, bounds, ends, Spellings(data, offsets), size, np.zeros(len(after), dtype=np.bool_))


def _differ(
    ids: Int32Array, bounds: Int64Array, canonical: Int32Array, canonical_bounds: Int64Array, *, is_fine: bool
) -> BoolArray:
    """Return which texts have ids that are not canonical; unless it `is_fine`, all if one has."""
    sizes = np.diff(bounds)
    differs: BoolArray = sizes != np.diff(canonical_bounds)
    if not is_fine:
        differs[:] = differs.any() or not np.array_equal(ids, canonical)
        return differs
    text = np.repeat(np.arange(len(sizes)), sizes)
    comparable = np.flatnonzero(~differs[text])
    others = canonical[comparable + (canonical_bounds - bounds)[text[comparable]]]
    differs[text[comparable[ids[comparable] != others]]] = True
    return differs


def _ends_in(own: _Texts, other: _Texts) -> Int64Array | None:
    """Return the ends of other ids in texts that are the same but for spaces; None if more differs."""
    (data, offsets), (others, other_offsets) = own.marked, other.marked
    if np.array_equal(data, others) and np.array_equal(offsets, other_offsets):
        return other.ends
    n_solid, n_others = (running_sum(text != _SPACE)[at] for text, at in (own.marked, other.marked))
    begun, other_begun = (np.repeat(at[:-1], np.diff(other.bounds)) for at in (offsets, other_offsets))
    ends = ends_but_for_spaces(data, others, other.ends + other_begun)
    return None if ends is None or not np.array_equal(n_solid, n_others) else ends - begun


def _are_cut(trip: RoundTrip, texts: _Texts) -> BoolArray:
    """Return which parts of a text, each alone, are always cut within."""
    assert trip.mark is not None
    after = texts.bounds[1:] + np.arange(len(texts.bounds) - 1)
    is_cut = trip.boundaries.always_cut(np.insert(texts.ids, texts.bounds[1:], trip.mark[0]), begins=False, ends=True)
    is_cut = np.append(False, is_cut)
    # Before a mark, and before the first id of a text.
    is_cut[after] = is_cut[np.append(0, after + 1)[:-1]] = False
    found: BoolArray = np.zeros(len(after), dtype=np.bool_)
    found[np.searchsorted(after, np.flatnonzero(is_cut))] = True
    return found
