"""Judging arrays of ids at once: the wrong parts come as arrays, and each violation is made when it is read.

Parts between boundaries where the text is always cut are encoded again all at once. The next two symbols decide how the
text up to such a boundary is split, so each is split with two more symbols, and only the pieces up to its end are its
own. The rest, such as ids that are not UTF-8, is judged by :class:`TextComparison`, from the last boundary before it
where the text is always cut. The violations are those that it would find in all of the stream.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array, ranges, running_sum
from tokdfa.base.errors import AlphabetError, LimitExceededError
from tokdfa.jobs.validation.engine import Engine
from tokdfa.jobs.validation.engines.pieces import outlined, violation_of
from tokdfa.jobs.validation.engines.segment import spans_of_tokens
from tokdfa.jobs.validation.engines.texts import PartsText, Text, check_by_encoding
from tokdfa.jobs.validation.engines.walk import closely
from tokdfa.jobs.validation.engines.words import WordText
from tokdfa.jobs.validation.model import Model
from tokdfa.jobs.validation.table import CONTEXT, Table
from tokdfa.jobs.validation.violation import Violation, ViolationKind, not_utf8
from tokdfa.jobs.validation.violations import NO_ROWS, Rows, Spans, spans_between
from tokdfa.jobs.validation.window import CLOSE, Block, BlockResult, are_within, last_cut, merged
from tokdfa.kernels.spelling.spell import spell
from tokdfa.kernels.walk.differences import Tokenizations, find_broken, find_differences
from tokdfa.regex.unicode.quick_check import is_normal
from tokdfa.tokenizers.decoder import is_utf8
from tokdfa.tokenizers.encoding.special import odd_ones
from tokdfa.tokenizers.pretokenizers.certain import CONTEXT as SYMBOLS
from tokdfa.tokenizers.round_trip import RoundTrip


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
    """Encode parts of streams again, by a model that splits texts at once.

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


_SOON = 1 << 4
"""The number of ids among which two neighbours often cut the text."""


def check_block(engine: Engine, block: Block) -> BlockResult | None:
    """Check a block by an engine that checks blocks; None if these ids are checked only one by one."""
    if engine.model is not None:
        return check_by_walk(engine.model, block)
    trip = engine.tokenizer.round_trip
    make = WordText if trip.checks_words else PartsText if trip.boundaries.decides else Text
    return check_by_encoding(engine, block, make)


def check_by_walk(model: Model, block: Block) -> BlockResult | None:
    """Check a block of a stream by a table, and encode its wrong parts again; None if the table does not suffice.

    In a text that is brought into a normalization form, the parts that differ are between ends of tokens that the ids
    and the canonical ids share; otherwise between ends of tokens and pieces. In such a text two neighbours decide how
    far a symbol that is not UTF-8 reaches back, and the table knows more boundaries than they do.
    """
    table, trip = model.table, model.trip
    assert table is not None
    ids, n = block.ids, len(block.ids)
    begins, ends = np.ascontiguousarray(block.texts.T)
    try:
        parts, size = table.wrong_parts(ids, begins, ends, is_open=not block.is_last)
    except LimitExceededError:
        return None
    count = n if block.is_last else _n_decided(table, ids, int(begins[-1]), parts)
    if size is not None and not len(block.unknown):
        size += len(block.separators) * block.separator_size - int(model.lengths[ids[count:]].sum())
        return BlockResult([], count, block.byte + size)
    parts = parts[parts[:, 1] <= count]
    stream = np.searchsorted(begins, parts[:, 0], side="right") - 1
    first = block.first
    of_pieces = partial(Spans, make=partial(_in_pieces, model, first), first=first, kind=partial(outlined, model))
    spans_of = partial(spans_of_tokens, trip, first, ids) if trip else of_pieces
    if is_split_at_once(model):
        encoded, odd = encode_parts(model, ids, parts, ends[stream], np.arange(len(parts)), around_broken=True)
        rows = differing(model, ids, encoded, by_pieces=trip is None)
    else:
        rows, odd = NO_ROWS, np.ones(len(parts), dtype=np.bool_)
    if block.is_last and not (len(rows.first) or odd.any() or len(block.unknown)):
        # PERF: the offset at which the ids end takes a quarter of the walk.
        return BlockResult([], n, block.byte)
    if trip is not None and not block.is_last:
        count = _decided(trip, ids, begins, parts, rows, count)
    unknown = block.unknown[block.unknown < count]
    byte_at = block.offsets(table.length_of_id, unknown).tolist()
    found = [(at, [block.out_of_range(at, byte)]) for at, byte in zip(unknown.tolist(), byte_at, strict=True)]
    covered: list[tuple[int, int]] = []
    done = 0
    byte_at = block.offsets(table.length_of_id, parts[odd, 0]).tolist()
    for part, byte in zip(np.flatnonzero(odd).tolist(), byte_at, strict=True):
        at, until, end = max(int(parts[part, 0]), done), int(parts[part, 1]), int(ends[stream[part]])
        if at >= until:
            continue
        if at >= count:
            break
        if at == done:
            (byte,) = block.offsets(table.length_of_id, np.array([at])).tolist()
        closer = closely(model, block.first + at, byte, CLOSE)
        violations = [*closer.feed(ids[at:end], block.first + until - 1)]
        done = closer.buffer.first - block.first
        is_whole = done < until or closer.drops_text
        if is_whole and end == n and not block.is_last:
            # The following ids decide.
            count = done = at
            break
        if is_whole:
            violations += closer.finish()
            done = end
        found.append((at, violations))
        covered.append((at, done))
    count = max(count, done)
    rows = rows.chosen((rows.first < count) & ~are_within(rows.first, covered))
    if trip is not None:
        alone = [each.start for _, violations in found for each in violations if each.kind is ViolationKind.NOT_UTF8]
        broken = np.append(rows.first[~rows.is_text], np.array(alone, dtype=np.int64) - block.first)
        rows = rows.chosen(~_depends(trip, ids, begins, rows, np.sort(broken)))
    offsets = block.offsets(table.length_of_id, np.append(rows.first, count))
    rows = rows._replace(byte=offsets[:-1])
    return BlockResult(merged(sorted(found, key=itemgetter(0)), rows, spans_of), count, int(offsets[-1]))


