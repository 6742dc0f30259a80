"""Judging arrays of ids at once: the wrong parts come as arrays, and each violation is made when it is read.

The rest, such as ids that are not UTF-8, is judged by :class:`TextComparison`, from the last boundary before it where
the text is always cut. The violations are those that it would find in all of the stream.
"""

from __future__ import annotations

from functools import partial
from operator import itemgetter

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.errors import LimitExceededError
from tokdfa.jobs.validation.block import CLOSE, Block, BlockResult, are_within, last_cut, merged
from tokdfa.jobs.validation.engine import Engine
from tokdfa.jobs.validation.engines.parts import differing, encode_parts, is_split_at_once
from tokdfa.jobs.validation.engines.pieces import outlined, violation_of
from tokdfa.jobs.validation.engines.segment import spans_of_tokens
from tokdfa.jobs.validation.engines.texts import PartsText, Text, check_by_encoding
from tokdfa.jobs.validation.engines.walk import closely
from tokdfa.jobs.validation.engines.words import WordText
from tokdfa.jobs.validation.model import Model
from tokdfa.jobs.validation.table import Table
from tokdfa.jobs.validation.violation import Violation, ViolationKind, not_utf8
from tokdfa.jobs.validation.violations import NO_ROWS, Rows, Spans, ranges
from tokdfa.tokenizers.round_trip import RoundTrip

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
    """Return the number of ids of an open block, `count` at most, whose violations no following symbol changes."""
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
