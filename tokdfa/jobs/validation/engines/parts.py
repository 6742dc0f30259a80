"""Parts of streams, each between two boundaries where its text is always cut, encoded again all at once.

The next two symbols decide how the text up to such a boundary is split, so each part is split with two more symbols,
and only the pieces up to its end are its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array, running_sum
from tokdfa.base.errors import AlphabetError
from tokdfa.jobs.validation.model import Model
from tokdfa.jobs.validation.table import CONTEXT
from tokdfa.jobs.validation.violations import Rows, ranges, spans_between
from tokdfa.kernels.spelling.spell import spell
from tokdfa.kernels.walk.differences import Tokenizations, find_broken, find_differences
from tokdfa.regex.unicode.quick_check import is_normal
from tokdfa.tokenizers.decoder import is_utf8
from tokdfa.tokenizers.encoding.special import odd_ones
from tokdfa.tokenizers.pretokenizers.certain import CONTEXT as SYMBOLS


class EncodedParts(NamedTuple):
    """Segments of parts: the ids between their special tokens, and the encodings of their texts.

    Segment k is in the part ``part[k]``. It has the ids at ``indices[bounds[k]:bounds[k + 1]]``, and the canonical ids
    ``canonical[canonical_bounds[k]:canonical_bounds[k + 1]]``. `pieces` are the ends of the pieces of all segments, in
    bytes from the beginning of the first. `broken`, of shape (symbols, 4), are the symbols that are not UTF-8: the
    index of the first id that each is in, and of the one after the last; its first byte, and the one after its last,
    counted from the beginning of the first of these ids.
    """

    part: Int64Array
    indices: Int64Array
    bounds: Int64Array
    canonical: Int32Array
    canonical_bounds: Int64Array
    pieces: Int64Array
    broken: Int64Array


def is_split_at_once(model: Model) -> bool:
    """Return whether the pieces of several texts are found at once: as a machine splits them, unchanged and whole."""
    split = model.tokenizer.pretokenizer
    if split is None or split.splitter is None or split.drops_text:
        return False
    steps = split.splitting
    if odd_ones(model.tokenizer.found_specials):
        return False
    return steps.prefix_space is None and steps.metaspace is None and not steps.byte_steps


def encode_parts(
    model: Model, ids: Int32Array, parts: Int64Array, stops: Int64Array, group: Int64Array, *, around_broken: bool
) -> tuple[EncodedParts, BoolArray]:
    """Encode parts of streams again, by a model of which the texts are split at once.

    The `parts` of `ids`, of shape (parts, 2), are ascending ranges in which special tokens stand where they are found;
    each part has the end of its stream in `stops`, and a number in `group`, ascending. If `around_broken`, the text
    before and after symbols that are not UTF-8 is encoded.

    Also return which parts are left out, a bool array, and with them all parts of the same group: those that are not in
    the normalization form, spell a special token, or have bytes that decide how they are split and are not UTF-8.
    """
    texts = _Texts(model, ids, parts, stops, around_broken)
    odd: BoolArray = np.zeros(len(parts), dtype=np.bool_)
    odd[texts.part[texts.odd()]] = True
    odd = np.isin(group, group[odd]) if odd.any() else odd
    encoded = texts.encoded(~odd[texts.part])
    if encoded is None:
        odd[:] = True
        encoded = texts.encoded(np.zeros(len(texts.part), dtype=np.bool_))
        assert encoded is not None
    return encoded, odd


class _Texts:
    """The texts of the segments of parts, each with the symbols that decide how it is split."""

    def __init__(
        self, model: Model, ids: Int32Array, parts: Int64Array, stops: Int64Array, around_broken: bool
    ) -> None:
        self._model = model
        self._ids = ids
        self.begin, self.stop = parts[:, 0], parts[:, 1]
        self.broken: Int64Array = np.zeros((0, 4), dtype=np.int64)
        # Where texts are brought into a form, the text before such a symbol depends on it across special tokens, too.
        if around_broken and model.trip is not None:
            self._leave_out_broken()
        # Special tokens are left out.
        indices, _ = ranges(self.begin, self.stop)
        cuts = indices[model.special[ids[indices]]]
        begin, stop = np.sort(np.concatenate((self.begin, cuts + 1))), np.sort(np.concatenate((self.stop, cuts)))
        self.begin, self.stop = begin[begin < stop], stop[begin < stop]
        if around_broken and model.trip is None:
            self._leave_out_broken()
        self.part = np.searchsorted(parts[:, 0], self.begin, side="right") - 1
        end = stops[self.part]
        self._spell(np.where(self._is_alone(end), self.stop, np.minimum(self.stop + CONTEXT, end)), end)

    def _leave_out_broken(self) -> None:
        """Find symbols that are not UTF-8, and leave them out, back to the last boundary where the text is cut."""
        indices, bounds = ranges(self.begin, self.stop)
        spelled, lengths = spell(*self._model.tokenizer.id_spellings, self._ids[indices])
        ends = np.cumsum(lengths)
        starts = np.append(0, ends)[bounds]
        begins_within = np.append(spelled & 0xC0 == 0x80, False)[starts]
        if not lengths.all() or (not begins_within.any() and is_utf8(spelled.tobytes())):
            return
        rows = find_broken(self._model.text_cuts, spelled, ends, bounds)
        segment = np.searchsorted(bounds, rows[:, 0], side="right") - 1
        added = self._model.tokenizer.added_tokens
        if self._model.trip is None and added.are_in(_with_replacements(spelled.tobytes())):
            # One that is spelled before such a symbol is a violation of its own.
            found = np.zeros(len(bounds) - 1, dtype=np.bool_)
            start = np.append(0, ends)[bounds].tolist()
            for number in np.unique(segment).tolist():
                text = _with_replacements(spelled[start[number] : start[number + 1]].tobytes())
                found[number] = added.are_in(text)
            rows, segment = rows[~found[segment]], segment[~found[segment]]
        cut = rows[:, 1]
        if self._model.trip is not None:
            if not self._model.has_all_bytes:
                return
            # Where texts are brought into a form, two neighbouring ids decide.
            always = np.flatnonzero(self._model.trip.boundaries.always_cut(self._ids[indices])) + 1
            last = np.append(0, always)[np.searchsorted(always, rows[:, 2], side="right")]
            cut = np.maximum(last, rows[:, 0])
        starts = np.append(0, ends)[rows[:, 2]]
        indices = np.append(indices, indices[-1] + 1)
        self.broken = np.column_stack(
            (indices[rows[:, 2]], indices[rows[:, 3] - 1] + 1, rows[:, 4] - starts, rows[:, 5] - starts)
        )
        # The text before each symbol up to a cut, and the text after the last one of a segment.
        rest = bounds[:-1].copy()
        np.maximum.at(rest, segment, rows[:, 3])
        begin, stop = np.concatenate((rows[:, 0], rest)), np.concatenate((cut, bounds[1:]))
        begin, stop = np.sort(begin[begin < stop]), np.sort(stop[begin < stop])
        self.begin, self.stop = indices[begin], indices[stop - 1] + 1

    def _is_alone(self, end: Int64Array) -> BoolArray:
        """Return which segments are split without the text after them, given the ends of their streams.

        In a text that is brought into a form, two neighbouring ids decide.
        """
        trip = self._model.trip
        alone: BoolArray = self.stop == end
        if trip is not None:
            inner = self.stop[~alone]
            pairs = self._ids[np.column_stack((inner - 1, inner)).reshape(-1)]
            alone[~alone] = trip.boundaries.always_cut(pairs)[::2]
        return alone

    def _spell(self, high: Int64Array, end: Int64Array) -> None:
        """Spell the segments, and the ids after them up to `high`; each one's stream ends at `end`."""
        taken, offsets = ranges(self.begin, high)
        around = self._ids[taken]
        spelled, lengths = spell(*self._model.tokenizer.id_spellings, around)
        byte_at = running_sum(lengths)
        inner = offsets[:-1] + (self.stop - self.begin)
        # A special token ends the text.
        specials = np.append(np.flatnonzero(self._model.special[around]), len(around))
        after = np.minimum(specials[np.searchsorted(specials, inner)], offsets[1:])
        is_end = (after < offsets[1:]) | (high == self.stop) | (high == end)
        self._low, self._middle, last = byte_at[offsets[:-1]], byte_at[inner], byte_at[after]
        self._bytes: Uint8Array = spelled
        # The symbols after a segment, as many as decide, if its stream has so many.
        sizes = _SIZE_OF[np.append(spelled, np.uint8(0))]
        offset = self._middle
        known: BoolArray = np.ones(len(offset), dtype=np.bool_)
        for _ in range(SYMBOLS):
            following = offset + sizes[np.minimum(offset, len(spelled))]
            is_there = (offset < last) & (following <= last) & (following > offset)
            known &= is_there | (is_end & (offset == last))
            offset = np.where(is_there, following, offset)
        self._high = offset
        self._is_known = known
        # No text has an id that adds nothing to it, and no file has one.
        self._has_empty = np.diff(running_sum(lengths == 0)[offsets]) > 0

    def odd(self) -> BoolArray:
        """Return which segments cannot be encoded like this."""
        tokenizer, form = self._model.tokenizer, self._model.form
        data, ends = self._joined(np.ones(len(self.begin), dtype=np.bool_))
        begins_within = np.append(self._bytes & 0xC0 == 0x80, False)
        odd: BoolArray = ~self._is_known | self._has_empty | begins_within[self._low] | begins_within[self._middle]
        added, start = tokenizer.added_tokens, np.append(0, ends)
        is_whole = is_utf8(data)
        text = data if is_whole else _with_replacements(data)
        checks: tuple[tuple[Callable[[bytes], bool], bool], ...] = (
            (lambda part: not is_utf8(part), is_whole),
            (lambda part: added.are_in(_with_replacements(part)), not added.are_in(text)),
            (lambda part: form is not None and not is_normal(part, form), form is None or is_normal(text, form)),
        )
        for is_wrong, is_right_of_all in checks:
            # A content that is not in all texts together is in none of them.
            for number in () if is_right_of_all else np.flatnonzero(~odd).tolist():
                odd[number] = is_wrong(data[start[number] : start[number + 1]])
        return odd

    def _joined(self, keep: BoolArray) -> tuple[bytes, Int64Array]:
        """Return the texts of some segments and of the ids after them, one after the other, and their ends."""
        indices, offsets = ranges(self._low[keep], self._high[keep])
        return self._bytes[indices].tobytes(), offsets[1:]

    def encoded(self, keep: BoolArray) -> EncodedParts | None:
        """Return the encoding of some segments; None if there is a symbol without a token."""
        tokenizer = self._model.tokenizer
        assert tokenizer.pretokenizer is not None
        assert tokenizer.pretokenizer.splitter is not None
        data, ends = self._joined(keep)
        spans = tokenizer.pretokenizer.splitter.spans_of_texts(data, ends)
        assert spans is not None
        try:
            encoded = tokenizer.piece_ids.encode_spans(data, spans)
        except AlphabetError:
            return None
        sizes = (self._middle - self._low)[keep]
        own_ends = np.append(0, ends)[:-1] + sizes
        segment = np.searchsorted(ends, spans[:, 0], side="right")
        is_own = spans[:, 1] <= own_ends[segment]
        n_bytes = np.bincount(segment[is_own], weights=(spans[:, 1] - spans[:, 0])[is_own], minlength=len(sizes))
        assert np.array_equal(n_bytes, sizes), "a text is cut at the end of a part"
        counts = np.diff(encoded.offsets)
        canonical = encoded.ids[np.repeat(is_own, counts)]
        n_canonical = np.bincount(segment[is_own], weights=counts[is_own], minlength=len(sizes)).astype(np.int64)
        indices, bounds = ranges(self.begin[keep], self.stop[keep])
        pieces = np.cumsum((spans[:, 1] - spans[:, 0])[is_own])
        return EncodedParts(self.part[keep], indices, bounds, canonical, running_sum(n_canonical), pieces, self.broken)


