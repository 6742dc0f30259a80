"""What each id of a tokenizer is, as flags: unknown, a byte to fall back on, dead."""

from __future__ import annotations

from contextlib import suppress
from functools import singledispatch

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Uint8Array
from tokdfa.base.errors import TokdfaError
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer, WordPieceTokenizer

__all__ = ["DEAD", "FALLBACK", "UNKNOWN", "ends_documents", "flags_of"]

UNKNOWN, FALLBACK, DEAD = 1, 2, 4


def flags_of(tokenizer: AnyTokenizer) -> Uint8Array | None:
    """Return the flags of all ids; None if none has one."""
    flags = np.zeros(len(tokenizer.id_spellings.offsets) - 1, dtype=np.uint8)
    _set(tokenizer, flags)
    return flags if flags.any() else None


@singledispatch
def _set(tokenizer: AnyTokenizer, flags: Uint8Array) -> None:
    """Set the flags of the ids of a tokenizer."""


@_set.register
def _(tokenizer: Tokenizer, flags: Uint8Array) -> None:
    fallback = tokenizer.rewrites[1]
    if fallback is not None:
        flags[_ids(tokenizer, [fallback.unknown])] |= UNKNOWN
        flags[_ids(tokenizer, [*(fallback.bytes or ())])] |= FALLBACK
    # Of a dictionary that is not proper it is not known which tokens are dead.
    with suppress(TokdfaError):
        dead = tokenizer.token_to_id[tokenizer.dead_tokens]
        flags[dead[flags[dead] == 0]] |= DEAD


@_set.register
def _(tokenizer: WordPieceTokenizer, flags: Uint8Array) -> None:
    if tokenizer.vocabulary.unknown_id is not None:
        flags[tokenizer.vocabulary.unknown_id] |= UNKNOWN


def _ids(tokenizer: Tokenizer, symbols: list[str | None]) -> Int32Array:
    """Return the ids of symbols of the alphabet."""
    alphabet = tokenizer.dictionary.alphabet
    numbers = [alphabet.number(symbol) for symbol in symbols if symbol is not None and symbol in alphabet]
    ids = tokenizer.token_to_id[np.array(numbers, dtype=np.int64)]
    kept: Int32Array = ids[ids >= 0]
    return kept


def ends_documents(tokenizer: AnyTokenizer, end: int | None) -> BoolArray:
    """Return for each id whether it ends documents: the one that is given, or else any control token."""
    ends = np.zeros(len(tokenizer.id_spellings.offsets) - 1, dtype=np.bool_)
    if end is None:
        ends[tokenizer.control_ids] = True
    elif 0 <= end < len(ends):
        ends[end] = True
    return ends
