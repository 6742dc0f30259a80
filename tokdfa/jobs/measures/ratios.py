"""The greatest ratio of two sums along canonical streams, such as bytes a token, with a text that attains it.

Dinkelbach's method: the ratio of some text is a first guess. Each id then weighs its gain less the guess times its
cost, and a cycle with a positive sum has a greater ratio, which is the next guess. If no cycle has one, then the sums
are potentials that prove that no text has a greater ratio. At the end of a text, a path may begin another one, so
texts are cycles, too. A cycle within a text is repeated: longer and longer texts approach its ratio.

W. Dinkelbach, *On nonlinear fractional programming*, 1967.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from tokdfa.base.arrays import Int64Array
from tokdfa.jobs.measures.climbing import RESET, Climb, end_of, reach
from tokdfa.jobs.measures.paths import Paths


class Pumped(NamedTuple):
    """The labels of texts: the beginning, a part that may be repeated unless it is empty, and the end."""

    before: tuple[int, ...] = ()
    repeated: tuple[int, ...] = ()
    after: tuple[int, ...] = ()

    def labels(self, times: int = 1) -> tuple[int, ...]:
        """Return the labels with the part repeated so often."""
        return self.before + self.repeated * times + self.after

    def finite(self) -> Iterator[Pumped]:
        """Yield the texts with the part repeated 64 times, 32 times, and so on."""
        return (Pumped(after=self.labels(1 << n)) for n in range(6, -1, -1))


class Ratio(NamedTuple):
    """A greatest ratio, with its text, and the potentials that prove it."""

    value: Fraction
    stream: Pumped
    potentials: Climb


def pumped(paths: Paths, state: int, steps: Iterable[int], reached: Climb | None = None) -> Pumped:
    """Return a stream that repeats some steps, which lead from a state to itself; `reached` has paths to the state."""
    before = (reached or reach(paths, up_to=state)).path(state)[1]
    return Pumped(tuple(before), tuple(steps), tuple(end_of(paths, reach(paths, state, up_to_end=True))))


def ratio_of(gain: Int64Array, cost: Int64Array, labels: Sequence[int]) -> Fraction:
    """Return the sum of the gains of some labels over the sum of their costs."""
    chosen = [*labels]
    return Fraction(int(gain[chosen].sum()), int(cost[chosen].sum()))


def greatest_ratio(paths: Paths, reached: Climb, gain: Int64Array, cost: Int64Array, first: tuple[int, ...]) -> Ratio:
    """Return the greatest sum of gains over the sum of costs of any text; `first` are the ids of some text."""
    ratio = partial(ratio_of, gain, cost)
    value, stream = ratio(first), Pumped(after=first)
    while True:
        weight = value.denominator * gain - value.numerator * cost
        climb = Climb(paths, weight, reached.codes, resets=True)
        found = climb.cycle()
        if found is None:
            return Ratio(value, stream, climb)
        state, steps = found
        if RESET in steps:
            best = max((tuple(steps[at] for at in text) for text in texts_of_cycle(steps)), key=ratio)
            value, stream = ratio(best), Pumped(after=best)
        else:
            value, stream = ratio(steps), pumped(paths, state, steps, reached)


def texts_of_cycle(steps: list[int]) -> list[list[int]]:
    """Return the indices of the steps of each text of a cycle that begins texts anew."""
    resets = [at for at, step in enumerate(steps) if step == RESET]
    stops = [*resets[1:], resets[0] + len(steps)]
    texts = ([at % len(steps) for at in range(begin + 1, stop)] for begin, stop in zip(resets, stops, strict=True))
    return [text for text in texts if text]
