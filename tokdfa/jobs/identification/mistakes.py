"""The likely mistakes in ids that almost fit a tokenizer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from tokdfa.base.arrays import IntegerArray
from tokdfa.jobs.identification.counts import Counts, count_violations
from tokdfa.jobs.identification.readings import Reading
from tokdfa.jobs.identification.result import Mistake, MistakeKind
from tokdfa.jobs.identification.sample import Sample, Segment
from tokdfa.jobs.validation.violation import ViolationKind
from tokdfa.tokenizers.protocol import AnyTokenizer

# More ids than these that a tokenizer does not have belong to a larger vocabulary, not to special tokens.
_MOST_SPECIALS = 16
_FEWEST = 20
_MOST_FOREIGN = 4
# If an id does not stand for text, at least this share of its occurrences is wrong.
_WRONG = 0.25
# Violations that are left when such ids are taken out.
_LEFT = 0.2
_SYSTEMATIC = 0.7
_REPEATED = 0.5
_BITS = 1 << 16
# A vocabulary that has fewer ids from 65,536 on may seldom use them; some of them are special tokens.
_FEWEST_WIDE = 2000
# Other ids of the upper half of 16 bits that must occur if the integers are wider. In texts of cl100k, o200k and
# Llama 3.1 at most 150 occur before one from 65,536 on, repeated ones counted.
_UPPER = 200


def mistakes_of_reading(sample: Sample, reading: Reading, per_million: float) -> list[Mistake]:
    """Return the mistakes that a reading corrects, given the violations per million ids that are left."""
    mistakes = []
    if reading.dtype is not None:
        stored, meant = sample.segments[0].ids.dtype, np.dtype(reading.dtype)
        is_swapped = stored.itemsize == meant.itemsize and stored.newbyteorder("S").str[0] == meant.str[0]
        kind = MistakeKind.BYTE_ORDER if is_swapped else MistakeKind.DTYPE
        mistakes.append(Mistake(kind, per_million, dtype=reading.dtype))
    if reading.offset:
        mistakes.append(Mistake(MistakeKind.SHIFTED_IDS, per_million, offset=-reading.offset))
    return mistakes


def mistakes_of_ids(tokenizer: AnyTokenizer, segments: tuple[Segment, ...], counts: Counts) -> list[Mistake]:
    """Return the mistakes in ids of the tokenizer, or another version of it."""
    mistakes: list[Mistake] = []
    spelled = counts.kinds["special-token"]
    between = sorted(counts.missing) if len(counts.missing) <= _MOST_SPECIALS else []
    if 2 * spelled <= counts.violations:
        between += _foreign_ids(tokenizer, segments, counts, between)
    if between:
        counts = count_violations(tokenizer, segments, separators=between)
        ids = tuple(between[:_MOST_SPECIALS])
        mistakes.append(Mistake(MistakeKind.SPECIAL_IDS, counts.per_million, ids=ids))
        spelled = counts.kinds["special-token"]
    if 2 * spelled > counts.violations:
        left = 1e6 * (counts.violations - spelled) / counts.ids
        mistakes.append(Mistake(MistakeKind.SPECIALS_AS_TEXT, left))
    elif is_cut_to_16_bits(tokenizer, segments, counts):
        mistakes.append(Mistake(MistakeKind.CUT_TO_16_BITS, counts.per_million))
    elif _is_another_version(segments, counts):
        mistakes.append(Mistake(MistakeKind.ANOTHER_VERSION, counts.per_million))
    return mistakes


def may_be_cut(tokenizer: AnyTokenizer, segments: tuple[Segment, ...]) -> bool:
    """Return whether no id has more than 16 bits, though the vocabulary has many, and the integers or the ids tell.

    Most cut ids are canonical next to their neighbours, so violations show few of them. Missing ids tell: ids that
    merge late are rare, but a few hundred tokens of text have some from 65,536 on if they have some just below it.
    """
    if tokenizer.n_ids < _BITS + _FEWEST_WIDE:
        return False
    if any(int(segment.ids.max(initial=0)) >= _BITS for segment in segments):
        return False
    if all(segment.ids.dtype.itemsize == 2 for segment in segments):
        return True
    ids = np.unique(_all(segments))
    return int(np.count_nonzero(ids >= _BITS // 2)) >= _UPPER


def is_cut_to_16_bits(tokenizer: AnyTokenizer, segments: tuple[Segment, ...], counts: Counts) -> bool:
    """Return whether ids from 65,536 on were cut to their lower 16 bits, in ids that the tokenizer has made.

    If a version of it with fewer ids made them, nearly all violations are where this one has an id from 65,536 on: 92 %
    or more for parts of cl100k and o200k. If ids of Gemma 2 are cut, which has most ids there, up to 79 % are.
    """
    if not may_be_cut(tokenizer, segments):
        return False
    wanted = sum(max(violation.canonical_ids or (0,)) >= _BITS for violation, _ in counts.found)
    return 10 * wanted <= 9 * len(counts.found)


def _neighbours_of(counts: Counts) -> list[tuple[int, int]]:
    """Return for each violation the first wrong id, after the id before it (-1 at the beginning)."""
    return [
        (int(ids[violation.index - 1]) if violation.index else -1, int(ids[violation.index]))
        for violation, ids in counts.found
    ]


def _foreign_ids(
    tokenizer: AnyTokenizer, segments: tuple[Segment, ...], counts: Counts, known: Iterable[int]
) -> list[int]:
    """Return the ids, apart from `known`, at which nearly all violations are, because they are not used as text."""
    found: list[int] = []
    begun = sum(counts.kinds.values())
    if begun < _FEWEST:
        return []
    occurring = Counter(_all(segments).tolist())
    current = counts
    total = occurring.total()
    for _ in range(_MOST_FOREIGN):
        beside = Counter(id for pair in _neighbours_of(current) for id in {*pair} - {-1})
        for id, n in beside.most_common(4):
            # The violations were counted in a part of the sample only.
            occurs = occurring[id] * current.ids / total
            if n >= _FEWEST / 2 and n >= _WRONG * occurs:
                found.append(id)
                break
        else:
            break
        current = count_violations(tokenizer, segments, separators=[*known, *found])
        if not current.violations:
            break
    if not found:
        return []
    before, after = begun / counts.ids, sum(current.kinds.values()) / current.ids
    return sorted(found) if after <= _LEFT * before else []


def _is_another_version(segments: tuple[Segment, ...], counts: Counts) -> bool:
    """Return whether violations are systematic: the wanted ids never occur, and the same ones recur."""
    if len(counts.missing) > _MOST_SPECIALS:
        return True
    known = [violation for violation, _ in counts.found if violation.canonical_ids is not None]
    if len(known) < _FEWEST or 2 * len(known) < len(counts.found):
        return False
    if counts.kinds[ViolationKind.NOT_UTF8.value] * 10 > counts.violations:
        return False
    every = _all(segments).astype(np.int64)
    ones, pairs = {*np.unique(every).tolist()}, {*np.unique((every[:-1] << 32) | every[1:]).tolist()}
    absent = 0
    for violation in known:
        ids = violation.canonical_ids or ()
        occurs = ids[0] in ones if len(ids) == 1 else all(one << 32 | other in pairs for one, other in pairwise(ids))
        absent += not occurs
    recurring = Counter(_neighbours_of(counts))
    repeated = sum(n for n in recurring.values() if n > 1)
    return absent >= _SYSTEMATIC * len(known) and repeated >= _REPEATED * len(counts.found)


def _all(segments: tuple[Segment, ...]) -> IntegerArray:
    return np.concatenate([segment.ids[segment.begin : segment.end] for segment in segments])
