"""Judging arrays of ids at once: what is wrong comes as arrays, and each violation is made when it is read.

What cannot be judged like this, such as ids that are not UTF-8, is judged by :class:`EncodingJudge`, from the last
place before it where the text is always cut. The violations are those that it would find in all of the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array, running_sum
from tokdfa.errors import AlphabetError, LimitExceededError, TokenStreamError
from tokdfa.kernels.walk.differences import find_differences
from tokdfa.validation.block import Block
from tokdfa.validation.judges.parts import differing_pieces, differing_tokens, encode_parts, is_split_at_once
from tokdfa.validation.judges.pieces import violation_of
from tokdfa.validation.judges.stretch import otherwise
from tokdfa.validation.judges.walk import closely
from tokdfa.validation.kind import ViolationKind
from tokdfa.validation.violation import Cause
from tokdfa.validation.violations import Rows, Spans, ranges, spans_between

if TYPE_CHECKING:
    from tokdfa.encoding.encoded import Decoded
    from tokdfa.tokenizers.round_trip import RoundTrip
    from tokdfa.validation.engine import Engine
    from tokdfa.validation.model import Model
    from tokdfa.validation.table import Table
    from tokdfa.validation.violation import Violation

__all__ = ["Judged", "judge_block", "judge_encoded", "judge_walked"]

_CLOSE = 1 << 5
"""The number of ids of a window where ids are judged one by one."""

_NEAR = 1 << 8
"""The number of ids among which a boundary usually is."""


class Judged(NamedTuple):
    """The violations in the first ids of a block, the number of these ids, the offset at which they end.

    `begins` is whether a text begins after them.

    No ids are judged where nothing in the block decides what is wrong at its beginning.
    """

    violations: list[Sequence[Violation]]
    n_ids: int
    byte: int
    begins: bool = True


def judge_block(engine: Engine, block: Block) -> Judged | None:
    """Judge a block as an engine does that judges blocks; None if these ids are judged only one by one."""
    return judge_encoded(engine, block) if engine.model is None else judge_walked(engine.model, block)


def judge_encoded(engine: Engine, block: Block) -> Judged:
    """Judge a block of a stream by decoding it, encoding its text again, and comparing."""
    trip, judges = engine.tokenizer.round_trip, engine.judges()
    ids, n = block.ids, len(block.ids)
    is_cut = np.zeros(n, dtype=np.bool_) if engine.literal else trip.cuts[ids]
    is_cut[block.unknown] = is_cut[block.separators] = False
    cuts = np.flatnonzero(is_cut)
    starts = np.sort(np.concatenate((block.texts[:, 0], cuts + 1))).tolist()
    stops = np.sort(np.concatenate((block.texts[:, 1], cuts))).tolist()
    violations: list[Sequence[Violation]] = []
    byte, begins = block.byte, block.begins
    unknown, separators = {*block.unknown.tolist()}, {*block.separators.tolist()}
    for number, (at, stop) in enumerate(zip(starts, stops, strict=True)):
        is_last = number == len(starts) - 1
        text = _Text(trip, judges, ids[at:stop], block.first + at, byte, begins, is_open=is_last and not block.is_last)
        found, n_judged, byte = text.judged()
        violations += found
        if is_last:
            break
        if stop in unknown:
            violations.append([block.out_of_range(stop, byte)])
        elif stop in separators:
            byte += block.separator_size
        elif is_cut[stop]:
            byte += int(trip.decode(ids[stop : stop + 1]).ends[-1])
        begins = True
    return Judged(violations, at + n_judged, byte, begins and not n_judged)


class _Text:
    """Ids of a text, from the index `first` of a stream and the offset `byte` on.

    `begins` is whether the text begins with them, and `is_open` whether it may go on after them.
    """

    def __init__(
        self,
        trip: RoundTrip,
        judges: Callable[..., Any],
        ids: Int32Array,
        first: int,
        byte: int,
        begins: bool,
        *,
        is_open: bool,
    ) -> None:
        self._trip = trip
        self._judges = judges
        self._all = ids
        self._is_open = is_open
        self._begins = begins
        self._first, self._byte = first, byte
        self._ids = ids[: self._cut_before(len(ids), begins)] if is_open else ids

    def _cut_before(self, stop: int, begins: bool) -> int:
        """Return the last place before the id `stop` at which the text is always cut; 0 if there is none."""
        size = _NEAR
        while True:
            low = max(stop - size, 0)
            # A boundary is sure whatever is before the ids.
            places = np.flatnonzero(self._trip.boundaries.always_cut(self._all[low:stop], begins=begins or low > 0))
            if len(places) or not low:
                return low + int(places[-1]) + 1 if len(places) else 0
            size *= 4

    def judged(self) -> tuple[list[Sequence[Violation]], int, int]:
        """Return the violations, the number of ids that are judged, and the offset at which they end."""
        ids = self._ids
        if not len(ids) and (self._is_open or not self._begins):
            return [], 0, self._byte
        try:
            decoded = self._trip.decode(ids, begins=self._begins)
            canonical = self._trip.encode(decoded.text, begins=self._begins)
        except (TokenStreamError, AlphabetError):
            return self._all_closely()
        if np.array_equal(ids, canonical):
            return [], len(ids), self._byte + int(decoded.ends[-1:].sum())
        # Canonical ids with another text, such as more spaces, do not show which ends belong together, nor do unknown
        # words of the longest match.
        again = self._again(canonical)
        if again is None or again.text != decoded.text:
            return self._all_closely()
        return self._compared(decoded.ends, canonical, again.ends)

    def _again(self, canonical: Int32Array) -> Decoded | None:
        """Return the text of canonical ids; None if it does not decide."""
        if self._trip.takes_longest:
            return None
        try:
            return self._trip.decode(canonical, begins=self._begins)
        except TokenStreamError:
            return None

    def _compared(
        self, ends: Int64Array, canonical: Int32Array, others: Int64Array
    ) -> tuple[list[Sequence[Violation]], int, int]:
        """Return what :meth:`judged` does, given the ends of the ids in the text, and the canonical ids with theirs."""
        bounds, other_bounds = (np.array([0, len(side)]) for side in (self._ids, canonical))
        parts = find_differences(self._ids, ends, bounds, canonical, others, other_bounds)
        _, starts, stops, lows, highs, is_silent = parts.T
        # Where ids add nothing to the text, more borders than those that both sides share may be cuts.
        odd = is_silent != 0
        # The ends of a part are equal where the same id adds more on one side.
        both = np.flatnonzero((stops > starts) & (highs > lows))
        odd[both] |= self._ids[starts[both]] == canonical[lows[both]]
        odd[both] |= self._ids[stops[both] - 1] == canonical[highs[both] - 1]
        byte_at = self._byte + np.append(0, ends)
        given, bounds = ranges(starts, stops)
        right, right_bounds = ranges(lows, highs)
        rows = Rows(
            starts,
            byte_at[starts],
            self._ids[given],
            spans_between(bounds),
            canonical[right],
            spans_between(right_bounds),
            np.zeros(0, dtype=np.int64),
            np.zeros((len(starts), 2), dtype=np.int64),
            np.ones(len(starts), dtype=np.bool_),
        )
        found: list[tuple[int, list[Violation]]] = []
        covered: list[tuple[int, int]] = []
        n_judged, byte = len(self._ids), int(byte_at[-1])
        for start, stop in zip(starts[odd].tolist(), stops[odd].tolist(), strict=True):
            done = covered[-1][1] if covered else 0
            if covered and max(stop, start + 1) <= done:
                continue
            # What adds nothing may belong to the text before a boundary at its beginning.
            at = max(self._cut_before(start, self._begins), done)
            judged = self._closely(at, max(stop, start + 1), int(byte_at[at]), _CLOSE)
            if judged is None:
                # What follows decides.
                n_judged, byte = at, int(byte_at[at])
                break
            found.append((at, judged[0]))
            covered.append((at, judged[1]))
            if judged[1] >= n_judged:
                n_judged, byte = judged[1:]
        rows = rows.chosen((rows.first < n_judged) & ~_are_within(rows.first, covered))
        return _merged(found, rows, partial(_of_tokens, self._trip, self._first)), n_judged, byte

    def _closely(
        self, at: int, until: int, byte: int, size: int | None = None
    ) -> tuple[list[Violation], int, int] | None:
        """Judge ids one by one from `at`, where the text is cut, to `until` or later; None if what follows decides.

        Return the violations, the place up to which ids are judged, and the offset there.
        """
        begins = self._begins and at == 0
        judge = self._judges(self._first + at, byte, begins=begins, size=size)
        violations = [*judge.feed(self._all[at:], self._first + until - 1)]
        done = judge.buffer.first - self._first
        if done < until or not until:
            if self._is_open:
                return None
            violations += judge.finish()
            done = len(self._all)
        return violations, done, judge.byte

    def _all_closely(self) -> tuple[list[Sequence[Violation]], int, int]:
        judged = self._closely(0, len(self._ids), self._byte)
        return ([], 0, self._byte) if judged is None else ([judged[0]], *judged[1:])


def judge_walked(model: Model, block: Block) -> Judged | None:
    """Judge a block of a stream by a table, of which what is wrong is encoded again; None if the table does not do.

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
    byte_at = block.byte + running_sum(block.sizes(model.lengths))
    parts = parts[parts[:, 1] <= count]
    stream = np.searchsorted(begins, parts[:, 0], side="right") - 1
    make = partial(_of_pieces, model, block.first) if trip is None else partial(_of_tokens, trip, block.first)
    if is_split_at_once(model):
        encoded, odd = encode_parts(model, ids, parts, ends[stream], np.arange(len(parts)), around_broken=True)
        rows = (differing_pieces if trip is None else differing_tokens)(model, ids, encoded, byte_at)
    else:
        rows, odd = Rows.none(), np.ones(len(parts), dtype=np.bool_)
    found = [(at, [block.out_of_range(at, int(byte_at[at]))]) for at in block.unknown.tolist() if at < count]
    covered: list[tuple[int, int]] = []
    done = 0
    for part in np.flatnonzero(odd).tolist():
        at, until, end = max(int(parts[part, 0]), done), int(parts[part, 1]), int(ends[stream[part]])
        if at >= until:
            continue
        judge = closely(model, block.first + at, int(byte_at[at]), _CLOSE)
        violations = [*judge.feed(ids[at:end], block.first + until - 1)]
        done = judge.buffer.first - block.first
        is_whole = done < until or judge.drops_text
        if is_whole and end == n and not block.is_last:
            # What follows decides.
            count = done = at
            break
        if is_whole:
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
        merged += (Spans(rows.chosen(slice(low, high)), make), violations)
        low = high
    return [*merged, Spans(rows.chosen(slice(low, None)), make)]


