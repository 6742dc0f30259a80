"""How else ids may be read, as another integer type or shifted, and in which of these readings a tokenizer fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tokdfa.base.arrays import IntegerArray
from tokdfa.base.errors import TokdfaError
from tokdfa.jobs.identification.sample import Sample, Segment
from tokdfa.tokenizers.protocol import AnyTokenizer

TYPES = ("<u2", "<u4", "<u8", ">u2", ">u4", ">u8")
"""The integer types in which ids are written, in either byte order."""

_TOO_LARGE = 1 << 62
# The number of ids by which shifts and integer types are tried.
_PROBE = 1024
# The largest shift that is always tried; larger ones are derived from the commonest ids.
_SHIFTS = 300
# A tokenizer has made ids, or another version of it has, if it loses at most this share of the neighbours that it
# loses of ids that are shifted at random. Measured: up to 0.12 for the same vocabulary, from 0.37 on for others.
_OWN = 0.2
# For one shift among thousands more is asked, and that no other fits as well.
_SHIFTED = 0.1
_RIVAL = 2.0
_CONTROLS = (*range(-24, -8), *range(9, 25))
_FINALISTS = 16
_MOST_OFTEN = 0.4
_LARGEST = 1 << 24
_FEWEST = 64
# Texts that are common in many languages and in programs, most of them one token.
_COMMON = (",", ".", " the", "\n", " of", " and", " ", "\n\n", " de", " a", "的", "，", " =", "(")
_COMMONEST = 8


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
        return np.where(ids > _TOO_LARGE, -1, ids.astype(np.int64) + self.offset)

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

    def is_own(self, most: float = _OWN) -> bool:
        return self.loss <= most * self.usual


def fitting_reading(tokenizer: AnyTokenizer, sample: Sample) -> Reading | None:
    """Return the reading in which a tokenizer fits ids: as they are if it does, and otherwise the only one; or None.

    It is None, too, for ids that are too few or too much alike to tell.
    """
    probe = _probe(sample.segments, _PROBE)
    # Rare ids may be wrong, and not the others: here more of them are looked at.
    more = _probe(sample.segments, 4 * _PROBE)
    if len(np.unique(more)) < _FEWEST:
        return None
    # Half of a wider integer is often 0, and the id 0 is seldom wrong next to another.
    types = [] if sample.dtype is None else [Reading(name) for name in TYPES if np.dtype(name) != probe.dtype]
    types = [reading for reading in types if _is_varied(reading.ids(probe))]
    found = [fit for fit in (_fit(tokenizer, probe, reading) for reading in types) if fit.is_own()]
    if not found or _is_varied(more):
        own = _fit(tokenizer, _without_commonest(more), Reading())
        found = [own] if own.is_own() else found
    if not found:
        shifted = (_shifted(tokenizer, probe, reading) for reading in (Reading(), *types))
        found = [fit for fit in shifted if fit is not None]
    best = min(found, key=lambda fit: fit.loss / fit.usual, default=None)
    return None if best is None else best.reading


def best_type(tokenizers: Iterable[AnyTokenizer], samples: Mapping[str, Sample]) -> str | None:
    """Return the type by which one of some tokenizers fits ids best, given the sample as each; None if none does."""
    found = []
    for tokenizer in tokenizers:
        for name, sample in samples.items():
            fit = _fit(tokenizer, _probe(sample.segments, _PROBE), Reading())
            if fit.is_own():
                found.append((fit.loss / fit.usual if fit.usual else 0.0, name))
    return min(found)[1] if found else None


def _probe(segments: tuple[Segment, ...], n: int) -> IntegerArray:
    """Return about `n` ids, from several segments."""
    several = segments[:8]
    parts = [segment.ids[segment.begin : segment.end][: max(n // len(several) // 8 * 8, 8)] for segment in several]
    # Concatenating would change the byte order.
    return np.concatenate(parts).astype(parts[0].dtype, copy=False)


def _fit(tokenizer: AnyTokenizer, probe: IntegerArray, reading: Reading) -> _Fit:
    """Return how well a tokenizer fits ids in a reading, compared with the same ids shifted."""
    losses = [1 - _agreement(tokenizer, Reading(reading.dtype, shift).ids(probe)) for shift in _CONTROLS]
    return _Fit(reading, 1 - _agreement(tokenizer, reading.ids(probe)), float(np.median(losses)))


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


def _shifted(tokenizer: AnyTokenizer, probe: IntegerArray, reading: Reading) -> _Fit | None:
    """Return the one shift after which ids fit; None if there is none."""
    ids = reading.ids(probe)
    few = ids[: len(ids) // 4]
    shifts = _shifts_to_try(tokenizer, ids)
    losses = np.array([1 - _agreement(tokenizer, Reading(None, shift).ids(few)) for shift in shifts])
    usual = float(np.median(losses[losses < 1])) if (losses < 1).any() else 1.0
    best = [shifts[at] for at in np.argsort(losses, kind="stable")[:_FINALISTS]]
    again = sorted((1 - _agreement(tokenizer, Reading(None, shift).ids(ids)), shift) for shift in best)
    (loss, shift), (second, _) = again[:2]
    found = _Fit(Reading(reading.dtype, shift), loss, usual)
    return found if found.is_own(_SHIFTED) and second > _RIVAL * loss + _SHIFTED / 10 else None


def _agreement(tokenizer: AnyTokenizer, ids: IntegerArray) -> float:
    """Return the share of neighbouring ids, from 0 to 1, that are neighbours again once their text is encoded."""
    if len(ids) < 2:
        return 0.0
    known = ids[tokenizer.decoder.mean_something(ids)].astype(np.int64)
    if 2 * len(known) < len(ids):
        return 0.0
    try:
        again = tokenizer.encode(tokenizer.decode_bytes(known).decode("utf-8", "replace")).astype(np.int64)
    except TokdfaError:
        return 0.0
    kept = np.isin(_pairs(known), _pairs(again))
    return float(np.count_nonzero(kept)) / (len(ids) - 1)


def _pairs(ids: IntegerArray) -> IntegerArray:
    return (ids[:-1] << 32) | ids[1:]


def _shifts_to_try(tokenizer: AnyTokenizer, ids: IntegerArray) -> list[int]:
    """Return the numbers that may have to be added to ids: small ones, and some that make common ids common tokens."""
    values, counts = np.unique(ids, return_counts=True)
    common = values[np.argsort(-counts, kind="stable")[:_COMMONEST]].tolist()
    wanted: set[int] = set()
    for text in _COMMON:
        try:
            wanted.update(tokenizer.encode(text)[-1:].tolist())
        except TokdfaError:
            continue
    aligned = {each - value for each in wanted for value in common if abs(value) < 1 << 40}
    return sorted({*range(-_SHIFTS, _SHIFTS + 1), *aligned} - {0}, key=lambda shift: (abs(shift), shift))
