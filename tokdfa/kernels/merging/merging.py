"""Merging by priority: of all adjacent pairs that may merge, the strongest first, with ties going to the leftmost."""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, distinct
from tokdfa.base.errors import LimitExceededError
from tokdfa.kernels.library import Struct, call, check_memory, lib, slots_for
from tokdfa.kernels.pages import zeros_together


def empty_table(n_pairs: int) -> Struct:
    """Return a hash table for `n_pairs` pairs."""
    # At most two thirds of it are used: a search ends in the cache line in which it begins, as a rule.
    capacity = slots_for(3 * n_pairs // 4 + 1, 16)
    keys, priority, product = zeros_together((capacity, np.int64), (capacity, np.int32), (capacity, np.int32))
    keys.fill(-1)
    return Struct("tokdfa_merges", keys=keys, priority=priority, product=product)


def pair_table(
    left: Int32Array, right: Int32Array, priority: Int32Array, product: Int32Array, *, spread: int = 1
) -> Struct:
    """Return the hash table of these pairs, `spread` times as large as needed; of equal pairs the first one counts.

    A large one is for look-ups that mostly find nothing.
    """
    if not len(left) == len(right) == len(priority) == len(product):
        raise ValueError("a pair has two parts, a priority and a product")
    table = empty_table(spread * len(left))
    call(lib.tokdfa_add_pairs, table.pointer, left, right, priority, product, len(left))
    return table


def inner_pairs(left: Int32Array, right: Int32Array, product: Int32Array) -> Int64Array:
    """Return the pairs of symbols, ``left << 32 | right``, that meet where rules join their parts, ascending."""
    if not len(left) == len(right) == len(product):
        raise ValueError("a rule has two parts and a product")
    columns = [np.ascontiguousarray(column, dtype=np.int32) for column in (left, right, product)]
    assert min(int(column.min(initial=0)) for column in columns) >= 0
    first = np.arange(1 + max(int(column.max(initial=0)) for column in columns), dtype=np.int32)
    first[product] = -1
    pairs: Int64Array = np.empty(len(left), dtype=np.int64)
    n = call(lib.tokdfa_inner_pairs, *columns, len(left), out=(first, first.copy(), pairs))
    return distinct(pairs[:n])


def check_lengths(offsets: Int64Array) -> None:
    """Raise LimitExceededError if a word is too long for the kernels: of 2 ** 31 symbols or more."""
    longest = int(np.diff(offsets).max(initial=0))
    if longest >= 1 << 31:
        raise LimitExceededError("a piece is too long to merge", value=longest)


def merge_pieces(symbols: Int32Array, pieces: Int64Array, table: Struct) -> tuple[Int64Array, Int32Array]:
    """Merge every piece ``symbols[pieces[i]:pieces[i + 1]]`` separately: O(n log n) for one of n symbols.

    The tokens of piece i are ``tokens[offsets[i]:offsets[i + 1]]``. A piece of 2 ** 31 symbols is a LimitExceededError.
    """
    check_lengths(pieces)
    offsets: Int64Array = np.empty(len(pieces), dtype=np.int64)
    tokens: Int32Array = np.empty(len(symbols), dtype=np.int32)
    end = check_memory(
        call(lib.tokdfa_merge_pieces, table.pointer, symbols, pieces, len(pieces) - 1, out=(offsets, tokens))
    )
    return offsets, tokens[:end].copy()


def derive(
    text: Int32Array,
    offsets: Int64Array,
    n_symbols: int,
    start: Int64Array,
    split_left: Int32Array,
    split_right: Int32Array,
) -> tuple[Int32Array, Int32Array, Int32Array, Int32Array]:
    """Find for each of the words ``text[offsets[i]:offsets[i + 1]]`` the pair that makes it, strongest word first.

    Word i, token n_symbols + i, is merged with the pairs of the words before it; if two tokens are left, they are its
    pair. The pairs ``start[i]`` to ``start[i + 1]`` of `split_left` and `split_right` all make word i; if `start` is
    empty, only the pair that is found makes it. Returns the pair of each word, -1 if more than two tokens are left; and
    for such words the two tokens left after all pairs have been used, -1 if there are more, or the pairs were given.
    """
    check_lengths(offsets)
    n_words = len(offsets) - 1
    left, right, first, second = np.full((4, n_words), -1, dtype=np.int32)
    job = Struct(
        "tokdfa_word_job", text=text, offsets=offsets, n_words=n_words, n_symbols=n_symbols, start=start,
        split_left=split_left, split_right=split_right, left=left, right=right, first=first, second=second,
    )  # fmt: skip
    pairs = empty_table(len(split_left) if len(start) else n_words)
    check_memory(lib.tokdfa_derive(job.pointer, pairs.pointer))
    return left, right, first, second


def derivations(symbols: Int32Array, offsets: Int64Array, table: Struct) -> tuple[Int32Array, BoolArray]:
    """Merge the words ``symbols[offsets[i]:offsets[i + 1]]`` completely by a table of :func:`pair_table`.

    Returns an array of shape (words, 4): the number of tokens left, and parts and priority of the last merge, -1 for
    none; and whether no merge was stronger than the one before it.
    """
    check_lengths(offsets)
    n_words = len(offsets) - 1
    last: Int32Array = np.empty((n_words, 4), dtype=np.int32)
    ascending = np.empty(n_words, dtype=np.bool_)
    check_memory(call(lib.tokdfa_derivations, table.pointer, symbols, offsets, n_words, out=(last, ascending)))
    return last, ascending
