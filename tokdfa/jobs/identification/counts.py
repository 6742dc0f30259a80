"""The violations of a tokenizer in segments of ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from tokdfa.base.arrays import BoolArray, Int64Array, IntegerArray
from tokdfa.jobs.identification.lost import near_unknown
from tokdfa.jobs.identification.sample import Segment
from tokdfa.jobs.validation.validator import Validator
from tokdfa.jobs.validation.violation import Violation
from tokdfa.jobs.validation.violations import KINDS, Outline
from tokdfa.tokenizers.protocol import AnyTokenizer

ENOUGH = 1000
"""The number of violations after which a candidate is not judged on."""


class Counts:
    """The violations in some ids."""

    def __init__(self) -> None:
        self.ids = 0
        self.kinds: Counter[str] = Counter()
        self.missing: Counter[int] = Counter()  # How often ids occur that the tokenizer does not have.
        self._parts: list[tuple[Sequence[Violation], Int64Array, IntegerArray]] = []

    @property
    def violations(self) -> int:
        """The number of violations, ids that the tokenizer does not have included."""
        return sum(self.kinds.values()) + sum(self.missing.values())

    @property
    def per_million(self) -> float:
        """The number of violations per million ids."""
        return 1e6 * self.violations / max(self.ids, 1)

    @cached_property
    def found(self) -> list[tuple[Violation, IntegerArray]]:
        """The violations, each with the ids of its segment; they are made when they are asked for."""
        return [(part[number], ids) for part, numbers, ids in self._parts for number in numbers.tolist()]

    def add(self, part: Sequence[Violation], segment: Segment, is_told: BoolArray) -> None:
        """Count the violations of a part whose first wrong id counts in the segment, and tells something."""
        outline = Outline.of(part)
        is_counted = (segment.begin <= outline.indices) & (outline.indices < segment.end)
        numbers = np.flatnonzero(is_counted & is_told[outline.indices])
        for kind, n in enumerate(np.bincount(outline.kinds[numbers], minlength=len(KINDS)).tolist()):
            if n:
                self.kinds[KINDS[kind].value] += n
        self._parts.append((part, numbers, segment.ids))


def count_violations(
    tokenizer: AnyTokenizer, segments: Iterable[Segment], enough: int = ENOUGH, separators: Iterable[int] = ()
) -> Counts:
    """Count the violations in segments until there are `enough`; `separators` are taken for ids between documents.

    Violations next to unknown ids are not counted.
    """
    counts = Counts()
    between = np.array([*separators], dtype=np.int64)
    for segment in segments:
        ids, begin, end, starts = segment[:4]
        is_separator = np.isin(ids, between)
        known, missing = tokenizer.decoder.check_known(ids)
        cuts = np.union1d(missing, np.flatnonzero(is_separator))
        # One past the end is an end that is not UTF-8.
        is_told = ~np.append(near_unknown(tokenizer, ids), False)
        validator = Validator(tokenizer, documents=())
        counts.ids += end - begin
        is_missing = ~tokenizer.decoder.mean_something(ids) & ~is_separator
        counts.missing.update(ids[begin:end][is_missing[begin:end]].tolist())
        for part in validator.iter_checked(known, starts, cuts):
            counts.add(part, segment, is_told)
        counts.add(validator.finish(), segment, is_told)
        if counts.violations >= enough:
            break
    return counts
