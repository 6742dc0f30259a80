"""The violations found in a block: some known, others in arrays, to be made when they are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.jobs.validation.judges.stretch import otherwise
from tokdfa.jobs.validation.kind import ViolationKind
from tokdfa.jobs.validation.violation import Cause
from tokdfa.jobs.validation.violations import Rows, Spans

if TYPE_CHECKING:
    from tokdfa.jobs.validation.violation import Violation
    from tokdfa.tokenizers.models.unigram.lattice import Scores
    from tokdfa.tokenizers.round_trip import RoundTrip

__all__ = ["CLOSE", "Judged", "are_within", "encoded_otherwise", "merged", "not_utf8", "spans_of_tokens"]

CLOSE = 1 << 5
"""The number of ids of a window where ids are judged one by one."""


class Judged(NamedTuple):
    """The violations in the first ids of a block, the number of these ids, the offset at which they end.

    `begins` is whether a text begins after them, and `following` its round trip, if the text before counts. The offset
    may not be the end if nothing follows the block and nothing is wrong in it.

    No ids are judged if nothing in the block decides the violations at its beginning.
    """

    violations: list[Sequence[Violation]]
    n_ids: int
    byte: int
    begins: bool = True
    following: RoundTrip | None = None


def are_within(places: Int64Array, intervals: list[tuple[int, int]]) -> BoolArray:
    """Return which indices are in one of some ascending intervals."""
    if not intervals:
        return np.zeros(len(places), dtype=np.bool_)
    begins, ends = np.array(intervals).T
    number = np.searchsorted(begins, places, side="right")
    within: BoolArray = places < np.append(0, ends)[number]
    return within


def merged(
    found: list[tuple[int, list[Violation]]],
    rows: Rows,
    spans_of: Callable[[Rows], Spans],
    places: Int64Array | None = None,
) -> list[Sequence[Violation]]:
    """Return violations found one by one, each with its index, and violations in rows, at `places`, all in order."""
    parts: list[Sequence[Violation]] = []
    low = 0
    places = rows.first if places is None else places
    bounds = np.searchsorted(places, np.array([at for at, _ in found], dtype=np.int64)).tolist()
    for high, (_, violations) in zip(bounds, found, strict=True):
        parts += (spans_of(rows.chosen(slice(low, high))), violations)
        low = high
    return [*parts, spans_of(rows.chosen(slice(low, None)))]


def spans_of_tokens(trip: RoundTrip, first: int, around: Int32Array, rows: Rows) -> Spans:
    """Return the violations in rows, given the ids that these are in, and where the ids begin in the stream."""
    kind = ViolationKind.NOT_LONGEST_MATCH if trip.takes_longest else ViolationKind.ENCODED_OTHERWISE
    return Spans(rows, partial(_of_tokens, trip, first, around), first, kind)


def _of_tokens(trip: RoundTrip, first: int, around: Int32Array, rows: Rows, number: int) -> Violation:
    """Return one of the violations in rows."""
    at = int(rows.first[number])
    start, byte = first + at, int(rows.byte[number])
    ids, canonical, ends = rows.row(number)
    if not rows.is_text[number]:
        return not_utf8(trip.spelled(ids)[0], ids, start, byte, ends)
    return encoded_otherwise(trip, first, around, at, byte, ids, canonical)


def encoded_otherwise(
    trip: RoundTrip,
    first: int,
    around: Int32Array,
    at: int,
    byte: int,
    ids: Int32Array,
    canonical: Int32Array,
    scores: Scores | None = None,
) -> Violation:
    """Return the violation of ids where a tokenizer gives others; they are `around` from the index `at` on."""
    return otherwise(trip, ids.tolist(), canonical.tolist(), scores).at(
        index=first + at,
        detected_at=first + max(trip.detected(around, at, at + len(ids)), at),
        byte_offset=byte,
        start=first + at,
        ids=ids,
        canonical_ids=canonical,
    )


def not_utf8(data: bytes, ids: Int32Array, start: int, byte: int, ends: Int64Array) -> Violation:
    """Return the violation of ids in a symbol that is not UTF-8, which begins and ends at offsets in their bytes."""
    low, high = ends.tolist()
    return Cause(kind=ViolationKind.NOT_UTF8, bad_bytes=data[low:high]).at(
        index=start, detected_at=start + len(ids) - 1, byte_offset=byte + low, start=start, ids=ids, canonical_ids=None
    )
