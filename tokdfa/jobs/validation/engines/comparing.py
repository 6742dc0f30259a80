"""Many texts of ids decoded, encoded again and compared at once."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.errors import TokenStreamError
from tokdfa.jobs.validation.differences import Parts, trimmed
from tokdfa.jobs.validation.violations import ranges
from tokdfa.kernels.walk.differences import Tokenizations, find_differences
from tokdfa.kernels.walk.ends import ends_but_for_spaces
from tokdfa.tokenizers.decoder import SpelledTexts, Spellings, gathered
from tokdfa.tokenizers.round_trip import RoundTrip


class ComparedTexts(NamedTuple):
    """Where the ids of texts differ from the canonical ids.

    Attributes
    ----------
    rows : int64 array of shape (parts, 6)
        The parts that differ, with the text that each is in; see :func:`find_differences`. Ends are offsets of bytes,
        also within symbols.
    canonical : int32 array
        The canonical ids of all texts.
    is_odd : bool array, one entry a text
        Whether it is not compared like this: its bytes are not UTF-8, its canonical ids have another text, or its
        beginning or the tokenizer needs more care.
    sizes : int64 array, one entry a text
        The number of bytes of each text that is not odd.
    canonical_bounds : int64 array
        The canonical ids of text k are ``canonical[canonical_bounds[k]:canonical_bounds[k + 1]]``.
    byte_at : int64 array, one entry an id
        The offset in its text at which each id begins, if something differs.
    """

    rows: Int64Array
    canonical: Int32Array
    is_odd: BoolArray
    sizes: Int64Array
    canonical_bounds: Int64Array
    byte_at: Int64Array


def compare_texts(trip: RoundTrip, ids: Int32Array, bounds: Int64Array, *, begins: bool = True) -> ComparedTexts:
    """Compare the ids of texts, one or more each, with the encodings of the texts.

    Text k has the ids from ``bounds[k]`` to ``bounds[k + 1]``, from 0 up to all, and `begins` is whether a text begins
    with them, rather than continues after a boundary.
    """
    n_texts = len(bounds) - 1
    rows, sizes = np.zeros((0, 6), dtype=np.int64), np.zeros(n_texts, dtype=np.int64)
    empty = np.zeros(n_texts + 1, dtype=np.int64)
    nothing = ComparedTexts(
        rows, np.zeros(0, dtype=np.int32), np.ones(n_texts, dtype=np.bool_), sizes, empty, empty[:0]
    )
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
        return ComparedTexts(rows, canonical, is_odd, sizes, canonical_bounds, empty[:0])
    again = trip.spell_texts(canonical, canonical_bounds, begins=begins)
    if again is None:
        return nothing
    is_odd |= again.removed < 0
    other_parts = _parts(again, canonical_bounds)
    for number in np.flatnonzero(~is_odd).tolist():
        is_odd[number] = parts[number] != other_parts[number]
    starts = _starts(spelled, bounds)
    rows = find_differences(
        Tokenizations(ids, spelled.ends, bounds, starts),
        Tokenizations(canonical, again.ends, canonical_bounds, _starts(again, canonical_bounds)),
    )
    rows = rows[~is_odd[rows[:, 0]]] if is_odd.any() else rows
    # Ids left out before the first byte of a text are at offset 0.
    byte_at = np.maximum(np.append(0, spelled.ends)[:-1] - np.repeat(starts, np.diff(bounds)), 0)
    return ComparedTexts(rows, canonical, is_odd, sizes, canonical_bounds, byte_at)


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
    """The differences in parts of a text. Each part is encoded alone.

    Attributes
    ----------
    rows : Parts
        Where the ids of the text differ from the canonical ones, undecided also where a part is cut within.
    number : int64 array
        The part that each row is in.
    canonical : int32 array
        The canonical ids of the parts that differ.
    sizes : int64 array
        The number of bytes that each id of all parts adds to the text.
    """

    rows: Parts
    number: Int64Array
    canonical: Int32Array
    sizes: Int64Array


def compare_apart(trip: RoundTrip, ids: Int32Array, lows: Int64Array, highs: Int64Array) -> ComparedApart | None:
    """Compare the ids from `lows` to `highs` with the encoding of their text, each part alone.

    The text is always cut before and after each part. None if that cannot be done at once.
    """
    mark = trip.mark
    indices, bounds = ranges(lows, highs)
    given = None if mark is None else _decoded_apart(trip, ids[indices], bounds, mark)
    if mark is None or given is None:
        return None
    encoded = trip.encode_texts(given.texts(mark[1]), begins=False)
    if encoded is None:
        return None
    number = _differing(given.ids, bounds, *encoded)
    if not len(number):
        nothing = trimmed(ids, ids, np.zeros((0, 5), dtype=np.int64), bounds)
        return ComparedApart(nothing, number, encoded.ids, given.sizes)
    own, other = given.chosen(number), _chosen(*encoded, number)
    again = _decoded_apart(trip, *other, mark)
    ends = None if again is None else _ends_apart(own, again)
    if again is None or ends is None:
        return None
    rows = find_differences(
        Tokenizations(own.ids, own.ends, own.bounds, np.zeros(len(number), dtype=np.int64)),
        Tokenizations(again.ids, ends, again.bounds, np.zeros(len(number), dtype=np.int64)),
    )
    parts = trimmed(own.ids, again.ids, rows[:, 1:], own.bounds[1:])
    text = rows[:, 0]
    is_at_end = (parts.lows == parts.highs) & (parts.lows == again.bounds[1:][text])
    undecided: BoolArray = parts.undecided | is_at_end | _are_cut(trip, own, mark)[text]
    moved = (lows[number] - own.bounds[:-1])[text]
    parts = parts._replace(starts=parts.starts + moved, stops=parts.stops + moved, undecided=undecided)
    return ComparedApart(parts, number[text], again.ids, given.sizes)


class _Apart(NamedTuple):
    """Texts of ids: text k has ids ``bounds[k]`` to ``bounds[k + 1]``; `ends` is where each id ends in its text.

    `marked` are the texts in UTF-8, each with the mark after it.
    """

    ids: Int32Array
    bounds: Int64Array
    ends: Int64Array
    marked: Spellings

    @property
    def sizes(self) -> Int64Array:
        """The number of bytes that each id adds."""
        sizes: Int64Array = np.diff(self.ends, prepend=0)
        is_first = self.bounds[:-1][self.bounds[:-1] < self.bounds[1:]]
        sizes[is_first] = self.ends[is_first]
        return sizes

    def texts(self, mark: str) -> list[str]:
        """Return the texts."""
        data, offsets = self.marked
        text = data.tobytes().decode("utf-8")
        if len(text) < len(data):
            offsets = np.append(0, np.cumsum(data & 0xC0 != 0x80))[offsets]
        size, at = len(mark), offsets.tolist()
        return [text[start : stop - size] for start, stop in pairwise(at)]

    def chosen(self, number: Int64Array) -> _Apart:
        """Return some of the texts."""
        indices, bounds = ranges(self.bounds[number], self.bounds[number + 1])
        return _Apart(self.ids[indices], bounds, self.ends[indices], gathered(self.marked, number))


def _chosen(ids: Int32Array, bounds: Int64Array, number: Int64Array) -> tuple[Int32Array, Int64Array]:
    """Return the ids of some texts, one after the other, and their bounds."""
    indices, chosen_bounds = ranges(bounds[number], bounds[number + 1])
    return ids[indices], chosen_bounds


def _decoded_apart(trip: RoundTrip, ids: Int32Array, bounds: Int64Array, mark: tuple[int, str]) -> _Apart | None:
    """Decode texts of ids with a mark after each, so that nothing goes across; None if that cannot be done."""
    id, letters = mark
    after = bounds[1:] + np.arange(len(bounds) - 1)
    try:
        decoded = trip.decode(np.insert(ids, bounds[1:], id), begins=False)
    except TokenStreamError:
        return None
    data = np.frombuffer(decoded.text.encode("utf-8"), dtype=np.uint8)
    offsets = np.append(0, decoded.ends[after])
    letters_at = offsets[1:, None] + np.arange(-len(letters), 0)
    if (np.diff(offsets) < len(letters)).any() or offsets[-1] != len(data):
        return None
    if (data[letters_at] != np.frombuffer(letters.encode("ascii"), dtype=np.uint8)).any():
        return None
    ends = np.delete(decoded.ends, after) - np.repeat(offsets[:-1], np.diff(bounds))
    return _Apart(ids, bounds, ends, Spellings(data, offsets))


def _differing(ids: Int32Array, bounds: Int64Array, canonical: Int32Array, canonical_bounds: Int64Array) -> Int64Array:
    """Return the texts with ids that are not canonical."""
    sizes = np.diff(bounds)
    differs: BoolArray = sizes != np.diff(canonical_bounds)
    text = np.repeat(np.arange(len(sizes)), sizes)
    comparable = np.flatnonzero(~differs[text])
    others = canonical[comparable + (canonical_bounds - bounds)[text[comparable]]]
    differs[text[comparable[ids[comparable] != others]]] = True
    return np.flatnonzero(differs)


def _ends_apart(own: _Apart, other: _Apart) -> Int64Array | None:
    """Return the ends of other ids in texts that are the same but for spaces; None if more differs."""
    if np.array_equal(own.marked.text, other.marked.text) and np.array_equal(own.marked.offsets, other.marked.offsets):
        return other.ends
    begun, other_begun = (np.repeat(each.marked.offsets[:-1], np.diff(other.bounds)) for each in (own, other))
    ends = ends_but_for_spaces(own.marked.text, other.marked.text, other.ends + other_begun)
    return None if ends is None else ends - begun


def _are_cut(trip: RoundTrip, texts: _Apart, mark: tuple[int, str]) -> BoolArray:
    """Return which texts of ids, each alone, are always cut within."""
    after = texts.bounds[1:] + np.arange(len(texts.bounds) - 1)
    is_cut = trip.boundaries.always_cut(np.insert(texts.ids, texts.bounds[1:], mark[0]), begins=False, ends=True)
    is_cut = np.append(False, is_cut)
    # Before a mark, and before the first id of a text.
    is_cut[after] = is_cut[np.append(0, after + 1)[:-1]] = False
    found: BoolArray = np.zeros(len(after), dtype=np.bool_)
    found[np.searchsorted(after, np.flatnonzero(is_cut))] = True
    return found
