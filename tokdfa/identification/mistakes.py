"""The search for the mistake after whose correction a tokenizer fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from tokdfa.arrays import IntegerArray
from tokdfa.identification.agreement import agreement, shifts_to_try
from tokdfa.identification.counting import Counts, count_violations
from tokdfa.identification.cut import is_cut_to_16_bits
from tokdfa.identification.evidence import MOST_SPECIALS, foreign_ids, is_another_version
from tokdfa.identification.mistake import Mistake, MistakeKind
from tokdfa.identification.reading import Reading, other_types
from tokdfa.identification.sample import Sample, Stretch
from tokdfa.identification.tuning import Tuning
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["best_type", "fitting_reading", "is_better", "mistakes_of_ids", "mistakes_of_reading"]

# A tokenizer has made ids, or another version of it has, if it loses at most this share of the neighbours that it
# loses of ids that are shifted at random. Measured: up to 0.12 for the same vocabulary, from 0.37 on for others.
_OWN = 0.2
# For one shift among thousands more is asked, and that no other fits as well.
_SHIFTED = 0.1
_RIVAL = 2.0
_CONTROLS = (*range(-24, -8), *range(9, 25))
_FEWER = 0.1
_LEFT_BY_SHIFT = 1000.0
_FINALISTS = 16
_MOST_OFTEN = 0.4
_LARGEST = 1 << 24
_FEWEST = 64


class _Fit(NamedTuple):
    reading: Reading
    loss: float
    usual: float

    def is_own(self, most: float = _OWN) -> bool:
        return self.loss <= most * self.usual


def fitting_reading(tokenizer: AnyTokenizer, sample: Sample, tuning: Tuning) -> Reading | None:
    """Return the reading in which a tokenizer fits ids: as they are if it does, and otherwise the only one; or None.

    It is None, too, for ids that are too few or too much alike to tell.
    """
    probe = _probe(sample.stretches, tuning.probe)
    # Rare ids may be wrong, and not the others: here more of them are looked at.
    more = _probe(sample.stretches, 4 * tuning.probe)
    if len(np.unique(more)) < _FEWEST:
        return None
    # Half of a wider integer is often 0, and the id 0 is seldom wrong beside another.
    types = [] if sample.dtype is None else [*map(Reading, other_types(probe.dtype))]
    types = [reading for reading in types if _is_varied(reading.ids(probe))]
    found = [fit for fit in (_fit(tokenizer, probe, reading) for reading in types) if fit.is_own()]
    if not found or _is_varied(more):
        own = _fit(tokenizer, _without_commonest(more), Reading())
        found = [own] if own.is_own() else found
    if not found:
        shifted = (_shifted(tokenizer, probe, reading, tuning) for reading in (Reading(), *types))
        found = [fit for fit in shifted if fit is not None]
    best = min(found, key=lambda fit: fit.loss / fit.usual, default=None)
    return None if best is None else best.reading


def is_better(reading: Reading, corrected: Counts, counts: Counts) -> bool:
    """Return whether a reading leaves few violations, ids that the tokenizer does not have left out."""
    left = 1e6 * sum(corrected.kinds.values()) / max(corrected.ids, 1)
    # Of thousands of shifts one may happen to leave few, above all in programs, which repeat few ids.
    most = _LEFT_BY_SHIFT if reading.offset else counts.per_million
    return left <= min(_FEWER * counts.per_million, most)


def best_type(tokenizers: Iterable[AnyTokenizer], samples: Mapping[str, Sample], tuning: Tuning) -> str | None:
    """Return the type by which one of some tokenizers fits ids best.

    Parameters
    ----------
    tokenizers : iterable of AnyTokenizer
    samples : dict of str to Sample
        The same store, read as each type.
    tuning : Tuning

    Returns
    -------
    str or None
        None if no tokenizer fits by any type.
    """
    found = []
    for tokenizer in tokenizers:
        for name, sample in samples.items():
            fit = _fit(tokenizer, _probe(sample.stretches, tuning.probe), Reading())
            if fit.is_own():
                found.append((fit.loss / fit.usual if fit.usual else 0.0, name))
    return min(found)[1] if found else None


def _probe(stretches: tuple[Stretch, ...], n: int) -> IntegerArray:
    """Return about `n` ids, from several stretches."""
    several = stretches[:8]
    parts = [stretch.ids[stretch.begin : stretch.end][: max(n // len(several) // 8 * 8, 8)] for stretch in several]
    # Concatenating would change the byte order.
    return np.concatenate(parts).astype(parts[0].dtype, copy=False)


def _fit(tokenizer: AnyTokenizer, probe: IntegerArray, reading: Reading) -> _Fit:
    """Return how well a tokenizer fits ids in a reading, beside the same ids shifted."""
    losses = [1 - agreement(tokenizer, Reading(reading.dtype, shift).ids(probe)) for shift in _CONTROLS]
    return _Fit(reading, 1 - agreement(tokenizer, reading.ids(probe)), float(np.median(losses)))


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


def _shifted(tokenizer: AnyTokenizer, probe: IntegerArray, reading: Reading, tuning: Tuning) -> _Fit | None:
    """Return the one shift after which ids fit; None if there is none."""
    ids = reading.ids(probe)
    few = ids[: len(ids) // 4]
    shifts = shifts_to_try(tokenizer, ids, tuning.shifts)
    losses = np.array([1 - agreement(tokenizer, Reading(None, shift).ids(few)) for shift in shifts])
    usual = float(np.median(losses[losses < 1])) if (losses < 1).any() else 1.0
    best = [shifts[at] for at in np.argsort(losses, kind="stable")[:_FINALISTS]]
    again = sorted((1 - agreement(tokenizer, Reading(None, shift).ids(ids)), shift) for shift in best)
    (loss, shift), (second, _) = again[:2]
    found = _Fit(Reading(reading.dtype, shift), loss, usual)
    return found if found.is_own(_SHIFTED) and second > _RIVAL * loss + _SHIFTED / 10 else None


def mistakes_of_reading(sample: Sample, reading: Reading, per_million: float) -> list[Mistake]:
    """Return the mistakes that a reading corrects, given the violations per million ids that are left."""
    mistakes = []
    if reading.dtype is not None:
        stored, meant = sample.stretches[0].ids.dtype, np.dtype(reading.dtype)
        is_swapped = stored.itemsize == meant.itemsize and stored.newbyteorder("S").str[0] == meant.str[0]
        kind = MistakeKind.BYTE_ORDER if is_swapped else MistakeKind.DTYPE
        mistakes.append(Mistake(kind, per_million, dtype=reading.dtype))
    if reading.offset:
        mistakes.append(Mistake(MistakeKind.SHIFTED_IDS, per_million, offset=-reading.offset))
    return mistakes


def mistakes_of_ids(
    tokenizer: AnyTokenizer, stretches: tuple[Stretch, ...], counts: Counts, tuning: Tuning
) -> list[Mistake]:
    """Return what is wrong with ids of the tokenizer, or another version of it."""
    mistakes: list[Mistake] = []
    spelled = counts.kinds["special-token"]
    between = sorted(counts.missing) if len(counts.missing) <= MOST_SPECIALS else []
    if 2 * spelled <= counts.violations:
        between += foreign_ids(tokenizer, stretches, counts, between, tuning)
    if between:
        counts = count_violations(tokenizer, stretches, tuning.enough, between)
        ids = tuple(between[:MOST_SPECIALS])
        mistakes.append(Mistake(MistakeKind.SPECIAL_IDS, counts.per_million, ids=ids))
        spelled = counts.kinds["special-token"]
    if 2 * spelled > counts.violations:
        left = 1e6 * (counts.violations - spelled) / counts.ids
        mistakes.append(Mistake(MistakeKind.SPECIALS_AS_TEXT, left))
    elif is_cut_to_16_bits(tokenizer, stretches, counts):
        mistakes.append(Mistake(MistakeKind.CUT_TO_16_BITS, counts.per_million))
    elif is_another_version(stretches, counts):
        mistakes.append(Mistake(MistakeKind.ANOTHER_VERSION, counts.per_million))
    return mistakes
