"""A quick measure of how well a tokenizer fits ids."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import IntegerArray
from tokdfa.errors import TokdfaError
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["agreement", "shifts_to_try"]

# Texts that are common in many languages and in programs, most of them one token.
_COMMON = (",", ".", " the", "\n", " of", " and", " ", "\n\n", " de", " a", "的", "，", " =", "(")
_MOST = 8


def agreement(tokenizer: AnyTokenizer, ids: IntegerArray) -> float:
    """Return the share of neighbouring ids that are neighbours again once their text is encoded, from 0 to 1.

    It is close to 1 for ids of the tokenizer or another version of it, and lower for all others.
    """
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


def shifts_to_try(tokenizer: AnyTokenizer, ids: IntegerArray, most: int) -> list[int]:
    """Return the numbers that may have to be added to ids: small ones, and those that make common ids common tokens."""
    values, counts = np.unique(ids, return_counts=True)
    common = values[np.argsort(-counts, kind="stable")[:_MOST]].tolist()
    wanted: set[int] = set()
    for text in _COMMON:
        try:
            wanted.update(tokenizer.encode(text)[-1:].tolist())
        except TokdfaError:
            continue
    aligned = {each - value for each in wanted for value in common if abs(value) < 1 << 40}
    return sorted({*range(-most, most + 1), *aligned} - {0}, key=lambda shift: (abs(shift), shift))
