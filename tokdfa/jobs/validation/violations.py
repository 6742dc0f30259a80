"""Violations that are found many at once, each made when it is read, and the answer of validation."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple, overload

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array, ranges
from tokdfa.base.verdict import Verdict, cut_short
from tokdfa.jobs.validation.violation import Violation, ViolationKind

__all__ = ["Validation", "Violations", "validation"]

KINDS = (*ViolationKind,)
KIND_INDEX = {kind: number for number, kind in enumerate(KINDS)}


class Rows(NamedTuple):
    """Parts of a stream that are not canonical, in order, next to the ids that belong in their place.

    Part k begins with the id ``first[k]`` of the stream, at the offset ``byte[k]``, and has the ids
    ``ids[slice(*spans[k])]``. The ids that belong in its place are in `canonical`, likewise, and in `ends` offsets in
    its bytes, counted from its beginning: the ends of the pieces of its text, none if they are not known; of ids that
    are not UTF-8, unless it `is_text`, the beginning of the first wrong byte and the end of the last.
    """

    first: Int64Array
    byte: Int64Array
    ids: Int32Array
    spans: Int64Array
    canonical: Int32Array
    canonical_spans: Int64Array
    ends: Int64Array
    ends_spans: Int64Array
    is_text: BoolArray

    @classmethod
    def of(cls, ids: Int32Array, sides: Sequence[Int64Array], canonical: Int32Array, byte: Int64Array) -> Rows:
        """Return parts of `ids`, of text: part k begins at the offset ``byte[k]``, and no pieces are known.

        The `sides` are the first id of each part and the one after its last, and the same of `canonical`.
        """
        starts, stops, lows, highs = sides
        (given, bounds), (right, right_bounds) = ranges(starts, stops), ranges(lows, highs)
        spans, right_spans = spans_between(bounds), spans_between(right_bounds)
        none, is_text = np.zeros(0, dtype=np.int64), np.ones(len(starts), dtype=np.bool_)
        return cls(starts, byte, ids[given], spans, canonical[right], right_spans, none, np.zeros_like(spans), is_text)

    def chosen(self, keep: BoolArray | Int64Array | slice) -> Rows:
        """Return some of the parts."""
        of_parts = ("first", "byte", "spans", "canonical_spans", "ends_spans", "is_text")
        return self._replace(**{name: getattr(self, name)[keep] for name in of_parts})

    def row(self, number: int) -> tuple[Int32Array, Int32Array, Int64Array]:
        """Return the ids of a part, the ids that belong in their place, and the ends."""
        return (
            self.ids[slice(*self.spans[number])],
            self.canonical[slice(*self.canonical_spans[number])],
            self.ends[slice(*self.ends_spans[number])],
        )

    def with_others(self, other: Rows) -> Rows:
        """Return the parts of both, in order."""
        if not len(other.first):
            return self
        moved = other._replace(
            spans=other.spans + len(self.ids),
            canonical_spans=other.canonical_spans + len(self.canonical),
            ends_spans=other.ends_spans + len(self.ends),
        )
        sides: Any = zip(self, moved, strict=True)
        both = Rows(*map(np.concatenate, sides))
        return both.chosen(np.argsort(both.first, kind="stable"))


def spans_between(bounds: Int64Array) -> Int64Array:
    """Return the ranges between neighbouring bounds: an int64 array of shape (ranges, 2)."""
    return np.column_stack((bounds[:-1], bounds[1:]))


_NOTHING: Int64Array = np.zeros(0, dtype=np.int64)
NO_ROWS = Rows.of(np.zeros(0, dtype=np.int32), [_NOTHING] * 4, np.zeros(0, dtype=np.int32), _NOTHING)
"""No parts."""


class Outline(NamedTuple):
    """The properties of violations that are counted, as arrays with an entry each; see :class:`~tokdfa.Violation`."""

    starts: Int64Array
    indices: Int64Array
    kinds: Uint8Array  # The index in `KINDS`
    rules: Int64Array  # -1 for none

    @classmethod
    def of(cls, violations: Sequence[Violation]) -> Outline:
        """Return the outline of violations; with `Spans`, they are made only if their kind depends on their ids."""
        if isinstance(violations, Spans):
            return violations.outline()
        rules = [-1 if each.rule is None else each.rule for each in violations]
        return cls(
            np.array([each.start for each in violations], dtype=np.int64),
            np.array([each.index for each in violations], dtype=np.int64),
            np.array([KIND_INDEX[each.kind] for each in violations], dtype=np.uint8),
            np.array(rules, dtype=np.int64),
        )


class Spans(Sequence["Violation"]):
    """Violations that are found at once; `make` makes the one with a given index when it is read first.

    Ids that are not UTF-8 are violations of that kind. `kind` is the kind of all others, where always the first id is
    wrong, or a function that returns the outline of rows, if that does not need them made. `first` is the index in
    the stream that the rows count from.
    """

    def __init__(
        self,
        rows: Rows,
        make: Callable[[Rows, int], Violation],
        first: int,
        kind: ViolationKind | Callable[[Rows, int], Outline | None],
    ) -> None:
        self.rows = rows
        self._make = make
        self._first = first
        self._kind = kind
        self._made: dict[int, Violation] = {}

    def outline(self) -> Outline:
        """Return the properties of the violations that are counted."""
        rows, kind = self.rows, self._kind
        start = self._first + rows.first
        kinds = np.full(len(start), KIND_INDEX[ViolationKind.NOT_UTF8], dtype=np.uint8)
        outline = Outline(start, start.copy(), kinds, np.full(len(start), -1, dtype=np.int64))
        text = np.flatnonzero(rows.is_text)
        if isinstance(kind, ViolationKind):
            kinds[text] = KIND_INDEX[kind]
            if kind is ViolationKind.NOT_LONGEST_MATCH:
                # Without ids, none can fail to be the longest.
                kinds[rows.is_text & (rows.spans[:, 0] == rows.spans[:, 1])] = KIND_INDEX[
                    ViolationKind.ENCODED_OTHERWISE
                ]
        elif len(text):
            found = kind(rows.chosen(text), self._first)
            sides: tuple[np.ndarray, ...] = outline
            found = Outline.of([self[number] for number in text.tolist()]) if found is None else found
            for side, others in zip(sides, found, strict=True):
                side[text] = others
        return outline

    def __len__(self) -> int:
        return len(self.rows.first)

    @overload
    def __getitem__(self, number: int) -> Violation: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Violation, ...]: ...
    def __getitem__(self, number: int | slice) -> Violation | tuple[Violation, ...]:
        if isinstance(number, slice):
            return tuple(self[each] for each in range(*number.indices(len(self))))
        found = self._made.get(number)
        if found is None:
            found = self._made[number] = self._make(self.rows, number)
        return found


class Violations(Sequence["Violation"]):
    """The violations of a stream, in order: a sequence that compares like a tuple.

    Parameters
    ----------
    parts : sequence of sequences of Violation
        One after the other.
    """

    __slots__ = ("_ends", "_parts")

    def __init__(self, parts: Sequence[Sequence[Violation]] = ()) -> None:
        self._parts = [part for part in parts if len(part)]
        self._ends = [*accumulate(map(len, self._parts))]

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> Violation: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Violation, ...]: ...
    def __getitem__(self, index: int | slice) -> Violation | tuple[Violation, ...]:
        if isinstance(index, slice):
            return tuple(self[each] for each in range(*index.indices(len(self))))
        at = range(len(self))[index]
        number = bisect_right(self._ends, at)
        part = self._parts[number]
        return part[at - self._ends[number] + len(part)]

    def __iter__(self) -> Iterator[Violation]:
        for part in self._parts:
            yield from part

    def __eq__(self, other: object) -> bool:
        if isinstance(other, tuple | Violations):
            return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        more = f", and {len(self) - _SHOWN:,} more" if len(self) > _SHOWN else ""
        return f"({', '.join(map(repr, self[:_SHOWN]))}{more})"

    def __reduce__(self) -> tuple[type[Violations], tuple[Any]]:
        # Violations to come refer to the tokenizer.
        return Violations, ((tuple(self),),)


_SHOWN = 3
"""The number of violations that are shown."""

NONE = Violations()
"""No violations."""


@dataclass(frozen=True, slots=True, repr=False)
class Validation(Verdict["Violation"]):
    """Whether a stream is canonical; truthy if it is.

    Attributes
    ----------
    holds, reason
        See :class:`Verdict`.
    witness : Violation or None
        The first violation.
    tokens : int
        The number of ids in the stream.
    violations : sequence of Violation
        All violations if they were asked for (``all=True``), otherwise only the first; empty if there are none. It
        compares like a tuple. The violations of an array are found at once, and each is made when it is read.

    Examples
    --------
    >>> verdict = tokdfa.validate(tokdfa.default_tokenizer(), [64, 261, 1193])
    >>> bool(verdict), verdict.tokens, verdict.index, verdict.canonical_ids
    (False, 3, 1, (2513,))
    """

    tokens: int = 0
    violations: Violations = NONE

    def __repr__(self) -> str:
        if self.witness is None:
            return f"Validation(True: {self.tokens:,} tokens)"
        n = len(self.violations)
        found = f"{self.tokens:,} tokens" + (f", {n:,} violations" if n > 1 else "")
        return f"Validation(False: {found}; {self.witness!r}: {cut_short(self.reason, 120)})"

    @property
    def index(self) -> int | None:
        """The first token that the tokenizer would not have given; see :class:`Violation`."""
        return None if self.witness is None else self.witness.index

    @property
    def detected_at(self) -> int | None:
        """The token at which this became known."""
        return None if self.witness is None else self.witness.detected_at

    @property
    def byte_offset(self) -> int | None:
        """The byte offset in the stream at which that token begins."""
        return None if self.witness is None else self.witness.byte_offset

    @property
    def ids(self) -> tuple[int, ...] | None:
        """The ids of the piece concerned, as in the stream."""
        return None if self.witness is None else self.witness.ids

    @property
    def canonical_ids(self) -> tuple[int, ...] | None:
        """The ids that should be in its place; None without a violation, or if no text has these bytes."""
        return None if self.witness is None else self.witness.canonical_ids


def validation(tokens: int, violations: Sequence[Violation] = NONE) -> Validation:
    """Return the verdict on a stream, given its number of ids and its violations."""
    if not violations:
        return _canonical(tokens)
    every = violations if isinstance(violations, Violations) else Violations([violations])
    return Validation(False, every[0], every[0].reason, tokens, every)


# Kept, because making one takes longer than walking over a short stream.
@lru_cache(maxsize=1 << 10)
def _canonical(tokens: int) -> Validation:
    return Validation(True, None, "the ids are exactly those that their text is encoded as", tokens)