def _with_replacements(data: bytes) -> bytes:
    """Return UTF-8 with U+FFFD in place of other bytes."""
    return data.decode("utf-8", "replace").encode()


_SIZE_OF: Int64Array = np.repeat([1, 0, 2, 3, 4, 0], np.diff([0, 0x80, 0xC2, 0xE0, 0xF0, 0xF5, 0x100]))
"""The number of bytes of the symbol that each byte begins; 0 if it begins none."""


def differing(model: Model, ids: Int32Array, encoded: EncodedParts, *, by_pieces: bool) -> Rows:
    """Return where ids and canonical ids differ: each part is between neighbouring ends of tokens that both have.

    If `by_pieces`, these must be ends of pieces. The offset of the stream at which each begins is left open.
    """
    given, canonical, pieces = ids[encoded.indices], encoded.canonical, encoded.pieces
    ends, others = (np.cumsum(model.lengths[side]) for side in (given, canonical))
    at_ends = others
    if by_pieces:
        is_inner: BoolArray = np.ones(int(ends[-1:].sum()) + 1, dtype=np.bool_)
        is_inner[pieces] = False
        # Half a byte before the end of a token within a piece none of the ids ends.
        ends, at_ends = 2 * ends, 2 * others - is_inner[others]
    found = find_differences(Tokenizations(given, ends), Tokenizations(canonical, at_ends))[:, 1:5].T
    starts, stops, lows, highs = np.ascontiguousarray(found)
    first = encoded.indices[starts]
    rows = Rows.of(given, (starts, stops, lows, highs), canonical, np.zeros_like(first))._replace(first=first)
    if by_pieces:
        begun, over = (np.append(0, others)[side] for side in (lows, highs))
        inner, bounds = ranges(*(np.searchsorted(pieces, side, side="right") for side in (begun, over)))
        inner_ends = pieces[inner] - np.repeat(begun, np.diff(bounds))
        rows = rows._replace(ends=inner_ends, ends_spans=spans_between(bounds))
    return rows.with_others(_broken(ids, encoded.broken))


def _broken(ids: Int32Array, broken: Int64Array) -> Rows:
    """Return the symbols that are not UTF-8 as parts."""
    first, stop, none = broken[:, 0], broken[:, 1], np.zeros(len(broken), dtype=np.int64)
    ends_spans = spans_between(np.arange(0, 2 * len(broken) + 1, 2))
    rows = Rows.of(ids, (first, stop, none, none), ids[:0], none)
    return rows._replace(ends=broken[:, 2:].reshape(-1), ends_spans=ends_spans, is_text=none > 0)
