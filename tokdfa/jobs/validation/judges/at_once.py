"""Judging arrays of ids at once: the wrong parts come as arrays, and each violation is made when it is read.

The rest, such as ids that are not UTF-8, is judged by :class:`EncodingJudge`, from the last boundary before it where
the text is always cut. The violations are those that it would find in all of the stream.
"""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, running_sum
from tokdfa.base.errors import LimitExceededError
from tokdfa.jobs.validation.block import Block
from tokdfa.jobs.validation.judges.encoded import PartsText, Text, judge_encoded
from tokdfa.jobs.validation.judges.found import CLOSE, Judged, are_within, merged, not_utf8, spans_of_tokens
from tokdfa.jobs.validation.judges.parts import differing_pieces, differing_tokens, encode_parts, is_split_at_once
from tokdfa.jobs.validation.judges.pieces import violation_of
from tokdfa.jobs.validation.judges.walk import closely
from tokdfa.jobs.validation.judges.words import WordText
from tokdfa.jobs.validation.violations import Rows, Spans

if TYPE_CHECKING:
    from tokdfa.jobs.validation.engine import Engine
    from tokdfa.jobs.validation.model import Model
    from tokdfa.jobs.validation.table import Table
    from tokdfa.jobs.validation.violation import Violation

__all__ = ["judge_block", "judge_walked"]


def judge_block(engine: Engine, block: Block) -> Judged | None:
    """Judge a block by an engine that judges blocks; None if these ids are judged only one by one."""
    if engine.model is not None:
        return judge_walked(engine.model, block)
    trip = engine.tokenizer.round_trip
    make = WordText if trip.judges_words else PartsText if trip.boundaries.decides else Text
    return judge_encoded(engine, block, make)


def judge_walked(model: Model, block: Block) -> Judged | None:
    """Judge a block of a stream by a table, and encode its wrong parts again; None if the table does not suffice.

    In a text that is brought into a normalization form, the parts that differ are between ends of tokens that the ids
    and the canonical ids share; otherwise between ends of tokens and pieces.
    """
    table, trip = model.table, model.trip
    assert table is not None
    ids, n = block.ids, len(block.ids)
    begins, ends = np.ascontiguousarray(block.texts.T)
    try:
        parts, size = table.wrong_parts(ids, begins, ends, is_open=not block.is_last)
    except LimitExceededError:
        return None
    count = n if block.is_last else _judged_by_walk(table, ids, int(begins[-1]), parts)
    if size is not None and not len(block.unknown):
        size += len(block.separators) * block.separator_size - int(model.lengths[ids[count:]].sum())
        return Judged([], count, block.byte + size)
    parts = parts[parts[:, 1] <= count]
    stream = np.searchsorted(begins, parts[:, 0], side="right") - 1
    spans_of = partial(spans_of_tokens, trip, block.first, ids) if trip else partial(_of_pieces, model, block.first)
    if is_split_at_once(model):
        encoded, odd = encode_parts(model, ids, parts, ends[stream], np.arange(len(parts)), around_broken=True)
        rows = (differing_pieces if trip is None else differing_tokens)(model, ids, encoded)
    else:
        rows, odd = Rows.none(), np.ones(len(parts), dtype=np.bool_)
    if block.is_last and not (len(rows.first) or odd.any() or len(block.unknown)):
        # PERF: where each id begins takes as long as the walk.
        return Judged([], n, block.byte)
    byte_at = block.byte + running_sum(block.sizes(model.lengths))
    rows = rows._replace(byte=byte_at[rows.first])
    found = [(at, [block.out_of_range(at, int(byte_at[at]))]) for at in block.unknown.tolist() if at < count]
    covered: list[tuple[int, int]] = []
    done = 0
    for part in np.flatnonzero(odd).tolist():
        at, until, end = max(int(parts[part, 0]), done), int(parts[part, 1]), int(ends[stream[part]])
        if at >= until:
            continue
        judge = closely(model, block.first + at, int(byte_at[at]), CLOSE)
        violations = [*judge.feed(ids[at:end], block.first + until - 1)]
        done = judge.buffer.first - block.first
        is_whole = done < until or judge.drops_text
        if is_whole and end == n and not block.is_last:
            # The following ids decide.
            count = done = at
            break
        if is_whole:
            violations += judge.finish()
            done = end
        found.append((at, violations))
        covered.append((at, done))
    count = max(count, done)
    rows = rows.chosen((rows.first < count) & ~are_within(rows.first, covered))
    return Judged(merged(sorted(found, key=itemgetter(0)), rows, spans_of), count, int(byte_at[count]))


def _judged_by_walk(table: Table, ids: Int32Array, begin: int, parts: Int64Array) -> int:
    """Return the number of ids of an open block that are judged; its last text has the ids from `begin` on."""
    cut = table.last_certain(ids[begin:], len(ids) - begin - table.margin)
    count = begin + max(cut, 0)
    across = parts[(parts[:, 0] < count) & (parts[:, 1] > count), 0]
    return int(across[0]) if len(across) else count


def _of_pieces(model: Model, first: int, rows: Rows) -> Spans:
    """Return the violations in rows, given where their ids begin in the stream."""
    return Spans(rows, partial(_in_pieces, model, first), first)


def _in_pieces(model: Model, first: int, rows: Rows, number: int) -> Violation:
    """Return one of the violations in rows."""
    start, byte = first + int(rows.first[number]), int(rows.byte[number])
    ids, _, ends = rows.row(number)
    if rows.is_text[number]:
        return violation_of(model, ids, start, byte, ends)
    return not_utf8(b"".join(map(model.bytes_of, ids.tolist())), ids, start, byte, ends)
