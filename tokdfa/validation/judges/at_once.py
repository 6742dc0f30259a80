"""Judging arrays of ids at once: what is wrong comes as arrays, and each violation is made when it is read.

What cannot be judged like this, such as ids that are not UTF-8, is judged by :class:`EncodingJudge`, from the last
place before it where the text is always cut. The violations are those that it would find in all of the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array, IntegerArray, running_sum
from tokdfa.errors import LimitExceededError
from tokdfa.validation.judges.accepting import Rest
from tokdfa.validation.judges.parts import differing_pieces, differing_tokens, encode_parts, is_split_at_once
from tokdfa.validation.judges.pieces import violation_of
from tokdfa.validation.judges.stretch import otherwise
from tokdfa.validation.judges.walk import closely
from tokdfa.validation.tuning import DEFAULT, Tuning
from tokdfa.validation.violation import out_of_range
from tokdfa.validation.violations import Rows, Spans

if TYPE_CHECKING:
    from tokdfa.tokenizers.round_trip import RoundTrip
    from tokdfa.validation.engine import Engine
    from tokdfa.validation.model import Model
    from tokdfa.validation.table import Table
    from tokdfa.validation.violation import Violation

__all__ = ["Block", "Judged", "judge_array", "judge_walked"]

_LARGEST = 1 << 23
"""No more ids are judged at once, where nothing cuts their text."""


class Block(NamedTuple):
    """Ids of a stream, from the index `first` and the offset `byte` on; its last ones if `is_last`.

    Those at the ascending indices `unknown` stand in for `numbers`, which are no ids of the tokenizer. They are in no
    text, and have no bytes.
    """

    ids: Int32Array
    unknown: Int64Array
    numbers: list[int]
    first: int
    byte: int
    is_last: bool


class Judged(NamedTuple):
    """The violations in the first ids of a block, the number of these ids, and the offset at which they end.

    No ids are judged where nothing in the block decides what is wrong at its beginning.
    """

    violations: list[Sequence[Violation]]
    n_ids: int
    byte: int


def judge_array(
    engine: Engine, ids: IntegerArray, rest: Rest, tuning: Tuning
) -> tuple[list[Sequence[Violation]], Rest]:
    """Return the violations in the rest of a stream, as far as it is judged at once, and what is left after that."""
    parts: list[Sequence[Violation]] = []
    decoder, size = engine.tokenizer.decoder, tuning.chunk
    while rest.first < len(ids) and size <= _LARGEST:
        own = ids[rest.first : rest.first + size]
        checked, unknown = decoder.check_known(own)
        is_last = rest.first + len(own) == len(ids)
        judged = judge_walked(engine.model, Block(checked, unknown, own[unknown].tolist(), *rest, is_last))
        if judged is None:
            break
        parts += judged.violations
        rest = Rest(rest.first + judged.n_ids, judged.byte)
        size = tuning.chunk if judged.n_ids else 2 * size
    return parts, rest


def judge_walked(model: Model | None, block: Block) -> Judged | None:
    """Judge a block of a stream by a table, of which what is wrong is encoded again; None if the table does not do.

    In a text that is brought into a normalization form, the parts that differ are between ends of tokens that the ids
    and the canonical ids share; otherwise between ends of tokens and pieces.
    """
    table = None if model is None else model.table
    if model is None or table is None or not is_split_at_once(model):
        return None
    ids, n = block.ids, len(block.ids)
    begins, ends = np.append(0, block.unknown + 1), np.append(block.unknown, n)
    try:
        parts, size = table.wrong_parts(ids, begins, ends)
    except LimitExceededError:
        return None
    count = n if block.is_last else _judged_by_walk(table, ids, int(begins[-1]), parts)
    if size is not None and count == n and not len(block.unknown):
        return Judged([], n, block.byte + size)
    sizes = model.lengths[ids]
    sizes[block.unknown] = 0
    byte_at = block.byte + running_sum(sizes)
    parts = parts[parts[:, 1] <= count]
    if not len(parts) and not len(block.unknown):
        return Judged([], count, int(byte_at[count]))
    stream = np.searchsorted(begins, parts[:, 0], side="right") - 1
    encoded, odd = encode_parts(model, ids, parts, ends[stream], np.arange(len(parts)))
    trip = model.trip
    if trip is None:
        rows = differing_pieces(model, ids, encoded, byte_at)
        make = partial(_of_pieces, model, block.first)
    else:
        rows = differing_tokens(model, ids, encoded, byte_at)
        make = partial(_of_tokens, trip, block.first)
    found = [
        (at, [out_of_range(number, block.first + at, int(byte_at[at]))])
        for at, number in zip(block.unknown.tolist(), block.numbers, strict=True)
        if at < count
    ]
    covered: list[tuple[int, int]] = []
    done = 0
    for part in np.flatnonzero(odd).tolist():
        at, until, end = max(int(parts[part, 0]), done), int(parts[part, 1]), int(ends[stream[part]])
        if at >= until:
            continue
        judge = closely(model, block.first + at, int(byte_at[at]), DEFAULT.close_window)
        violations = [*judge.feed(ids[at:end], block.first + until - 1)]
        done = judge.buffer.first - block.first
        if done < until and end == n and not block.is_last:
            # What follows decides.
            count = done = at
            break
        if done < until:
            violations += judge.finish()
            done = end
        found.append((at, violations))
        covered.append((at, done))
    count = max(count, done)
    rows = rows.chosen((rows.first < count) & ~_are_within(rows.first, covered))
    return Judged(_merged(sorted(found, key=itemgetter(0)), rows, make), count, int(byte_at[count]))


def _are_within(places: Int64Array, intervals: list[tuple[int, int]]) -> BoolArray:
    """Return which places are in one of some ascending intervals."""
    if not intervals:
        return np.zeros(len(places), dtype=np.bool_)
    begins, ends = np.array(intervals).T
    number = np.searchsorted(begins, places, side="right")
    within: BoolArray = places < np.append(0, ends)[number]
    return within


def _judged_by_walk(table: Table, ids: Int32Array, begin: int, parts: Int64Array) -> int:
    """Return up to where the ids of an open block are judged, of which the last text has those from `begin` on."""
    cut = table.last_certain(ids[begin:], len(ids) - begin - table.margin)
    count = begin + max(cut, 0)
    across = parts[(parts[:, 0] < count) & (parts[:, 1] > count), 0]
    return int(across[0]) if len(across) else count


def _merged(
    found: list[tuple[int, list[Violation]]], rows: Rows, make: Callable[[Rows, int], Violation]
) -> list[Sequence[Violation]]:
    """Return violations found one by one, each with where it is, and those in rows, in order."""
    merged: list[Sequence[Violation]] = []
    low = 0
    bounds = np.searchsorted(rows.first, np.array([at for at, _ in found], dtype=np.int64)).tolist()
    for high, (_, violations) in zip(bounds, found, strict=True):
        merged += (Spans(rows.between(low, high), make), violations)
        low = high
    return [*merged, Spans(rows.between(low, len(rows.first)), make)]


def _of_pieces(model: Model, first: int, rows: Rows, number: int) -> Violation:
    """Return a violation, given where the ids of its rows begin in the stream."""
    ids = rows.ids[rows.bounds[number] : rows.bounds[number + 1]]
    ends = rows.ends[rows.ends_bounds[number] : rows.ends_bounds[number + 1]]
    return violation_of(model, ids, first + int(rows.first[number]), int(rows.byte[number]), ends)


def _of_tokens(trip: RoundTrip, first: int, rows: Rows, number: int) -> Violation:
    """Return a violation, given where the ids of its rows begin in the stream."""
    ids = rows.ids[rows.bounds[number] : rows.bounds[number + 1]]
    canonical = rows.canonical[rows.canonical_bounds[number] : rows.canonical_bounds[number + 1]]
    start = first + int(rows.first[number])
    return otherwise(trip, ids.tolist(), canonical.tolist()).at(
        index=start,
        detected_at=start + max(trip.detected(ids, 0, len(ids)), 0),
        byte_offset=int(rows.byte[number]),
        start=start,
        ids=ids,
        canonical_ids=canonical,
    )