def _n_decided(table: Table, ids: Int32Array, begin: int, parts: Int64Array) -> int:
    """Return the number of ids of an open block that are judged; its last text has the ids from `begin` on."""
    cut = table.last_certain(ids[begin:], len(ids) - begin - table.margin)
    count = begin + max(cut, 0)
    across = parts[(parts[:, 0] < count) & (parts[:, 1] > count), 0]
    return int(across[0]) if len(across) else count


def _decided(trip: RoundTrip, ids: Int32Array, begins: Int64Array, parts: Int64Array, rows: Rows, count: int) -> int:
    """Return the number of ids of an open block, `count` at most, in which no following symbol changes violations."""
    low = max(int(begins[-1]), int(rows.first[~rows.is_text].max(initial=-1)) + 1)
    if rows.first.max(initial=-1) < low:
        return count
    after = rows.first[int(np.searchsorted(rows.first, last_cut(trip, ids, low, count + 1))) :]
    if not len(after):
        return count
    return int(parts[np.searchsorted(parts[:, 0], after[0], side="right") - 1, 0])


def _depends(trip: RoundTrip, ids: Int32Array, begins: Int64Array, rows: Rows, broken: Int64Array) -> BoolArray:
    """Return which rows depend on the next of some indices `broken`, where symbols begin that are not UTF-8.

    No two neighbours always cut the text between them. Text k has the ids from ``begins[k]`` on.
    """
    depends: BoolArray = np.zeros(len(rows.first), dtype=np.bool_)
    following = np.searchsorted(broken, rows.first)
    number = np.flatnonzero(rows.is_text & (following < len(broken)))
    first, end = rows.first[number], broken[following[number]]
    is_same = np.searchsorted(begins, first, side="right") == np.searchsorted(begins, end, side="right")
    number, first, end = number[is_same], first[is_same], end[is_same]
    stops, nearest = np.unique(end, return_index=True)
    depends[number] = _last_cuts(trip, ids, first[nearest], stops)[np.searchsorted(stops, end)] <= first
    return depends


def _last_cuts(trip: RoundTrip, ids: Int32Array, lows: Int64Array, stops: Int64Array) -> Int64Array:
    """Return the last index after each low, up to its stop, at which neighbours always cut the text; -1 for none."""
    found: Int64Array = np.full(len(stops), -1, dtype=np.int64)
    left, size = np.arange(len(stops)), _SOON
    # PERF: the last cut is usually near, and there may be many ids before it.
    while len(left):
        begins = np.maximum(stops[left] - size, lows[left])
        indices, bounds = ranges(begins, np.minimum(stops[left] + 1, len(ids)))
        is_cut = np.append(False, trip.boundaries.always_cut(ids[indices]))
        is_cut[bounds[:-1]] = False
        cuts = np.flatnonzero(is_cut)
        last = np.append(-1, cuts)[np.searchsorted(cuts, bounds[1:])]
        has_cut = last >= bounds[:-1]
        found[left[has_cut]] = indices[last[has_cut]]
        left, size = left[~has_cut & (begins > lows[left])], 8 * size
    return found


def _in_pieces(model: Model, first: int, rows: Rows, number: int) -> Violation:
    """Return one of the violations in rows."""
    start, byte = first + int(rows.first[number]), int(rows.byte[number])
    ids, _, ends = rows.row(number)
    if rows.is_text[number]:
        return violation_of(model, ids, start, byte, ends)
    return not_utf8(b"".join(map(model.bytes_of, ids.tolist())), ids, start, byte, ends.tolist())
