"""Shifts of ids that nearly any order leaves as they are, as pieces of Unigram: many ids tell them, few do not.

Of 1,024 ids of English a Unigram model loses no neighbours as they are, and none with 2 added to each: most of its
pieces may be next to any others. Of 16,384 it loses none and 153.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tokdfa.base.arrays import IntegerArray
from tokdfa.jobs.identification.lost import count_lost
from tokdfa.tokenizers.protocol import AnyTokenizer

NEAR = (0, *(sign * shift for shift in (1, 2, 3, 4, 5, 7, 9, 12, 16, 24, 50, 100) for sign in (1, -1)))
"""Shifts by which ids are compared that may be right as they are."""

_SIZES = (1 << 10, 1 << 12, 1 << 14, 1 << 16)
# A shift that loses more than eight times as many neighbours as another, and eight, is not the right one.
_MORE = 8


def has_free_neighbours(tokenizer: AnyTokenizer) -> bool:
    """Return whether nearly any two ids of a tokenizer may be neighbours, as pieces with scores may."""
    return tokenizer.segmenter is not None


def likely_shifts(tokenizer: AnyTokenizer, ids: IntegerArray, shifts: Iterable[int]) -> list[int]:
    """Return those of some numbers that lose few neighbours of ids when they are added; none if all lose many.

    Numbers that lose many more than another are left out after few ids. The ids that are read grow fourfold each time.
    """
    left = [*shifts]
    for size in _SIZES:
        part = ids[:size].astype(np.int64)
        lost = [(count_lost(tokenizer, part + shift)[0], shift) for shift in left]
        least = min(lost)[0]
        left = [shift for n, shift in lost if n <= _MORE * (least + 1)] if 2 * least <= len(part) else []
        if len(left) < 2 or size >= len(ids):
            break
    return left
