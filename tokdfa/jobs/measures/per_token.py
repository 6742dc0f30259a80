"""The fewest and the most bytes and characters per token, over all texts that are not empty."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, islice

import numpy as np

from tokdfa.base.arrays import Int64Array
from tokdfa.base.errors import LimitExceededError
from tokdfa.jobs.measures.attained import Texts
from tokdfa.jobs.measures.extremes import Extreme, Extremes
from tokdfa.jobs.measures.ratios import Pumped, Ratio, greatest_ratio, ratio_of

# Of these characters, all with four bytes, some have four tokens in nearly all tokenizers.
_LONG_CHARACTERS = range(0x10000, 0x110000, 64)


class Ratios:
    """The ratios of the texts of a tokenizer.

    `potentials` are the ratios that were proved of tokens and bytes: 1 for the most bytes a token, -1 for the fewest.
    """

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self.potentials: dict[int, Ratio] = {}

    def of_bytes(self) -> Extremes:
        """Return the fewest and the most bytes per token."""
        return self._both(self._texts.n_bytes)

    def of_characters(self) -> Extremes:
        """Return the fewest and the most characters per token."""
        return self._both(self._texts.n_characters)

    def _both(self, per: Int64Array) -> Extremes:
        tokens = self._texts.n_tokens
        return Extremes(self._of(tokens, per, inverted=True), self._of(per, tokens, inverted=False))

    def _of(self, gain: Int64Array, cost: Int64Array, *, inverted: bool) -> Extreme:
        """Return the most gain per cost; inverted, the least cost per gain."""
        texts, proved = self._texts, self._most(gain, cost)
        texts.begin_question()
        stream = self._first(gain, cost)
        value = ratio_of(gain, cost, stream.labels())
        if value != proved:
            try:
                ratio = greatest_ratio(texts.paths, texts.reached, gain, cost, stream.after)
                proved = ratio.value
                # If a part cannot be repeated at will, it is repeated as often as it can be.
                tried = chain((ratio.stream,), ratio.stream.finite())
                better = next(texts.confirmed(tried), stream)
                attained = ratio.value if better is ratio.stream else ratio_of(gain, cost, better.labels())
                if better is ratio.stream or attained > value:
                    value, stream = attained, better
                if cost is texts.n_bytes or gain is texts.n_bytes:
                    self.potentials[-1 if inverted else 1] = ratio
            except LimitExceededError:
                pass
        if inverted:
            return texts.extreme(stream, 1 / value, Fraction(0) if proved is None else 1 / proved)
        return texts.extreme(stream, value, proved)

    def _most(self, gain: Int64Array, cost: Int64Array) -> Fraction | None:
        """Return an upper bound of the gain per cost that the labels alone prove; None if there is none."""
        ordinary = self._texts.streams.ordinary
        if not self._texts.n_bytes[ordinary].all():
            return None
        if cost is self._texts.n_characters:
            # No character has more bytes.
            return Fraction(4)
        return Fraction(int(gain[ordinary].max(initial=1)))

    def _first(self, gain: Int64Array, cost: Int64Array) -> Pumped:
        """Return a text with a great ratio."""
        texts = self._texts
        single = texts.single()
        single = single[cost[single] > 0]
        single = single[np.argsort(-(gain[single] / cost[single]), kind="stable")]
        tried = [*islice(texts.confirmed(Pumped(after=(label,)) for label in single.tolist()), 1)]
        if texts.language is None and not gain.max() > 1:
            found = (texts.of_text(chr(code)) for code in _LONG_CHARACTERS)
            tried += texts.confirmed(stream for stream in found if stream is not None)
        if not tried:
            tried = [texts.first(texts.short())]
        return max(tried, key=lambda stream: ratio_of(gain, cost, stream.labels()))
