"""The states of neighbouring ids of a text over characters, and the parts of it that may not be canonical.

The state of a pair is kept in a cache, a table of fixed size, 4-way set-associative: a new pair replaces the oldest of
four. An entry is one machine word, a pair next to its value, so that threads exchange an entry at a time.
"""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array
from tokdfa.kernels.library import Struct, call, lib, rows_of

BYTE, SPECIAL, _BLANK = 1, 2, 4
_IS_UNKNOWN = -2

NOT_CACHED = 15
"""Stands for the value of a pair that is not in the cache; the values are smaller."""

_EMPTY = 0xFFFF_FFFF_FFFF_FFFF
_MOST = (1 << 30) - 3


def neighbours(
    first: Int32Array,
    last: Int32Array,
    is_special: BoolArray,
    is_blank: BoolArray,
    byte_of: Int32Array,
    alone: Uint8Array,
    *,
    touches: bool,
) -> Struct:
    """Return the properties of ids that decide about neighbours.

    `first` and `last` have its first and its last character, -1 for none, and `byte_of` the byte that it is read as, -1
    for none; `alone` is 1 if it is the only id of its own text, 0 if not, and 2 as long as that is not known. `touches`
    is whether the beginning and the end of a text are changed.
    """
    if len({*map(len, (first, last, is_special, is_blank, byte_of, alone))}) != 1 or byte_of.max(initial=-1) > 0xFF:
        raise ValueError("the tables must have an entry for each id")
    kinds = ((byte_of >= 0) * BYTE | is_special * SPECIAL | is_blank * _BLANK).astype(np.uint8)
    return Struct(
        "tokdfa_neighbours", first=first, last=last, kinds=kinds, alone=alone, byte_of=byte_of, touches=touches
    )


def by_characters(tables: Struct, cache: Struct, ids: Int32Array) -> tuple[Uint8Array, int, int]:
    """Return the cached states of the neighbouring characters of ids, NOT_CACHED where there is none.

    Also return how many are not cached, and the kinds of ids that there are, BYTE and SPECIAL as bits. A cut between
    two ids that are read as bytes is FINE.
    """
    states: Uint8Array = np.empty(max(len(ids) - 1, 0), dtype=np.uint8)
    seen: Uint8Array = np.empty(1, dtype=np.uint8)
    n_missing = call(lib.tokdfa_by_characters, tables.pointer, cache.pointer, ids, len(ids), out=(states, seen))
    return states, n_missing, int(seen[0])


def settle_between_bytes(tables: Struct, ids: Int32Array, states: Uint8Array) -> None:
    """Set the states of neighbouring ids from CUT to FINE where both are read as bytes."""
    call(lib.tokdfa_between_bytes, tables.pointer, ids, len(ids), out=(_of_pairs(ids, states),))


def settle_beside_specials(tables: Struct, ids: Int32Array, states: Uint8Array) -> None:
    """Set the states of neighbouring ids, only FINE ones unless `touches`, to DOUBT where one is a special token."""
    call(lib.tokdfa_beside_specials, tables.pointer, ids, len(ids), out=(_of_pairs(ids, states),))


def find_inner_pairs(cache: Struct, ids: Int32Array, states: Uint8Array) -> int:
    """Set FINE to the value of the pair of ids in a cache, NOT_CACHED where it has none; return how many have none."""
    return call(lib.tokdfa_find_inner_pairs, cache.pointer, ids, len(ids), out=(_of_pairs(ids, states),))


def cuts_between(tables: Struct, ids: Int32Array, states: Uint8Array, *, begins: bool) -> BoolArray:
    """Return, for each id but the first, whether the text is cut before it; `begins` is whether it begins with the ids.

    Nothing may be left of spaces at the beginning of a text, and nothing is put before an empty text.
    """
    marks: BoolArray = np.empty(len(states), dtype=np.bool_)
    call(lib.tokdfa_mark_cuts, tables.pointer, ids, len(ids), _of_pairs(ids, states), begins, out=(marks,))
    return marks


