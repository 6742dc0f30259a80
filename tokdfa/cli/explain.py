"""The lattice around a violation of a Unigram tokenizer, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from tokdfa.alphabet import quoted
from tokdfa.tokenizers.unigram import UnigramTokenizer
from tokdfa.unigram.lattice import MOST_SHOWN, Scores, Way, lattice

if TYPE_CHECKING:
    from tokdfa.tokenizers.protocol import AnyTokenizer
    from tokdfa.validation.violation import Violation

__all__ = ["MOST_WAYS", "as_unigram", "explanation", "lattice_as_json"]

MOST_WAYS = 100
"""The maximum number of pieces of a lattice that are printed."""


def as_unigram(tokenizer: AnyTokenizer) -> UnigramTokenizer:
    """Return a tokenizer whose violations have a lattice.

    Raises
    ------
    click.UsageError
        If it is of another kind.
    """
    if not isinstance(tokenizer, UnigramTokenizer):
        raise click.UsageError(
            f"--explain prints the lattice of a Unigram tokenizer, and this is a {tokenizer.algorithm} tokenizer; "
            "its violations say why without it"
        )
    return tokenizer


def explanation(tokenizer: UnigramTokenizer, violation: Violation) -> Iterator[str]:
    """Yield the lines that show the lattice of the text that both segmentations have."""
    scores = violation.scores
    if scores is None:
        yield "    no scores decide here"
        return
    whole = "" if len(scores.text) < MOST_SHOWN else f", at most {MOST_SHOWN} characters"
    yield f"    lattice of {quoted(scores.text)}{whole}; the sum of scores before it is {_number(scores.before)}"
    ways = [*islice(lattice(tokenizer.segmenter, scores), MOST_WAYS + 1)]
    names = [_name(way, scores) for way in ways]
    widest = max(map(len, names), default=0)
    stop = 0
    for way, name in zip(ways[:MOST_WAYS], names, strict=False):
        place = f"to {way.stop}" if way.stop != stop else ""
        if place and scores.starts[way.stop] < 0:
            yield f"    {place:<6} best by a piece from before, sum {_number(scores.sums[way.stop])}"
            place = ""
        stop = way.stop
        sums = f"score {_number(way.score)}, sum {_number(way.sum)}{', best' if way.is_best else ''}"
        yield f"    {place:<6} {name:<{widest}}  from {way.start}, {sums}"
    if len(ways) > MOST_WAYS:
        yield f"    … at most {MOST_WAYS} pieces are shown"
    if scores.is_rounded_late:
        yield "    sums are compared before they are rounded to 32 bits; of equal ones the longest last piece counts"
    else:
        yield "    of equal sums the one whose last piece begins first counts"


def lattice_as_json(tokenizer: UnigramTokenizer, scores: Scores) -> list[dict[str, Any]]:
    """Return the pieces of the lattice, as ``tokdfa validate --explain --json`` prints them."""
    return [
        {"start": way.start, "stop": way.stop, "id": way.id, "score": way.score, "sum": way.sum, "best": way.is_best}
        for way in islice(lattice(tokenizer.segmenter, scores), MOST_WAYS)
    ]


def _name(way: Way, scores: Scores) -> str:
    text = quoted(scores.text[way.start : way.stop])
    return f"{text}, unknown" if way.id is None else f"{text} ({way.id})"


def _number(value: float) -> str:
    return f"{value:.9g}"
