"""How the ids of a sample may be read: as another type of integers, in another byte order, or shifted.

Ids that a tokenizer has made keep nearly all neighbours when their text is encoded again. Of ``[257, 3, 514]``,
uint16, the reading ``Reading(">u2")`` gives ``[257, 768, 514]``, and ``Reading(offset=-1)`` gives ``[256, 2, 513]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tokdfa.base.arrays import IntegerArray
from tokdfa.jobs.identification.free_neighbours import (
    common_hits,
    has_free_neighbours,
    is_unshifted,
    moved,
    shifts_to_try,
    told_shift,
)
from tokdfa.jobs.identification.lost import loss_of
from tokdfa.jobs.identification.sample import Sample, Segment
from tokdfa.stores.integer_types import TYPES
from tokdfa.stores.store import signed
from tokdfa.tokenizers.protocol import AnyTokenizer

_TOO_LARGE = 1 << 62
# The number of ids by which shifts and integer types are tried.
_PROBE = 1024
# The number of ids by which most candidates are seen to be far, and by which shifts are compared with a fit.
_GLANCE = 256
# A tokenizer has made ids, or another version of it has, if it loses at most this share of the neighbours that it
# loses of ids that are shifted at random. Measured: up to 0.12 for the same vocabulary, from 0.37 on for others.
LARGEST_LOSS = 0.2
# For one shift among thousands more is asked, and that no other fits as well.
_SHIFTED = 0.1
_RIVAL = 2.0
_NOTICEABLE = 0.02
_CONTROLS = (*range(-24, -8, 4), *range(9, 25, 4))
_FINALISTS = 16
# Shifts are tried on fewer ids first; one after which this many of their neighbours are lost is not tried on more.
_HOPELESS = 0.5
_MOST_OFTEN = 0.4
_LARGEST = 1 << 24
_FEWEST = 64
_FEWEST_COMMON = 3


@dataclass(frozen=True, slots=True)
class Reading:
    """A way to read ids: the integer type of the bytes, None for the store's type, and a number to add to each id."""

    dtype: str | None = None
    offset: int = 0

    def __bool__(self) -> bool:
        """Return whether this differs from reading the ids as they are."""
        return self.dtype is not None or self.offset != 0

    def ids(self, ids: IntegerArray) -> IntegerArray:
        """Return ids in this reading; values that are too large for any tokenizer become negative."""
        if self.dtype is not None:
            data = np.ascontiguousarray(ids).tobytes()
            dtype: np.dtype[np.integer[Any]] = np.dtype(self.dtype)
            ids = np.frombuffer(data[: len(data) - len(data) % dtype.itemsize], dtype=dtype)
        if not self.offset:
            return ids
        return np.where(ids > _TOO_LARGE, -1, moved(ids, self.offset))

    def segment(self, segment: Segment) -> Segment:
        """Return a segment in this reading."""
        ids = self.ids(segment.ids)
        if self.dtype is None:
            return segment._replace(ids=ids)
        ratio = np.dtype(self.dtype).itemsize / segment.ids.dtype.itemsize
        begin, end = int(segment.begin / ratio), min(int(segment.end / ratio), len(ids))
        return segment._replace(ids=ids, begin=min(begin, end), end=end, starts=None)


class _Fit(NamedTuple):
    reading: Reading
    loss: float
    usual: float

    def is_own(self, most: float = LARGEST_LOSS) -> bool:
        return self.loss <= most * self.usual


