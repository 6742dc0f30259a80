"""Stores that several tokenizers made, one part after the other: which parts, and where each begins.

The sample is cut into windows of some hundred ids. Each is of the candidates that lose the fewest of its neighbours:
``[{gpt2}, {gpt2}, {}, {llama}, {llama}]`` is a part of gpt2, and one of llama from the window after the unknown one on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tokdfa.jobs.identification.lost import loss_of
from tokdfa.jobs.identification.readings import LARGEST_LOSS
from tokdfa.jobs.identification.sample import Sample, Segment
from tokdfa.stores.store import Location
from tokdfa.tokenizers.protocol import AnyTokenizer

_SIZE = 512
_LEAST = 128
_MOST = 64
# A part in a longer store has at least so many windows.
_FEWEST = 2
_SHORT = 8
_MOST_UNKNOWN = 0.25
_MOST_PARTS = 8
# Losses that differ by less do not tell candidates apart.
_ALIKE = 0.01


class Window(NamedTuple):
    """Ids from `begin` to `end` of a segment, and the candidates that they may be of."""

    segment: Segment
    begin: int
    end: int
    owners: frozenset[int]


class Part(NamedTuple):
    """A part of a sample: its windows, and the index of the candidate that made it."""

    owner: int
    windows: tuple[Window, ...]

    @property
    def begin(self) -> Location:
        """Where its first window begins."""
        first = self.windows[0]
        return first.segment.location_at(first.begin)

    def segments(self) -> Iterator[Segment]:
        """Yield the segments in it, each as far as it belongs to this part."""
        for segment, begin, end, _ in self.windows:
            yield segment._replace(begin=begin, end=end)


def parts_of(tokenizers: Sequence[AnyTokenizer], sample: Sample) -> list[Part]:
    """Return the parts of a sample that different tokenizers made, in order; none unless there are two or more."""
    windows = [*_windows(tokenizers, sample)]
    known = [window for window in windows if window.owners]
    if len(known) < (1 - _MOST_UNKNOWN) * len(windows):
        return []
    runs = _runs(known)
    if len(windows) > _SHORT:
        runs = _runs([window for run in runs if len(run) >= _FEWEST for window in run])
    if not 2 <= len(runs) <= _MOST_PARTS:
        return []
    return [Part(min(frozenset.intersection(*(window.owners for window in run))), tuple(run)) for run in runs]


def _windows(tokenizers: Sequence[AnyTokenizer], sample: Sample) -> Iterator[Window]:
    """Yield windows of a sample, evenly spread, in the order of the file; short rests are left out."""
    step = max(sum(segment.end - segment.begin for segment in sample.segments) // (_MOST * _SIZE), 1) * _SIZE
    for segment in sorted(sample.segments, key=lambda segment: segment.location):
        for begin in range(segment.begin, segment.end, step):
            end = min(begin + _SIZE, segment.end)
            if end - begin >= _LEAST:
                losses = [loss_of(tokenizer, segment.ids[begin:end]) for tokenizer in tokenizers]
                most = min(min(losses) + _ALIKE, LARGEST_LOSS)
                owners = (index for index, loss in enumerate(losses) if loss <= most)
                yield Window(segment, begin, end, frozenset(owners))


def _runs(windows: Sequence[Window]) -> list[list[Window]]:
    """Return runs of windows that have an owner in common, each as long as it can be."""
    runs: list[list[Window]] = []
    common: frozenset[int] = frozenset()
    for window in windows:
        if common & window.owners:
            common &= window.owners
            runs[-1].append(window)
        else:
            common = window.owners
            runs.append([window])
    return runs