def _of_pieces(model: Model, first: int, rows: Rows, number: int) -> Violation:
    """Return a violation, given where the ids of its rows begin in the stream."""
    start, byte = first + int(rows.first[number]), int(rows.byte[number])
    ids, _, ends = rows.row(number)
    if rows.is_text[number]:
        return violation_of(model, ids, start, byte, ends)
    return not_utf8(b"".join(map(model.bytes_of, ids.tolist())), ids, start, byte, ends)


def _of_tokens(trip: RoundTrip, first: int, rows: Rows, number: int) -> Violation:
    """Return a violation, given where the ids of its rows begin in the stream."""
    start, byte = first + int(rows.first[number]), int(rows.byte[number])
    ids, canonical, ends = rows.row(number)
    if not rows.is_text[number]:
        return not_utf8(trip.spelled(ids)[0], ids, start, byte, ends)
    return otherwise(trip, ids.tolist(), canonical.tolist()).at(
        index=start,
        detected_at=start + max(trip.detected(ids, 0, len(ids)), 0),
        byte_offset=byte,
        start=start,
        ids=ids,
        canonical_ids=canonical,
    )


def not_utf8(data: bytes, ids: Int32Array, start: int, byte: int, ends: Int64Array) -> Violation:
    """Return the violation of ids in a symbol that is not UTF-8, which begins and ends at places in their bytes."""
    low, high = ends.tolist()
    return Cause(kind=ViolationKind.NOT_UTF8, bad_bytes=data[low:high]).at(
        index=start, detected_at=start + len(ids) - 1, byte_offset=byte + low, start=start, ids=ids, canonical_ids=None
    )