class Probes:
    """The ids of a sample by which readings are tried; none if they are too few or too much alike to tell."""

    def __init__(self, sample: Sample) -> None:
        self.few = _probe(sample.segments, _PROBE)
        # Rare ids may be wrong, and not the others: here more of them are looked at.
        self.more = _probe(sample.segments, 4 * _PROBE)
        self.is_enough = len(np.unique(self.more)) >= _FEWEST
        self.many = _probe(sample.segments, 16 * _PROBE)
        # Whether ids may be of a tokenizer, and do not tell in which reading.
        self.is_undecided = False
        # Half of a wider integer is often 0, and the id 0 is seldom wrong next to another.
        types = [] if sample.dtype is None else [Reading(name) for name in TYPES if np.dtype(name) != self.few.dtype]
        self.types = [reading for reading in types if _is_varied(reading.ids(self.few))]

    def unshifted(self, tokenizer: AnyTokenizer) -> Reading | None:
        """Return the reading in which a tokenizer fits ids that are not shifted; None if there is none.

        Ids that lose some neighbours as they are, and next to none when they are shifted, are shifted.
        """
        if has_free_neighbours(tokenizer):
            told = [each for each in self.types if is_unshifted(tokenizer, each.ids(self.many))]
            if not told or _is_varied(self.more):
                told += [Reading()] * is_unshifted(tokenizer, self.many)
            return max(told, key=lambda each: (self._width(each), each.dtype is None), default=None)
        found = [fit for fit in (_fit(tokenizer, self.few, reading) for reading in self.types) if fit.is_own()]
        if not found or _is_varied(self.more):
            own = _fit(tokenizer, _without_commonest(self.more), Reading())
            if own.loss > _NOTICEABLE and own.is_own():
                shifted = _shifted(tokenizer, self.few, self.more, Reading())
                own = shifted if shifted is not None and shifted.loss <= _SHIFTED * own.loss else own
            found += [own] if own.is_own() else []
        # Read as wider integers than they are, ids are of no tokenizer.
        widest = max((self._width(fit.reading) for fit in found), default=0)
        left = [fit for fit in found if self._width(fit.reading) == widest]
        return _best_of([fit for fit in left if fit.reading.dtype is None] or left)

    def shifted(self, tokenizer: AnyTokenizer) -> Reading | None:
        """Return the reading in which a tokenizer fits ids that are shifted; None if there is none."""
        if has_free_neighbours(tokenizer):
            told = told_shift(tokenizer, self.many)
            self.is_undecided |= told.shift is None and told.is_possible
            return None if told.shift is None else Reading(offset=told.shift)
        found = [_shifted(tokenizer, self.few, self.more, reading) for reading in (Reading(), *self.types)]
        return _best_of([fit for fit in found if fit is not None])

    def _width(self, reading: Reading) -> int:
        return (self.few.dtype if reading.dtype is None else np.dtype(reading.dtype)).itemsize


def _best_of(fits: list[_Fit]) -> Reading | None:
    best = min(fits, key=lambda fit: fit.loss and fit.loss / fit.usual, default=None)
    return None if best is None else best.reading


def is_near(tokenizer: AnyTokenizer, sample: Sample) -> bool:
    """Return whether ids may be of a tokenizer as they are stored: whether it loses few of their neighbours."""
    ids, few = _probe(sample.segments, _PROBE), _probe(sample.segments, _GLANCE)
    if not _is_varied(ids):
        return False
    if not _is_varied(few):  # The first ids of a segment may be padding.
        return _fit(tokenizer, ids, Reading()).is_own()
    return loss_of(tokenizer, few) <= _HOPELESS and _fit(tokenizer, ids, Reading(), few).is_own()


def may_be_own(tokenizer: AnyTokenizer, sample: Sample) -> bool:
    """Return whether a tokenizer loses few neighbours of ids, and they are not the halves of wider integers."""
    if has_free_neighbours(tokenizer):
        return is_unshifted(tokenizer, _probe(sample.segments, 16 * _PROBE))
    probe = _probe(sample.segments, _PROBE)
    ids = _without_commonest(probe)
    if len(ids) >= 2 and loss_of(tokenizer, ids) > LARGEST_LOSS:
        return False
    # A special token with the id 0 is canonical between any two others.
    wider = Reading(f"<u{2 * probe.dtype.itemsize}")
    is_halved = sample.dtype is not None and probe.dtype.itemsize < 8 and len(ids) < len(probe)
    return not (is_halved and _is_varied(wider.ids(probe)) and _fit(tokenizer, wider.ids(probe), Reading()).is_own())


