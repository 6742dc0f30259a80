"""The answer for a rollout, and for many: check by check, or counted by class, by kind, by rule and by position."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple, TypeAlias, overload

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.suggestions import SuggestsNames
from tokdfa.base.verdict import Displayed
from tokdfa.jobs.rollouts.seams import SeamCounter
from tokdfa.jobs.rollouts.spans import ENCODED, OUT_OF_RANGE, Counts, Shares, SpanClass, Spans, cause_of
from tokdfa.jobs.validation.violation import Cause, Violation, ViolationKind, common_prefix, out_of_range
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["RolloutCheck", "RolloutChecks"]

_Violations: TypeAlias = tuple[Violation, ...]


class Found(NamedTuple):
    """A rollout's spans among the spans of a parcel: from `low` to `high`; the rollout begins at `first`."""

    spans: Spans
    classes: Int64Array
    low: int
    high: int
    first: int


_NONE = Counts()
NONE_MISSING: Mapping[int, int] = MappingProxyType({})
"""No ids that a tokenizer does not have."""


class Summed:
    """The numbers of ids in one or several rollouts, and of spans by their class."""

    __slots__ = ()

    tokens: int
    sampled: int
    counts: Counts
    ids_in: Counts

    @property
    def shares(self) -> Shares:
        """The share of frozen ids in bugs, of sampled ids in drift, and of all ids in junctions; 0 of none."""
        of = (self.tokens - self.sampled, self.sampled, self.tokens)
        return Shares(*(n / whole if whole else 0.0 for n, whole in zip(self.ids_in, of, strict=True)))

    @property
    def _n_rollouts(self) -> int | None:
        return None

    @property
    def reason(self) -> str:
        """The answer in one line."""
        return summary(self.tokens, self.sampled, self.counts, self.shares, rollouts=self._n_rollouts)


