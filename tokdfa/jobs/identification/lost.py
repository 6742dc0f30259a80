"""Neighbouring ids that are lost once their text is encoded again: few of the ids that a tokenizer made.

An id for unknown characters stands for a text that it does not tell: a stream of SentencePiece may have ``▁a ⁇ b``, and
encoding its text again gives ``▁a ▁ ⁇ ▁b``. So next to such ids nothing is held against a tokenizer.
"""

from __future__ import annotations

from itertools import compress, pairwise

import numpy as np

from tokdfa.base.arrays import BoolArray, IntegerArray
from tokdfa.base.errors import TokdfaError
from tokdfa.tokenizers.protocol import AnyTokenizer

# The distance from an unknown id up to which ids tell nothing.
_AROUND = 2
# The least share of the neighbours that must tell something; and the share near unknown ids from which mistakes in the
# ids are not looked for.
_TOLD = 0.25
_HIDDEN = 0.6


def near_unknown(tokenizer: AnyTokenizer, ids: IntegerArray) -> BoolArray:
    """Return whether each of some ids is unknown, or near one that is."""
    unknown = tokenizer.derived(_unknown_id)
    flags = np.zeros(len(ids) + 2 * _AROUND, dtype=np.bool_)
    if unknown is not None:
        at = np.flatnonzero(ids == unknown)
        for distance in range(2 * _AROUND + 1):
            flags[at + distance] = True
    return flags[_AROUND : len(ids) + _AROUND]


def tells_little(tokenizer: AnyTokenizer, ids: IntegerArray) -> bool:
    """Return whether most of some ids are unknown, or near one that is."""
    return int(np.count_nonzero(near_unknown(tokenizer, ids))) > _HIDDEN * len(ids)


def loss_of(tokenizer: AnyTokenizer, ids: IntegerArray) -> float:
    """Return the share of neighbouring ids, from 0 to 1, that are lost once their text is encoded."""
    lost, n_told = count_lost(tokenizer, ids)
    return lost / max(n_told, 1)


def count_lost(tokenizer: AnyTokenizer, ids: IntegerArray) -> tuple[int, int]:
    """Return how many ids mean nothing, or lose their neighbour once their text is encoded; and of how many.

    A special token is cut from its neighbours whatever they are, so it tells nothing. If few ids tell, all are lost.
    """
    everything = max(len(ids) - 1, 1)
    known = ids[tokenizer.decoder.mean_something(ids)].astype(np.int64)
    if len(known) < 2:
        return everything, everything
    is_mute = near_unknown(tokenizer, known) | tokenizer.derived(_special_flags)[known]
    is_told = ~(is_mute[1:] | is_mute[:-1])
    n_missing = len(ids) - len(known)
    n_told = n_missing + int(np.count_nonzero(is_told))
    if 2 * len(known) < len(ids) or n_told < _TOLD * len(ids):
        return everything, everything
    try:
        again = tokenizer.encode(tokenizer.decode_bytes(known).decode("utf-8", "replace"))
    except TokdfaError:
        return everything, everything
    # PERF: faster than with arrays for the hundreds of ids that shifts are tried on.
    pairs = {*pairwise(again.tolist())}
    kept = sum(map(pairs.__contains__, compress(pairwise(known.tolist()), is_told.tolist())))
    return n_told - kept, n_told


def _unknown_id(tokenizer: AnyTokenizer) -> int | None:
    """Return the id of unknown characters or words; None if there is none, or if all of them become bytes."""
    unknown, bytes = tokenizer.model.unknown_id, tokenizer.model.byte_ids
    return None if bytes is not None and min(bytes) >= 0 else unknown


def _special_flags(tokenizer: AnyTokenizer) -> BoolArray:
    """Return whether each id is a special token."""
    flags = np.zeros(tokenizer.n_ids, dtype=np.bool_)
    flags[tokenizer.special_ids] = True
    return flags