def best_type(tokenizers: Iterable[AnyTokenizer], samples: Mapping[str, Sample]) -> str | None:
    """Return the type by which one of some tokenizers fits ids best, given the sample as each; None if none does."""
    found = []
    for tokenizer in tokenizers:
        for name, sample in samples.items():
            fit = _fit(tokenizer, _probe(sample.segments, _PROBE), Reading())
            if fit.is_own():
                # Read as wider integers than they are, ids are of no tokenizer.
                found.append((-np.dtype(name).itemsize, fit.loss / fit.usual if fit.usual else 0.0, name))
    return min(found)[2] if found else None


def _probe(segments: tuple[Segment, ...], n: int) -> IntegerArray:
    """Return about `n` ids, from several segments."""
    several = segments[:8]
    parts = [segment.ids[segment.begin : segment.end][: max(n // len(several) // 8 * 8, 8)] for segment in several]
    if len({part.dtype for part in parts}) > 1:
        return np.concatenate([signed(part, "a sample") for part in parts])
    # Concatenating would change the byte order.
    return np.concatenate(parts).astype(parts[0].dtype, copy=False)


def _fit(tokenizer: AnyTokenizer, probe: IntegerArray, reading: Reading, few: IntegerArray | None = None) -> _Fit:
    """Return how well a tokenizer fits ids in a reading, compared with the same ids, or few of them, shifted."""
    loss = loss_of(tokenizer, reading.ids(probe))
    if loss > LARGEST_LOSS:  # Too much, whatever else is lost.
        return _Fit(reading, loss, 1.0)
    few = probe if few is None else few
    losses = [loss_of(tokenizer, Reading(reading.dtype, shift).ids(few)) for shift in _CONTROLS]
    return _Fit(reading, loss, float(np.median(losses)))


def _is_varied(ids: IntegerArray) -> bool:
    """Return whether no id makes up much of the ids, so that they may be a text, and all may be ids."""
    return len(_without_commonest(ids)) == len(ids) > 0 and int(ids.max()) < _LARGEST


def _without_commonest(ids: IntegerArray) -> IntegerArray:
    """Return ids without one that makes up much of them, such as padding or the upper halves of wider integers."""
    values, counts = np.unique(ids, return_counts=True)
    if not len(ids) or int(counts.max()) < _MOST_OFTEN * len(ids):
        return ids
    others: IntegerArray = ids[ids != values[counts.argmax()]]
    return others


def _shifted(tokenizer: AnyTokenizer, probe: IntegerArray, more: IntegerArray, reading: Reading) -> _Fit | None:
    """Return the one shift after which ids fit, tried on few of them and then on more; None if there is none."""
    ids = reading.ids(probe)
    # Few segments: where two of them meet, ids are lost in every reading.
    few = ids[: len(ids) // 4]
    shifts = shifts_to_try(tokenizer, ids)
    losses = np.array([loss_of(tokenizer, Reading(None, shift).ids(few)) for shift in shifts])
    if losses.min() > _HOPELESS:
        return None
    usual = float(np.median(losses[losses < 1])) if (losses < 1).any() else 1.0
    best = [shifts[at] for at in np.argsort(losses, kind="stable")[:_FINALISTS]]
    ids = reading.ids(more)
    again = sorted((loss_of(tokenizer, Reading(None, shift).ids(ids)), shift) for shift in best)
    most = _RIVAL * again[0][0] + _SHIFTED / 10
    rivals = [(loss, shift) for loss, shift in again if loss <= most]
    if len(rivals) > 1:
        # Rare tokens hardly ever merge, so other shifts may lose as few; but they make no common tokens common.
        hits = common_hits(tokenizer, ids, [shift for _, shift in rivals])
        rivals = [rival for rival, n in zip(rivals, hits, strict=True) if n >= _FEWEST_COMMON and n == max(hits)]
    if len(rivals) != 1:
        return None
    loss, shift = rivals[0]
    found = _Fit(Reading(reading.dtype, shift), loss, usual)
    return found if found.is_own(_SHIFTED) else None