def doubtful_parts(tables: Struct, ids: Int32Array, states: Uint8Array, *, begins: bool) -> Int64Array | None:
    """Return the parts between cuts that may not be canonical, shape (parts, 2); None if `alone` of an id is not known.

    In each of them an id is not alone, or the state of two neighbours is DOUBT. The last part is always one, and the
    first one if a text `begins` with the ids.
    """
    if not len(ids):
        return np.zeros((1, 2), dtype=np.int64)
    given, capacity = (tables.pointer, ids, len(ids), _of_pairs(ids, states), begins), max(64, len(ids) // 16)
    while True:
        parts: Int64Array = np.empty((capacity, 2), dtype=np.int64)
        n = call(lib.tokdfa_doubtful_parts, *given, out=(parts, capacity))
        if n >= 0:
            return parts[:n]
        if n == _IS_UNKNOWN:
            return None
        capacity *= 4


def byte_runs(tables: Struct, ids: Int32Array) -> Int64Array:
    """Return the runs of ids that are read as bytes: the first id, the last, and whether all are ASCII; (runs, 3)."""
    return rows_of(lib.tokdfa_byte_runs, tables.pointer, ids, len(ids), width=3, least=len(ids) // 16)


def characters_of_runs(
    tables: Struct, ids: Int32Array, indices: Int64Array, *, is_all: bool, forwards: bool
) -> Int32Array:
    """Return the characters at one end of runs of byte tokens: each begins at one of `indices`, and has a direction.

    A character is U+FFFD if the bytes are not UTF-8, and -1 if it may depend on ids beyond these; `is_all` is whether
    there are none in that direction.
    """
    if indices.min(initial=0) < 0 or indices.max(initial=-1) >= len(ids):
        raise ValueError("the places must be places of ids")
    step = 1 if forwards else -1
    characters: Int32Array = np.empty(len(indices), dtype=np.int32)
    given = (tables.pointer, ids, len(ids), indices, len(indices), step, is_all)
    call(lib.tokdfa_run_characters, *given, out=(characters,))
    return characters


def are_broken(text: bytes, bounds: Int64Array) -> BoolArray:
    """Return which parts of a text are not UTF-8; their `bounds` are an int64 array of shape (parts, 2)."""
    if len(bounds) and (bounds.min() < 0 or bounds.max() > len(text) or bounds.shape[1:] != (2,)):
        raise ValueError("the parts must be in the text")
    marks: BoolArray = np.empty(len(bounds), dtype=np.bool_)
    call(lib.tokdfa_mark_broken, np.frombuffer(text, dtype=np.uint8), bounds, len(bounds), out=(marks,))
    return marks


def _of_pairs(ids: Int32Array, states: Uint8Array) -> Uint8Array:
    """Return states, checked: one for each id and the one after it."""
    if len(states) != max(len(ids) - 1, 0):
        raise ValueError("there is a state for each id but the last")
    return states


def empty_cache(bits: int) -> Struct:
    """Return a cache of 2 ** bits entries, of 8 bytes each."""
    if not 2 <= bits <= 32:
        raise ValueError(f"a cache of 2 ** {bits} entries")
    return Struct("tokdfa_pair_cache", entries=np.full(1 << bits, _EMPTY, dtype=np.uint64))


def cached_pairs(cache: Struct, left: Int32Array, right: Int32Array) -> tuple[Uint8Array, int]:
    """Return the value of each pair of numbers, NOT_CACHED where it is not in the cache, and how many are not."""
    if len(left) != len(right):
        raise ValueError("each pair has two sides")
    values: Uint8Array = np.empty(len(left), dtype=np.uint8)
    return values, call(lib.tokdfa_cached_pairs, cache.pointer, left, right, len(left), out=(values,))


def fill(cache: Struct, left: Int32Array, right: Int32Array, values: Uint8Array) -> None:
    """Enter pairs of numbers with their values; of the pairs that belong to the same entries, the last ones remain."""
    if not len(left) == len(right) == len(values) or values.max(initial=0) >= NOT_CACHED:
        raise ValueError("each pair has a value, less than 15")
    for side in (left, right):
        if side.min(initial=0) < -1 or side.max(initial=0) > _MOST:
            raise ValueError("a number of a pair is out of range")
    call(lib.tokdfa_cache_pairs, cache.pointer, left, right, len(left), values)
