"""The most tokens of another tokenizer per token of one, over all texts that both leave unchanged."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from math import ceil

from tokdfa.base.budget import Budget
from tokdfa.base.errors import LimitExceededError
from tokdfa.jobs.measures.attained import MOST_TRIED, Texts
from tokdfa.jobs.measures.climbing import RESET
from tokdfa.jobs.measures.extremes import Extreme
from tokdfa.jobs.measures.gaining_cycles import Found, GainingCycles, texts_of
from tokdfa.jobs.measures.of_tokenizers import streams_of
from tokdfa.jobs.measures.product import Product
from tokdfa.jobs.measures.ratios import Pumped, pumped, texts_of_cycle
from tokdfa.jobs.measures.side import Side
from tokdfa.tokenizers.protocol import AnyTokenizer


def most_of_other(texts: Texts, other: AnyTokenizer) -> Extreme:
    """Return the most tokens of another tokenizer per token of this one."""
    texts.begin_question()
    sides = Side(texts.streams), Side(streams_of(other, texts.language))
    value, stream = _first(texts, other, sides)
    cycles = GainingCycles(Product(*sides, texts.paths.budget, keeps_rows=True))
    proved = max(Fraction(cycles.greatest), value)
    try:
        if value < proved:
            cycles.prepare()
        # Paths that begin anywhere are few, but a cycle of them may be of no text.
        for from_start in (False, True):
            ratio = value if from_start else max(value, Fraction(1))
            while ratio < proved:
                tried = ratio if from_start else _between(ratio, proved)
                found = cycles.cycle(tried, from_start=from_start)
                if found is None:
                    proved = tried
                    continue
                ratio, better = _better(texts, found)
                if ratio > value and _ratio_of(texts, better, other, texts.paths.budget) == ratio:
                    value, stream = ratio, better
    except LimitExceededError:
        proved = max(min(proved, Fraction(cycles.greatest)), value)
    return texts.extreme(stream, value, proved)


def _between(low: Fraction, high: Fraction) -> Fraction:
    """Return a whole number between two ratios, about their mean; the lower one if there is none.

    The greater a ratio, the faster it is proved that none is beyond it, and the bound is known if the time is over.
    """
    middle = Fraction(ceil((low + high) / 2))
    return middle if low < middle < high else low


def _better(texts: Texts, found: Found) -> tuple[Fraction, Pumped]:
    """Return the ratio of a cycle of the product, with the stream of the first tokenizer."""
    if RESET not in found.steps:
        ratio = Fraction(sum(found.counts), len(found.steps))
        return ratio, pumped(texts.paths, found.state, found.steps)
    return max(
        (Fraction(sum(found.counts[at] for at in text), len(text)), Pumped(after=tuple(found.steps[at] for at in text)))
        for text in texts_of_cycle(found.steps)
    )


def _ratio_of(texts: Texts, stream: Pumped, other: AnyTokenizer, budget: Budget) -> Fraction | None:
    """Return the tokens of another tokenizer for each token of a stream, or of its part; None if it has no text."""
    budget.check_time()
    if not texts.has(stream):
        return None
    counts = []
    for times in (8, 16) if stream.repeated else (1,):
        labels = stream.labels(times)
        text = texts.streams.spelled(labels).decode()
        given = other.encode(text)
        if other.decode(given) != text:
            return None
        counts.append((len(given), len(texts.streams.ids_of(labels))))
    more, less = counts[-1], counts[0] if stream.repeated else (0, 0)
    return Fraction(more[0] - less[0], more[1] - less[1])


def _first(texts: Texts, other: AnyTokenizer, sides: tuple[Side, Side]) -> tuple[Fraction, Pumped]:
    """Return a text with many tokens of another tokenizer for each token, or one that is repeated, and their ratio."""
    found: list[tuple[Fraction, Pumped]] = []
    budget = texts.paths_to_texts.budget
    both = (Pumped(after=labels) for labels in texts_of(Product(*sides, budget, keeps_rows=True)))
    for streams in (_single(texts, other), texts.short(), both):
        tried = ((_ratio_of(texts, stream, other, budget), stream) for stream in islice(streams, 2 * MOST_TRIED))
        found = [(ratio, stream) for ratio, stream in tried if ratio is not None]
        if found:
            return max(found, key=lambda pair: pair[0])
    raise LimitExceededError("no text was found that both tokenizers leave unchanged")


def _single(texts: Texts, other: AnyTokenizer) -> list[Pumped]:
    """Return the streams of one label, and these repeated, those with many bytes first."""
    labels = texts.single().tolist()
    words = texts.streams.words
    count = {label: len(other.encode(words[label].decode())) for label in labels}
    labels = sorted(labels, key=lambda label: -count[label])[:MOST_TRIED]
    return [Pumped(after=(label,)) for label in labels] + [Pumped(repeated=(label,)) for label in labels]
