"""The violations in stretches of a store, counted up to as many as are enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain

import numpy as np

from tokdfa.base.arrays import IntegerArray
from tokdfa.jobs.identification.sample import Stretch
from tokdfa.jobs.validation.validator import Validator
from tokdfa.jobs.validation.violation import Violation
from tokdfa.tokenizers.protocol import AnyTokenizer

ENOUGH = 1000
"""The number of violations after which a candidate is not judged on."""


class Counts:
    """The violations in some ids."""

    def __init__(self) -> None:
        self.ids = 0
        self.kinds: Counter[str] = Counter()
        self.missing: Counter[int] = Counter()  # How often ids occur that the tokenizer does not have.
        self.found: list[tuple[Violation, IntegerArray]] = []  # Each with the ids of its stretch.

    @property
    def violations(self) -> int:
        """The number of violations, ids that the tokenizer does not have included."""
        return sum(self.kinds.values()) + sum(self.missing.values())

    @property
    def per_million(self) -> float:
        """The number of violations per million ids."""
        return 1e6 * self.violations / max(self.ids, 1)


def count_violations(
    tokenizer: AnyTokenizer, stretches: Iterable[Stretch], enough: int = ENOUGH, separators: Iterable[int] = ()
) -> Counts:
    """Count the violations in stretches until there are `enough`; `separators` are taken for ids between documents."""
    counts = Counts()
    between = np.array([*separators], dtype=np.int64)
    for stretch in stretches:
        _count(tokenizer, stretch, between, counts)
        if counts.violations >= enough:
            break
    return counts


def _count(tokenizer: AnyTokenizer, stretch: Stretch, between: IntegerArray, counts: Counts) -> None:
    ids = stretch.ids
    decoder = tokenizer.decoder
    means = decoder.mean_something(ids)
    is_separator = np.isin(ids, between) if len(between) else np.zeros(len(ids), dtype=np.bool_)
    known, missing = decoder.check_known(ids)
    cuts = np.union1d(missing, np.flatnonzero(is_separator))
    validator = Validator(tokenizer, documents=())
    found = [*chain.from_iterable(validator.iter_checked(known, stretch.starts, cuts)), *validator.finish()]
    counts.ids += stretch.end - stretch.begin
    inner = slice(stretch.begin, stretch.end)
    counts.missing.update(ids[inner][~means[inner] & ~is_separator[inner]].tolist())
    for violation in found:
        if stretch.begin <= violation.index < stretch.end:
            counts.kinds[violation.kind.value] += 1
            counts.found.append((violation, ids))
