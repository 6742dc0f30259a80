"""The shift of ids that nearly any order leaves as they are, as pieces of Unigram: told by texts next to others.

Of 1,024 ids of English a Unigram model loses no neighbours as they are, and none with 2 added to each: most of its
pieces may be next to any others. But in a text the piece after ``,`` begins with a space, and the piece after ``th``
does not. Read in a wrong shift, the end of a piece tells nothing about the beginning of the next one. So shifts are
compared by this information (of the last byte about a space that follows), in nats; common ids that are common texts,
and neighbours that are lost, count as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import Float64Array, Int64Array, IntegerArray
from tokdfa.base.errors import TokdfaError
from tokdfa.jobs.identification.lost import count_lost
from tokdfa.tokenizers.protocol import AnyTokenizer

_SIZES = (1 << 10, 1 << 12, 1 << 14)
# By so many nats the right shift leads all others; if it is 0, which is the usual one, fewer do.
_LEAD = 20.0
_LEAD_OF_NONE = 4.0
# Shifts that are so far behind are not compared by more ids.
_FAR_BEHIND = 60.0
# The nats for a common id that is a common text, and against a neighbour that is lost; lost ones of the best shifts.
_HIT = 4.0
_LOST = 3.0
_FINALISTS = 4
# The share of neighbours that may be lost in the right shift, and a few more, as where segments of ids meet.
_LARGEST_LOSS = 0.01
_FEW = 8
# The largest shift that is always tried; larger ones are derived from the commonest ids.
_SHIFTS = 300
# Texts that are common in many languages and in programs, most of them one token.
_COMMON = (",", ".", " the", "\n", " of", " and", " ", "\n\n", " de", " a", "的", "，", " =", "(")
_COMMONEST = 8
_KINDS = 3


def has_free_neighbours(tokenizer: AnyTokenizer) -> bool:
    """Return whether nearly any two ids of a tokenizer may be neighbours, as pieces with scores may."""
    return tokenizer.segmenter is not None


def moved(ids: IntegerArray, shift: int) -> Int64Array:
    """Return ids with a number added to each, as their type counts: of uint16, 65,535 and 1 are 0."""
    found: Int64Array = ids.astype(np.int64) + shift
    return found % (1 << 8 * ids.itemsize) if ids.dtype.kind == "u" and ids.itemsize < 8 else found


def is_unshifted(tokenizer: AnyTokenizer, ids: IntegerArray) -> bool:
    """Return whether ids are known to be of a tokenizer as they are."""
    lost, n_told = count_lost(tokenizer, ids[: _SIZES[0]])
    return lost <= _LARGEST_LOSS * n_told + _FEW and told_shift(tokenizer, ids).shift == 0


class Told(NamedTuple):
    """The number that makes ids a text when it is added, None if the ids do not tell; and whether one may do so."""

    shift: int | None
    is_possible: bool


def told_shift(tokenizer: AnyTokenizer, ids: IntegerArray) -> Told:
    """Return the number that makes ids a text of a tokenizer when it is added."""
    left: Int64Array = np.array([0, *shifts_to_try(tokenizer, ids)])
    left = left[np.abs(left) < 1 << (8 * ids.itemsize - 1)]
    for size in _SIZES:
        part = ids[:size]
        scores = _information(tokenizer, part, left) + _HIT * common_hits(tokenizer, part, left.tolist())
        is_own = np.zeros(len(left), dtype=np.bool_)
        for at in np.argsort(-scores, kind="stable")[:_FINALISTS].tolist():
            lost, n_told = count_lost(tokenizer, moved(part, int(left[at])))
            scores[at] -= _LOST * lost
            is_own[at] = lost <= _LARGEST_LOSS * n_told + _FEW
        best = int(scores.argmax())
        others = np.delete(scores, best)
        lead = scores[best] - max(others.max(initial=-np.inf), 0.0)
        if is_own[best] and lead >= (_LEAD if left[best] else _LEAD_OF_NONE):
            return Told(int(left[best]), True)
        left = left[scores >= scores[best] - _FAR_BEHIND]
        if size >= len(ids):
            break
    return Told(None, bool(is_own.any()) or len(ids) < _SIZES[0])


def common_hits(tokenizer: AnyTokenizer, ids: IntegerArray, shifts: list[int]) -> Int64Array:
    """Return for each shift how many of the commonest ids are common tokens after it."""
    wanted, commonest = _common_tokens(tokenizer), np.array(_commonest(ids), dtype=ids.dtype)
    hits = [len(wanted.intersection(moved(commonest, shift).tolist())) for shift in shifts]
    return np.array(hits, dtype=np.int64)


def shifts_to_try(tokenizer: AnyTokenizer, ids: IntegerArray) -> list[int]:
    """Return the numbers that may have to be added to ids: small ones, and some that make common ids common tokens."""
    aligned = {each - value for each in _common_tokens(tokenizer) for value in _commonest(ids)}
    return sorted({*range(-_SHIFTS, _SHIFTS + 1), *aligned} - {0}, key=lambda shift: (abs(shift), shift))


def _common_tokens(tokenizer: AnyTokenizer) -> set[int]:
    """Return the ids of texts that are common in many languages and in programs."""
    found: set[int] = set()
    for text in _COMMON:
        try:
            found.update(tokenizer.encode(text)[-1:].tolist())
        except TokdfaError:
            continue
    return found


def _commonest(ids: IntegerArray) -> list[int]:
    """Return the commonest ids."""
    values, counts = np.unique(ids, return_counts=True)
    common: list[int] = values[np.argsort(-counts, kind="stable")[:_COMMONEST]].tolist()
    return [value for value in common if abs(value) < 1 << 40]


class _Ends(NamedTuple):
    """For each id the last byte of its text, times `_KINDS`, and the kind of the first one; -1 for an empty text."""

    last: Int64Array
    first: Int64Array

    @classmethod
    def of(cls, tokenizer: AnyTokenizer) -> _Ends:
        """Return the ends of all ids."""
        text, offsets = tokenizer.id_spellings
        is_text = np.diff(offsets) > 0
        first, last = np.full(len(is_text), -1, dtype=np.int64), np.full(len(is_text), -1, dtype=np.int64)
        beginning = text[offsets[:-1][is_text]]
        # Characters of Chinese and Japanese begin with other bytes than Japanese syllables and punctuation.
        first[is_text] = np.where(beginning == 0x20, 1, np.where(beginning == 0xE3, 2, 0))
        last[is_text] = text[offsets[1:][is_text] - 1].astype(np.int64) * _KINDS
        return cls(last, first)


def _information(tokenizer: AnyTokenizer, ids: IntegerArray, shifts: Int64Array) -> Float64Array:
    """Return for each shift how much the ends of texts tell about the beginnings of the next ones, in nats."""
    last, first = tokenizer.derived(_Ends.of)
    found = np.full(len(shifts), -np.inf)
    for index, shift in enumerate(shifts.tolist()):
        those = moved(ids, shift)
        is_id = (those >= 0) & (those < len(first))
        those[~is_id] = 0
        left, right = last[those[:-1]], first[those[1:]]
        is_told = is_id[:-1] & is_id[1:] & (left >= 0) & (right >= 0)
        if 2 * np.count_nonzero(is_told) >= len(ids):
            counts = np.bincount((left + right)[is_told], minlength=256 * _KINDS).reshape(256, _KINDS)
            rows, columns = counts.sum(axis=1), counts.sum(axis=0)
            # Counts of chance are expected to tell half a nat for each degree of freedom.
            free = (np.count_nonzero(rows) - 1) * (np.count_nonzero(columns) - 1)
            found[index] = _entropy(rows) + _entropy(columns) - _entropy(counts) - free / 2
    return found


def _entropy(counts: Int64Array) -> float:
    """Return the entropy of counts, in nats, times their sum."""
    positive = counts[counts > 0].astype(np.float64)
    return float(positive.sum() * np.log(positive.sum()) - (positive * np.log(positive)).sum())
