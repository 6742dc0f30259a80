"""Ids that were cut to 16 bits: what is wrong becomes right when a multiple of 65,536 is added."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from tokdfa.arrays import IntegerArray
from tokdfa.identification.counting import Counts
from tokdfa.identification.sample import Stretch
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["is_cut_to_16_bits"]

_BITS = 1 << 16
_FEWEST = 20
_MOST = 8
_AROUND = 8
# Contexts in which one id must be wrong before it is tried.
_CONTEXTS = 2
# Offsets that no mistake has, to compare with.
_CONTROLS = (37, 1009, 4099)
_TIMES = 3


def is_cut_to_16_bits(tokenizer: AnyTokenizer, stretches: tuple[Stretch, ...], counts: Counts) -> bool:
    """Return whether ids from 65,536 on were cut to their lower 16 bits.

    To ids at which there are several violations, a multiple of 65,536 is added: all of these must vanish, and must do
    so for far more ids than when another number is added.
    """
    if tokenizer.n_ids <= _BITS or sum(counts.kinds.values()) < _FEWEST:
        return False
    if any(int(stretch.ids.max(initial=0)) >= _BITS for stretch in stretches):
        return False
    only, never = 0, 0
    for id, rows in _contexts(counts).items():
        own = _becomes_right(tokenizer, id, rows, 0)
        for control in _CONTROLS:
            other = _becomes_right(tokenizer, id, rows, control)
            only += own and not other
            never += other and not own
    return only >= _FEWEST and only >= _TIMES * never


def _contexts(counts: Counts) -> dict[int, list[tuple[IntegerArray, int]]]:
    """Return the ids at which there are several violations, with the ids around each and the place among these."""
    found: dict[int, list[tuple[IntegerArray, int]]] = defaultdict(list)
    for violation, ids in counts.found:
        for place in range(max(violation.index - 1, 0), min(violation.index + 3, len(ids))):
            rows = found[int(ids[place])]
            if len(rows) < _MOST:
                low = max(place - _AROUND, 0)
                rows.append((ids[low : place + _AROUND].astype(np.int64), place - low))
    return {id: rows for id, rows in found.items() if len(rows) >= _CONTEXTS}


def _becomes_right(tokenizer: AnyTokenizer, id: int, rows: list[tuple[IntegerArray, int]], offset: int) -> bool:
    """Return whether all becomes right around an id if a multiple of 65,536, and an offset, is added to it."""
    for high in range(_BITS, tokenizer.n_ids - id, _BITS):
        other = id + high + offset
        if tokenizer.decoder.is_id(other) and all(_is_right(tokenizer, ids, at, other) for ids, at in rows):
            return True
    return False


def _is_right(tokenizer: AnyTokenizer, ids: IntegerArray, place: int, id: int) -> bool:
    """Return whether nothing is wrong around a place if another id is there."""
    ids = ids.copy()
    ids[place] = id
    if not tokenizer.decoder.mean_something(ids).all():
        return False
    verdict = tokenizer.validate(ids, all=True)
    return not any(-3 <= violation.index - place <= 2 for violation in verdict.violations)
