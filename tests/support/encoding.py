"""Questions to single parts of the kernels that encode: rules, words and cached pieces, asked one by one."""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import Int32Array
from tokdfa.kernels.encode.pieces import LONGEST_KEPT
from tokdfa.kernels.library import Struct, call, lib

_IDS_INSIDE = 3


def key_of(text: bytes, begin: int, end: int) -> tuple[int, int]:
    """Return the words of the key of the piece ``text[begin:end]``: its packing, or for long ones a hash."""
    assert 0 <= begin <= end <= len(text)
    key = np.zeros(2, dtype=np.uint64)
    call(lib.tokdfa_key_of_piece, text, len(text), begin, end, out=(key,))
    low, high = key.tolist()
    return low, high


def look_up(cache: Struct, text: bytes, begin: int, end: int) -> Int32Array | None:
    """Return the ids of the piece ``text[begin:end]``, None if it is not cached; it is promoted in its set."""
    assert 0 <= begin < end <= len(text)
    out: Int32Array = np.zeros(LONGEST_KEPT + 2, dtype=np.int32)
    n = call(lib.tokdfa_look_up_piece, cache.pointer, text, len(text), begin, end, out=(out,))
    return None if n < 0 else out[:n]


def add_piece(cache: Struct, text: bytes, begin: int, end: int, ids: Int32Array) -> None:
    """Cache the ids of the piece ``text[begin:end]``."""
    assert 0 <= begin < end <= len(text)
    padded: Int32Array = np.zeros(max(len(ids), _IDS_INSIDE), dtype=np.int32)
    padded[: len(ids)] = ids
    call(lib.tokdfa_cache_piece, cache.pointer, text, len(text), begin, end, out=(padded, len(ids)))


def merged(tables: Struct, u: int, v: int) -> int:
    """Return the number of the product of the rule u≀v of some tables, or NOTHING without such a rule."""
    return int(lib.tokdfa_merged(tables.pointer, u, v))


def longest_token(tables: Struct, text: bytes, begin: int, end: int) -> int:
    """Return the longest token at the beginning of ``text[begin:end]``, or -1."""
    assert 0 <= begin < end <= len(text)
    return int(lib.tokdfa_longest_token(tables.pointer, text, len(text), begin, end))


def allows(tables: Struct, u: int, v: int) -> bool:
    """Return whether the live token `v` may follow the live token `u`."""
    return bool(lib.tokdfa_allows(tables.pointer, u, v))
