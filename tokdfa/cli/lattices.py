"""The lattice around each violation of a Unigram tokenizer, as ``tokdfa validate --explain`` shows it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from tokdfa.automata.alphabet import quoted

if TYPE_CHECKING:
    from tokdfa.jobs.validation.violation import Violation
    from tokdfa.tokenizers.models.unigram.lattice import Scores, Way
    from tokdfa.tokenizers.models.unigram.segmenter import Segmenter
    from tokdfa.tokenizers.protocol import AnyTokenizer

_MOST_WAYS = 100
"""The number of pieces of a lattice that are shown."""


class Lattices:
    """The lattices of the texts that violations are about."""

    def __init__(self, segmenter: Segmenter) -> None:
        self._segmenter = segmenter

    @classmethod
    def of(cls, tokenizer: AnyTokenizer) -> Lattices:
        """Return the lattices of a tokenizer; refused if it is not a Unigram tokenizer."""
        if tokenizer.segmenter is None:
            raise click.UsageError(
                f"--explain prints the lattice of a Unigram tokenizer, and this is a {tokenizer.algorithm} tokenizer; "
                "its violations say why without it"
            )
        return cls(tokenizer.segmenter)

    def as_json(self, violation: Violation) -> dict[str, Any]:
        """Return the fields of a violation, with the pieces of its lattice."""
        fields = violation.as_json()
        if violation.scores is not None:
            fields["scores"] |= {"lattice": [_way(way) for way in islice(self._ways(violation.scores), _MOST_WAYS)]}
        return fields

    def _ways(self, scores: Scores) -> Iterator[Way]:
        from tokdfa.tokenizers.models.unigram.lattice import lattice

        return lattice(self._segmenter, scores)

    def lines(self, violation: Violation) -> Iterator[str]:
        """Yield the lines that show the lattice of the text that both segmentations have."""
        from tokdfa.tokenizers.models.unigram.lattice import MOST_SHOWN

        scores = violation.scores
        if scores is None:
            yield "    no scores decide here"
            return
        whole = "" if len(scores.text) < MOST_SHOWN else f", at most {MOST_SHOWN} characters"
        yield f"    lattice of {quoted(scores.text)}{whole}; the sum of scores before it is {_number(scores.before)}"
        ways = [*islice(self._ways(scores), _MOST_WAYS + 1)]
        names = [_name(way, scores) for way in ways]
        widest = max(map(len, names), default=0)
        stop = 0
        for way, name in zip(ways[:_MOST_WAYS], names, strict=False):
            end = f"to {way.stop}" if way.stop != stop else ""
            if end and scores.starts[way.stop] < 0:
                yield f"    {end:<6} best by a piece from before, sum {_number(scores.sums[way.stop])}"
                end = ""
            stop = way.stop
            sums = f"score {_number(way.score)}, sum {_number(way.sum)}{', best' if way.is_best else ''}"
            yield f"    {end:<6} {name:<{widest}}  from {way.start}, {sums}"
        if len(ways) > _MOST_WAYS:
            yield f"    … at most {_MOST_WAYS} pieces are shown"
        rounded = "sums are compared before they are rounded to 32 bits; of equal ones the longest last piece counts"
        exact = "of equal sums the one with the last piece that begins first counts"
        yield f"    {rounded if scores.is_rounded_late else exact}"


def _way(way: Way) -> dict[str, Any]:
    return {
        "start": way.start, "stop": way.stop, "id": way.id, "score": way.score, "sum": way.sum, "best": way.is_best
    }  # fmt: skip


def _name(way: Way, scores: Scores) -> str:
    text = quoted(scores.text[way.start : way.stop])
    return f"{text}, unknown" if way.id is None else f"{text} ({way.id})"


def _number(value: float) -> str:
    return f"{value:.9g}"
