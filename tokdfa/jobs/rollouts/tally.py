"""The findings in many rollouts, counted: by class, by kind, by rule and by position."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from tokdfa.jobs.rollouts.result import RolloutCheck, Summed
from tokdfa.jobs.rollouts.stretches import Counts, StretchClass
from tokdfa.jobs.validation.kind import ViolationKind
from tokdfa.jobs.validation.violation import Violation

PARTS = 40
"""The number of parts into which each rollout is divided to count by position."""


class Example(NamedTuple):
    """A stretch and where it is."""

    source: str
    stretch_class: StretchClass
    violation: Violation


class Tally(Summed):
    """The sums of the checks of many rollouts, in memory that does not grow with their number.

    For each class there are the numbers of stretches, of ids in them and of rollouts that have some, and the first
    `n_examples` stretches; and numbers by class and kind, by class and rule, and by class and part of the rollout in
    which a stretch begins. `merges` has the two words that each rule merges.
    """

    def __init__(self, n_examples: int = 10) -> None:
        self.rollouts = self.tokens = self.sampled = 0
        self.counts = self.ids_in = self.rollouts_with = Counts()
        self.kinds: Counter[tuple[StretchClass, ViolationKind]] = Counter()
        self.rules: Counter[tuple[StretchClass, int]] = Counter()
        self.places: Counter[tuple[StretchClass, int]] = Counter()
        self.merges: dict[int, tuple[object, object]] = {}
        self.examples: list[Example] = []
        self._n_examples = n_examples
        self._n_kept: Counter[StretchClass] = Counter()

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
        self.counts = Counts(*map(sum, zip(self.counts, check.counts, strict=True)))
        self.ids_in = Counts(*map(sum, zip(self.ids_in, check.ids_in, strict=True)))
        self.rollouts_with = Counts(*(n + bool(m) for n, m in zip(self.rollouts_with, check.counts, strict=True)))
        for stretch_class, start, _, cause in check.iter_causes():
            self.kinds[stretch_class, cause.kind] += 1
            self.places[stretch_class, PARTS * start // max(check.tokens, 1)] += 1
            if cause.rule is not None and cause.merge is not None:
                self.rules[stretch_class, cause.rule] += 1
                self.merges.setdefault(cause.rule, cause.merge)
        for stretch_class in StretchClass:
            room = self._n_examples - self._n_kept[stretch_class]
            if room > 0 and getattr(check.counts, stretch_class.value):
                found = check.of_class(stretch_class)[:room]
                self._n_kept[stretch_class] += len(found)
                self.examples += (Example(str(source), stretch_class, violation) for violation in found)
