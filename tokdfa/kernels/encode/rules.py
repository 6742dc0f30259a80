"""Rules as a hash table from pairs of tokens to the products of merging them."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int32Array, Uint64Array
from tokdfa.kernels.library import Struct, ffi, lib, readable, writable
from tokdfa.kernels.pages import zeros

__all__ = ["BUCKET", "NOTHING", "NO_NUMBER", "index_rules", "merged", "number_products"]

NO_NUMBER = (1 << 21) - 1
"""The number of no token, used for the missing neighbours of the first and the last token."""

NOTHING = 0
"""The product of a pair that no rule merges."""

BUCKET = 8
# On average. With more, the table is smaller, and a bucket has too few places more often.
_IN_BUCKET = 4.4


def _room_for_rules(n: int) -> Uint64Array:
    """Return an empty table for this number of rules, its buckets being cache lines."""
    size = BUCKET * (int(n / _IN_BUCKET) + 1)
    room = zeros(size + BUCKET, np.uint64)
    first = -(room.ctypes.data // 8) % BUCKET
    table: Uint64Array = room[first : first + size]
    return table


def number_products(product: Int32Array, n_symbols: int, ids: Int32Array) -> tuple[Int32Array, Int32Array]:
    """Number the symbols, which keep their numbers, and then the tokens that rules make, in the order of the rules.

    Parameters
    ----------
    product : int32 array
        The tokens that the rules make, at least `n_symbols`.
    n_symbols : int
    ids : int32 array, one entry a token
        The id of each token.

    Returns
    -------
    number : int32 array, one entry a token
        Its number, -1 for tokens that nothing makes.
    ids_of_numbers : int32 array
        The ids of the tokens by number, -1 for numbers that are not used.
    """
    _check_tokens(len(ids), product)
    number: Int32Array = np.full(len(ids), -1, dtype=np.int32)
    ids_of_numbers: Int32Array = np.full(len(ids) + 1, -1, dtype=np.int32)
    number[:n_symbols] = np.arange(n_symbols)
    ids_of_numbers[:n_symbols] = ids[:n_symbols]
    lib.tokdfa_number_products(
        readable(product, np.int32),
        len(product),
        n_symbols,
        readable(ids, np.int32),
        writable(number, np.int32),
        writable(ids_of_numbers, np.int32),
    )
    return number, ids_of_numbers


def index_rules(
    left: Int32Array, right: Int32Array, product: Int32Array, number: Int32Array | None = None
) -> tuple[Uint64Array, Int32Array]:
    """Put the rules ``left[i]≀right[i]`` into a table; the first of equal pairs counts.

    Parameters
    ----------
    left, right, product : int32 arrays
        Tokens.
    number : int32 array, optional
        The numbers of the tokens, all less than NO_NUMBER, those of products greater than 0; rules with a part that
        has number -1 are left out. By default tokens are given by their numbers.

    Returns
    -------
    rules : uint64 array
        The table.
    of_symbols : int32 array of shape (65536,)
        The product of merging the tokens numbered u and v below 256, at ``u << 8 | v``.
    """
    _check_tokens(NO_NUMBER if number is None else len(number), left, right, product)
    rules = _room_for_rules(len(left))
    of_symbols: Int32Array = np.zeros(1 << 16, dtype=np.int32)
    lib.tokdfa_index_rules(
        *(readable(column, np.int32) for column in (left, right, product)),
        len(left),
        ffi.NULL if number is None else readable(number, np.int32),
        writable(rules, np.uint64),
        len(rules),
        writable(of_symbols, np.int32),
    )
    return rules, of_symbols


def _check_tokens(n_tokens: int, *columns: Int32Array) -> None:
    """Raise ValueError unless all of these are tokens."""
    # Read as unsigned, negative numbers are the largest.
    if any(column.view(np.uint32).max(initial=0) >= max(n_tokens, 1) for column in columns):
        raise ValueError(f"a rule between tokens that are not among {n_tokens}")


def merged(tables: Struct, u: int, v: int) -> int:
    """Return the number of the product of the rule u≀v of some tables, or NOTHING if there is no such rule."""
    return int(lib.tokdfa_merged(tables.pointer, u, v))