class RolloutCheck(Summed, Displayed):
    """The spans of a rollout that are not canonical, by who wrote them; truthy iff there are no bugs.

    Violations are made when they are asked for; counts and shares cost nothing.

    Attributes
    ----------
    tokens : int
        The number of ids.
    sampled : int
        The number of ids that the model sampled.
    counts : Counts
        The number of bugs, of spans of drift and of junctions.
    ids_in : Counts
        The number of ids in them.
    out_of_range : int
        The number of ids that the tokenizer does not have. Each is a bug or drift, too.

    Examples
    --------
    >>> check = tokdfa.check_rollout(tokdfa.default_tokenizer(), [64, 261, 1193], prompt=1)
    >>> bool(check), check.counts
    (True, Counts(bugs=0, drift=1, junctions=0))
    >>> check.drift[0].ids, check.drift[0].canonical_ids, check.drift[0].rule
    ((261, 1193), (2513,), 2257)
    >>> check.shares.drift
    1.0
    """

    __slots__ = (
        "__dict__", "_found", "_ids", "_mask", "_missing", "_tokenizer", "counts", "ids_in", "out_of_range", "sampled",
        "tokens",
    )  # fmt: skip

    def __init__(
        self,
        tokenizer: AnyTokenizer,
        ids: Int32Array,
        sampled: int,
        counts: Counts = _NONE,
        ids_in: Counts = _NONE,
        found: Found | None = None,
        missing: Mapping[int, int] = NONE_MISSING,
        mask: BoolArray | None = None,
    ) -> None:
        self._tokenizer = tokenizer
        self._ids = ids
        self._found = found
        self._mask = mask
        self._missing = missing  # The ids that the tokenizer does not have, by index, where others stand in.
        self.tokens = len(ids)
        self.sampled = sampled
        self.counts = counts
        self.ids_in = ids_in
        self.out_of_range = 0
        if found is not None and missing:
            outcomes = found.spans.outcomes[found.low : found.high]
            self.out_of_range = int(np.count_nonzero(outcomes == OUT_OF_RANGE))

    def __bool__(self) -> bool:
        return not self.counts.bugs

    @property
    def tokenizer(self) -> AnyTokenizer:
        """The tokenizer."""
        return self._tokenizer

    @property
    def holds(self) -> bool:
        """Whether there are no bugs."""
        return not self.counts.bugs

    @property
    def witness(self) -> Violation | None:
        """The first bug; None if there is none."""
        return next(iter(self.bugs), None)

    @property
    def bugs(self) -> _Violations:
        """The spans without a sampled id, in order."""
        return self._by_class[SpanClass.BUG]

    @property
    def drift(self) -> _Violations:
        """The spans with all ids sampled, in order."""
        return self._by_class[SpanClass.DRIFT]

    @property
    def junctions(self) -> _Violations:
        """The spans with some ids sampled and some not, in order."""
        return self._by_class[SpanClass.JUNCTION]

    def of_class(self, span_class: SpanClass) -> _Violations:
        """Return the spans of a class."""
        return self._by_class[span_class]

    def around(self, violation: Violation, most: int = 8) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return at most so many ids before a violation, and after it."""
        end = violation.start + len(violation.ids)
        before, after = range(max(violation.start - most, 0), violation.start), range(end, min(end + most, self.tokens))
        return tuple(map(self._id, before)), tuple(map(self._id, after))

    def _id(self, index: int) -> int:
        return self._missing.get(index, int(self._ids[index]))

    @cached_property
    def _by_class(self) -> dict[SpanClass, _Violations]:
        found: dict[SpanClass, list[Violation]] = {each: [] for each in SpanClass}
        gaps = deque(self._missing)
        begin = byte = 0  # The id with which the text begins that a span is in, and its byte offset.
        for span_class, start, ids, canonical, outcome in self.iter_spans():
            index = start + (common_prefix(ids, canonical) if outcome == ENCODED else 0)
            while gaps and gaps[0] < index:
                byte += self._size(begin, gaps[0])
                begin = gaps.popleft() + 1
            offset = byte + self._size(begin, index)
            if outcome == OUT_OF_RANGE:
                found[span_class].append(out_of_range(self._missing[start], start, offset))
                continue
            cause, shown_by = cause_of(self._tokenizer, ids, canonical, outcome)
            shown_at, right = max(start + shown_by, index), canonical if outcome == ENCODED else None
            violation = cause.at(
                index=index, detected_at=shown_at, byte_offset=offset, start=start, ids=ids, canonical_ids=right
            )
            found[span_class].append(violation)
        return {each: tuple(violations) for each, violations in found.items()}

    def iter_causes(self) -> Iterator[tuple[SpanClass, int, int, Cause]]:
        """Yield the class, the first id, the number of ids and the cause of each span, in order."""
        for span_class, start, ids, canonical, outcome in self.iter_spans():
            if outcome == OUT_OF_RANGE:
                cause = Cause(kind=ViolationKind.ID_OUT_OF_RANGE, token=self._missing[start])
            else:
                cause, _ = cause_of(self._tokenizer, ids, canonical, outcome)
            yield span_class, start, len(ids), cause

    def iter_keys(self) -> Iterator[tuple[SpanClass, object]]:
        """Yield the class of each span and a key: the same for spans of a class with the same ids and canonical ids."""
        for span_class, start, ids, canonical, outcome in self.iter_spans():
            given = self._missing[start] if outcome == OUT_OF_RANGE else ids.tobytes()
            yield span_class, (span_class, outcome, given, canonical.tobytes())

    def _size(self, begin: int, end: int) -> int:
        """Return the number of bytes of the ids from `begin` to `end`, as a text of their own."""
        return len(self._tokenizer.round_trip.spelled(self._ids[begin:end])[0]) if begin < end else 0

    @property
    def given(self) -> tuple[Int32Array, BoolArray | None]:
        """The ids, with others for those that the tokenizer does not have, and which were sampled; None for all."""
        return self._ids, self._mask

    def part(self, low: int, high: int) -> list[int]:
        """Return the ids from `low` to before `high`."""
        return [*map(self._id, range(low, min(high, self.tokens)))]

    def sampled_within(self, low: int, high: int) -> BoolArray:
        """Return for each id from `low` to before `high` whether it was sampled."""
        return np.ones(high - low, dtype=np.bool_) if self._mask is None else self._mask[low:high]

    def iter_spans(self) -> Iterator[tuple[SpanClass, int, Int32Array, Int32Array, int]]:
        """Yield the class, the first id, the ids, the canonical ids and the outcome of each span."""
        if self._found is None:
            return
        names = [*SpanClass]
        found, numbers, low, high, first = self._found
        rows = zip(numbers[low:high].tolist(), found.rows(low, high), strict=True)
        for number, (start, stop, canonical, outcome) in rows:
            yield names[number], start - first, self._ids[start - first : stop - first], canonical, outcome

    def __repr__(self) -> str:
        return f"RolloutCheck({self.reason})"


class RolloutChecks(Summed, SuggestsNames, Sequence[RolloutCheck]):
    """The answers for many rollouts, in order; truthy iff none has a bug.

    Attributes
    ----------
    tokens, sampled, counts, ids_in, out_of_range, shares, reason
        As of :class:`RolloutCheck`, for all rollouts together.

    Examples
    --------
    >>> checks = tokdfa.check_rollouts(tokdfa.default_tokenizer(), [[64, 2513], [64, 261, 1193]])
    >>> len(checks), bool(checks), checks.counts.drift, round(checks.shares.drift, 2)
    (2, True, 1, 0.4)
    """

    def __init__(self, checks: Sequence[RolloutCheck]) -> None:
        self._checks = tuple(checks)
        self.tokens = sum(check.tokens for check in checks)
        self.sampled = sum(check.sampled for check in checks)
        self.counts = Counts.total(check.counts for check in checks)
        self.ids_in = Counts.total(check.ids_in for check in checks)
        self.out_of_range = sum(check.out_of_range for check in checks)

    @property
    def _n_rollouts(self) -> int:
        return len(self)

    def __bool__(self) -> bool:
        return not self.counts.bugs

    def __len__(self) -> int:
        return len(self._checks)

    @overload
    def __getitem__(self, index: int) -> RolloutCheck: ...

    @overload
    def __getitem__(self, index: slice) -> RolloutChecks: ...

    def __getitem__(self, index: int | slice) -> RolloutCheck | RolloutChecks:
        """Return the answer for a rollout, or those for several."""
        return RolloutChecks(self._checks[index]) if isinstance(index, slice) else self._checks[index]

    def __repr__(self) -> str:
        return f"RolloutChecks({self.reason})"


def summary(tokens: int, sampled: int, counts: Counts, shares: Shares, *, rollouts: int | None = None) -> str:
    """Return the answer in one line, which a trainer can log.

    Examples
    --------
    >>> summary(2000, 1500, Counts(0, 12, 1), Shares(0.0, 0.016, 0.0015), rollouts=4)
    '4 rollouts, 2,000 ids, 1,500 sampled: 0 bugs, drift 1.6000 % (12 spans), 1 junction'
    """
    head = "" if rollouts is None else f"{counted(rollouts, 'rollout')}, "
    return (
        f"{head}{counted(tokens, 'id')}, {sampled:,} sampled: {counted(counts.bugs, 'bug')}, "
        f"drift {100 * shares.drift:.4f} % ({counted(counts.drift, 'span')}), "
        f"{counted(counts.junctions, 'junction')}"
    )


def counted(count: int, noun: str, plural: str = "s") -> str:
    """Return a number and its noun, in the plural unless it is one."""
    return f"{count:,} {noun}{plural * (count != 1)}"


PARTS = 40
"""The number of parts into which each rollout is divided to count by position."""


@dataclass(slots=True)
class Example:
    """The first of `count` spans with the same ids and canonical ids, with up to 8 ids before and after it."""

    source: str
    span_class: SpanClass
    violation: Violation
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    count: int = 0


class Tally(Summed):
    """The sums of the checks of many rollouts, in memory that does not grow with their number.

    For each class there are the numbers of spans, of ids in them and of rollouts that have some, and the first
    `n_examples` different spans, each with its number; and numbers by class and kind, by class and rule, and by class
    and part of the rollout in which a span begins. `merges` has the two words that each rule merges; `seams` has the
    numbers by seam.
    """

    def __init__(self, n_examples: int = 10) -> None:
        self.rollouts = self.tokens = self.sampled = 0
        self.counts = self.ids_in = self.rollouts_with = Counts()
        self.kinds: Counter[tuple[SpanClass, ViolationKind]] = Counter()
        self.rules: Counter[tuple[SpanClass, int]] = Counter()
        self.positions: Counter[tuple[SpanClass, int]] = Counter()
        self.merges: dict[int, tuple[object, object]] = {}
        self.examples: list[Example] = []
        self._n_examples = n_examples
        self._n_kept: Counter[SpanClass] = Counter()
        self._known: dict[object, Example] = {}
        self.seams = SeamCounter()

    @property
    def _n_rollouts(self) -> int:
        return self.rollouts

    def add(self, check: RolloutCheck, source: object = "") -> None:
        """Add the check of a rollout."""
        self.rollouts += 1
        self.tokens += check.tokens
        self.sampled += check.sampled
        if not any(check.counts):
            return
        self.counts = Counts.total((self.counts, check.counts))
        self.ids_in = Counts.total((self.ids_in, check.ids_in))
        self.rollouts_with = Counts.total((self.rollouts_with, Counts(*map(bool, check.counts))))
        for span_class, start, _, cause in check.iter_causes():
            self.kinds[span_class, cause.kind] += 1
            self.positions[span_class, PARTS * start // max(check.tokens, 1)] += 1
            if cause.rule is not None and cause.merge is not None:
                self.rules[span_class, cause.rule] += 1
                self.merges.setdefault(cause.rule, cause.merge)
        self.seams.add(check.tokenizer, check, source)
        n_spans: Counter[SpanClass] = Counter()
        for span_class, key in check.iter_keys():
            example = self._known.get(key)
            if example is None and self._n_kept[span_class] < self._n_examples:
                violation = check.of_class(span_class)[n_spans[span_class]]
                example = self._known[key] = Example(str(source), span_class, violation, *check.around(violation))
                self._n_kept[span_class] += 1
                self.examples.append(example)
            if example is not None:
                example.count += 1
            n_spans[span_class] += 1
