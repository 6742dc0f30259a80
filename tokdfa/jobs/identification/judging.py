"""Candidates judged by a sample: the violations of each, and the mistakes after which it fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from tokdfa.base.errors import TokdfaError
from tokdfa.jobs.identification.counts import ENOUGH, Counts, count_violations
from tokdfa.jobs.identification.free_neighbours import has_free_neighbours
from tokdfa.jobs.identification.lost import tells_little
from tokdfa.jobs.identification.mistakes import may_be_cut, mistakes_of_ids, mistakes_of_reading
from tokdfa.jobs.identification.mixture import parts_of
from tokdfa.jobs.identification.readings import Probes, Reading, may_be_own
from tokdfa.jobs.identification.result import HARDLY_ANY, Candidate, Mistake, MistakeKind
from tokdfa.jobs.identification.sample import Sample, Segment
from tokdfa.tokenizers.protocol import AnyTokenizer

Say: TypeAlias = Callable[[str], object]
"""Takes a description of each step."""

# If one candidate is near, another is judged by so many ids of each segment, until there are some violations.
_GLANCE = 128
_SOME = 20
# With more violations per million ids than these, parts of several tokenizers are looked for.
_MOST_LEFT = 1000.0
# For each violation that is not held against a candidate.
_PER_VIOLATION = 500

# The share of the violations that may be left where a mistake is named; per million ids after a shift.
_FEWER = 0.1
_LEFT_BY_SHIFT = 1000.0
# Pre-tokenizers are chosen by so many times fewer violations; and how many of them are left then.
_HEATS = 8
_FINALISTS = 2


class Choice(NamedTuple):
    """A candidate: its tokenizer, or one for each pre-tokenizer that may be its own, by name; the likeliest first."""

    name: str
    tokenizers: tuple[tuple[str | None, AnyTokenizer], ...]

    @property
    def likeliest(self) -> AnyTokenizer:
        """The first tokenizer."""
        return self.tokenizers[0][1]

    def others(self, tokenizer: AnyTokenizer) -> list[AnyTokenizer]:
        """Return the likeliest tokenizer, unless it is this one."""
        return [self.likeliest] * (self.likeliest is not tokenizer)


class Judged(NamedTuple):
    """A candidate, the pre-tokenizer and the tokenizer that fit best, and the violations; the error if it failed."""

    choice: Choice
    pretokenizer: str | None
    tokenizer: AnyTokenizer
    counts: Counts
    error: str | None = None

    def result(self, mistakes: Iterable[Mistake] = (), *, fits: bool) -> Candidate:
        """Return the candidate with these mistakes."""
        counts = self.counts
        kinds, n_missing = dict(sorted(counts.kinds.items())), sum(counts.missing.values())
        return Candidate(
            self.choice.name, self.pretokenizer, counts.ids, kinds, n_missing, tuple(mistakes), fits, self.error
        )


def judge(
    choices: list[Choice], near: list[bool], sample: Sample, say: Say, *, is_brief: bool
) -> tuple[list[Candidate], bool]:
    """Return the candidates with their violations and mistakes, and whether the ids are enough to tell them apart.

    If `is_brief`, candidates that are far from fitting, and not `near`, are not judged where another one fits.
    """
    is_glanced = [any(near) and not each for each in near]
    counted: dict[int, Judged] = {}
    right: dict[int, bool] = {}
    for index in np.argsort(is_glanced, kind="stable").tolist():
        say(f"judging by {choices[index].name}")
        segments: Iterable[Segment] = _glance(sample.segments) if is_glanced[index] else sample.segments
        if is_brief and is_glanced[index] and any(_settles(counted[at]) for at in right if right[at]):
            segments = ()
        counted[index] = _counted(choices[index], segments, _SOME if is_glanced[index] else ENOUGH)
        right[index] = not is_glanced[index] and _is_right(counted[index], sample)
    judged = [counted[index] for index in range(len(choices))]
    say("looking for mistakes")
    probes = Probes(sample)
    found = [each.result(fits=right[index]) for index, each in enumerate(judged)]
    # Where one candidate has no violations, the others made no mistakes, unless the ids are cut.
    is_settled = any(each.fits for each in found)
    able = [index for index, each in enumerate(judged) if each.error is None]
    told = [index for index in able if not _hides_much(judged[index].tokenizer, probes)]
    suspects = [
        index
        for index in told
        if not is_settled or (near[index] and may_be_cut(judged[index].tokenizer, sample.segments))
    ]
    probes.is_undecided = len(told) < len(able)
    # Each way of reading is tried only if nothing fits by those before it.
    for is_tried, reading_of in ((near, probes.unshifted), (None, probes.unshifted), (None, probes.shifted)):
        if probes.is_enough and (is_tried is near or not any(each.fits for each in found)):
            for index in suspects:
                if is_tried is None or is_tried[index]:
                    found[index] = _corrected(judged[index], sample, reading_of) or found[index]
    if probes.is_undecided and not any(each.fits for each in found):
        return found, False
    if min((each.left for each in found if each.fits), default=np.inf) <= _MOST_LEFT:
        return found, probes.is_enough
    return _of_parts(judged, found, sample), probes.is_enough


def _hides_much(tokenizer: AnyTokenizer, probes: Probes) -> bool:
    """Return whether the ids that are unknown to a tokenizer keep its mistakes from being found."""
    return not has_free_neighbours(tokenizer) and tells_little(tokenizer, probes.few)


def _settles(judged: Judged) -> bool:
    """Return whether a candidate that fits leaves so few violations that no others are looked for."""
    return judged.counts.per_million <= _MOST_LEFT


def _glance(segments: tuple[Segment, ...]) -> Iterator[Segment]:
    """Yield the first ids of each segment."""
    for segment in segments:
        end = min(segment.end, segment.begin + _GLANCE)
        yield segment._replace(ids=segment.ids[:end], end=end)


def _is_right(judged: Judged, sample: Sample) -> bool:
    """Return whether a candidate has hardly any violations, and not because special tokens keep it from having some."""
    counts = judged.counts
    if judged.error is not None or counts.violations > min(HARDLY_ANY, counts.ids // _PER_VIOLATION):
        return False
    return may_be_own(judged.tokenizer, sample)


def _counted(choice: Choice, segments: Iterable[Segment], enough: int = ENOUGH) -> Judged:
    """Return the violations by the pre-tokenizer with the fewest per million ids; the first of equals."""
    left, segments = [*choice.tokenizers], [*segments]
    try:
        if len(left) > 1:
            # Most of them are far from fitting, as few violations show.
            heats = [count_violations(tokenizer, segments, ENOUGH // _HEATS).per_million for _, tokenizer in left]
            left = [left[at] for at in np.argsort(heats, kind="stable")[:_FINALISTS]]
        # The segmentations that violations of pieces with scores are compared with cost 0.3 ms each.
        counted = [
            (name, each, count_violations(each, segments, enough // _HEATS if has_free_neighbours(each) else enough))
            for name, each in left
        ]
    except TokdfaError as error:
        return Judged(choice, None, choice.likeliest, Counts(), str(error))
    return Judged(choice, *min(counted, key=lambda row: row[2].per_million))


def _corrected(
    judged: Judged, sample: Sample, reading_of: Callable[[AnyTokenizer], Reading | None]
) -> Candidate | None:
    """Return a candidate with the mistakes after which ids fit in a reading, and the violations as the ids are."""
    segments = sample.segments
    try:
        # How text is split matters little to whether ids are of the vocabulary.
        tokenizers = judged.tokenizer, *judged.choice.others(judged.tokenizer)
        reading = next((found for found in map(reading_of, tokenizers) if found is not None), None)
        if reading is None:
            return None
        if not reading:
            return judged.result(mistakes_of_ids(judged.tokenizer, segments, judged.counts), fits=True)
        segments = tuple(map(reading.segment, segments))
        corrected = _counted(judged.choice, segments)
        counts = corrected.counts
        # Ids that the tokenizer does not have are left out; text cut anywhere may have a violation at both ends.
        left = 1e6 * max(sum(counts.kinds.values()) - HARDLY_ANY, 0) / max(counts.ids, 1)
        usual = judged.counts.per_million
        # Of thousands of shifts one may happen to leave few, above all in programs, which repeat few ids.
        if corrected.error or left > min(_FEWER * usual, _LEFT_BY_SHIFT if reading.offset else usual):
            return None
        mistakes = mistakes_of_reading(sample, reading, counts.per_million)
        mistakes += mistakes_of_ids(corrected.tokenizer, segments, counts)
        if corrected.tokenizer is not judged.tokenizer:
            judged = corrected._replace(counts=count_violations(corrected.tokenizer, sample.segments))
        return judged.result(mistakes, fits=True)
    except TokdfaError as error:
        return Candidate(judged.choice.name, error=str(error))


def _of_parts(judged: list[Judged], found: list[Candidate], sample: Sample) -> list[Candidate]:
    """Return the candidates; if several made a part of the ids each, the maker of the largest has that as a mistake."""
    able = [index for index, each in enumerate(judged) if each.error is None]
    parts = parts_of([judged[index].tokenizer for index in able], sample)
    if not parts:
        return found
    sizes: Counter[int] = Counter()
    left = n_ids = 0
    for part in parts:
        counts = count_violations(judged[able[part.owner]].tokenizer, part.segments())
        left, n_ids = left + counts.violations, n_ids + counts.ids
        sizes[able[part.owner]] += counts.ids
    # Parts that fit no better than one tokenizer are found by chance.
    if 1e6 * left / max(n_ids, 1) > _FEWER * min(judged[index].counts.per_million for index in able):
        return found
    named = tuple((judged[able[part.owner]].choice.name, part.begin) for part in parts)
    maker = sizes.most_common(1)[0][0]
    mistake = Mistake(MistakeKind.MIXED, 1e6 * left / max(n_ids, 1), parts=named)
    return [
        judged[at].result([mistake], fits=True) if at == maker else replace(each, fits=False)
        for at, each in enumerate(found)
    ]
