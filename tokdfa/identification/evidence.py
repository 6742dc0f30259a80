"""What the violations in ids of a tokenizer come from: ids that are no text, or another version of the tokenizer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from tokdfa.arrays import IntegerArray
from tokdfa.identification.counting import Counts, count_violations
from tokdfa.identification.sample import Stretch
from tokdfa.identification.tuning import Tuning
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.validation.kind import ViolationKind

__all__ = ["MOST_SPECIALS", "foreign_ids", "is_another_version", "neighbours_of"]

MOST_SPECIALS = 16
"""More ids than these that a tokenizer does not have are those of a larger vocabulary, and not of special tokens."""

_FEWEST = 20
_MOST_FOREIGN = 4
# Of the occurrences of an id that is no text this share, at least, is wrong.
_WRONG = 0.25
# Violations that are left when such ids are taken out.
_LEFT = 0.2
_SYSTEMATIC = 0.7
_REPEATED = 0.5


def neighbours_of(counts: Counts) -> list[tuple[int, int]]:
    """Return for each violation the first wrong id, after the id before it (-1 at the beginning)."""
    return [
        (int(ids[violation.index - 1]) if violation.index else -1, int(ids[violation.index]))
        for violation, ids in counts.found
    ]


def foreign_ids(
    tokenizer: AnyTokenizer, stretches: tuple[Stretch, ...], counts: Counts, known: Iterable[int], tuning: Tuning
) -> list[int]:
    """Return the ids at which nearly all violations are, because they are used as something else than text.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    stretches : tuple of Stretch
    counts : Counts
        The violations in them.
    known : iterable of int
        Ids that are already taken for ids between documents.
    tuning : Tuning
    """
    found: list[int] = []
    begun = sum(counts.kinds.values())
    if begun < _FEWEST:
        return []
    occurring = _occurrences(stretches)
    current = counts
    total = occurring.total()
    for _ in range(_MOST_FOREIGN):
        beside = Counter(id for pair in neighbours_of(current) for id in {*pair} - {-1})
        for id, n in beside.most_common(4):
            # The violations were counted in a part of the sample only.
            occurs = occurring[id] * current.ids / total
            if n >= _FEWEST / 2 and n >= _WRONG * occurs:
                found.append(id)
                break
        else:
            break
        current = count_violations(tokenizer, stretches, tuning.enough, [*known, *found])
        if not current.violations:
            break
    if not found:
        return []
    before, after = begun / counts.ids, sum(current.kinds.values()) / current.ids
    return sorted(found) if after <= _LEFT * before else []


def is_another_version(stretches: tuple[Stretch, ...], counts: Counts) -> bool:
    """Return whether violations are systematic: what the tokenizer wants there never occurs, and the same recurs."""
    if len(counts.missing) > MOST_SPECIALS:
        return True
    known = [violation for violation, _ in counts.found if violation.canonical_ids is not None]
    if len(known) < _FEWEST or 2 * len(known) < len(counts.found):
        return False
    if counts.kinds[ViolationKind.NOT_UTF8.value] * 10 > counts.violations:
        return False
    ones, pairs = _grams(stretches)
    absent = sum(not _occurs(violation.canonical_ids or (), ones, pairs) for violation in known)
    recurring = Counter(neighbours_of(counts))
    repeated = sum(n for n in recurring.values() if n > 1)
    return absent >= _SYSTEMATIC * len(known) and repeated >= _REPEATED * len(counts.found)


def _occurrences(stretches: tuple[Stretch, ...]) -> Counter[int]:
    values, counts = np.unique(_all(stretches), return_counts=True)
    return Counter(dict(zip(values.tolist(), counts.tolist(), strict=True)))


def _all(stretches: tuple[Stretch, ...]) -> IntegerArray:
    return np.concatenate([stretch.ids[stretch.begin : stretch.end] for stretch in stretches])


def _grams(stretches: tuple[Stretch, ...]) -> tuple[IntegerArray, IntegerArray]:
    """Return the ids that occur, and the pairs of neighbours as numbers, ascending."""
    ids = _all(stretches).astype(np.int64)
    return np.unique(ids), np.unique((ids[:-1] << 32) | ids[1:])


def _occurs(ids: tuple[int, ...], ones: IntegerArray, pairs: IntegerArray) -> bool:
    if len(ids) == 1:
        return bool(np.isin(ids[0], ones))
    row = np.array(ids, dtype=np.int64)
    return bool(np.isin((row[:-1] << 32) | row[1:], pairs).all())
