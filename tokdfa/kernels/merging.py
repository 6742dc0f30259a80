"""Merging by priority: of all adjacent pairs that may merge, the strongest first, and of equals the leftmost.

The pairs are held in an open-addressing hash table: ``keys[slot]`` is ``left << 32 | right``, or -1 where the slot is
empty; ``priority[slot]`` (smaller is stronger) and ``product[slot]`` belong to the pair.
"""

from __future__ import annotations

from typing import TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt

from tokdfa.kernels.types import INTS, Ints

__all__ = ["derive", "merge_pieces", "pair_table"]

Longs: TypeAlias = npt.NDArray[np.int64]

LONGS = nb.types.Array(nb.int64, 1, "C", readonly=True)
TABLE = nb.types.Tuple((nb.int64[::1], nb.int32[::1], nb.int32[::1]))  # type: ignore[no-untyped-call]
PIECES = nb.types.Tuple((nb.int64[::1], nb.int32[::1]))  # type: ignore[no-untyped-call]
PARTS = nb.types.Tuple((nb.int32[::1], nb.int32[::1], nb.int32[::1], nb.int32[::1]))  # type: ignore[no-untyped-call]


@nb.njit(cache=True)
def _slot(keys, key):  # type: ignore[no-untyped-def]
    """Return the slot of `key`, or the empty one where it belongs."""
    mask = len(keys) - 1
    # Fibonacci hashing; the multiplier is 2^64 over the golden ratio.
    slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(24)) & mask
    while keys[slot] != key and keys[slot] != -1:
        slot = (slot + 1) & mask
    return slot


@nb.njit(cache=True)
def _insert(keys, priorities, products, left, right, priority, product):  # type: ignore[no-untyped-def]
    """Add a pair, unless it is there already."""
    key = (np.int64(left) << 32) | np.int64(right)
    slot = _slot(keys, key)
    if keys[slot] == -1:
        keys[slot] = key
        priorities[slot] = priority
        products[slot] = product


@nb.njit(cache=True)
def _push(heap, size, entry):  # type: ignore[no-untyped-def]
    child = size
    while child > 0:
        above = (child - 1) >> 1
        if heap[above] <= entry:
            break
        heap[child] = heap[above]
        child = above
    heap[child] = entry
    return size + 1


@nb.njit(cache=True)
def _pop(heap, size):  # type: ignore[no-untyped-def]
    """Return the least entry; the heap has `size` - 1 afterwards."""
    least = heap[0]
    entry = heap[size - 1]
    size -= 1
    hole = 0
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= entry:
            break
        heap[hole] = heap[child]
        hole = child
    heap[hole] = entry
    return least


@nb.njit(cache=True)
def _merge(tokens, n, after, before, heap, keys, priority, product):  # type: ignore[no-untyped-def]
    """Merge the first `n` of `tokens` in place and return how many are left.

    `after` and `before` have room for n numbers, `heap` for 3 n. An entry of the heap is a priority and a position;
    it is stale when the pair at that position has another priority by now.
    """
    size = 0
    for i in range(n):
        after[i] = i + 1
        before[i] = i - 1
        if i + 1 < n:
            key = (np.int64(tokens[i]) << 32) | np.int64(tokens[i + 1])
            slot = _slot(keys, key)
            if keys[slot] == key:
                size = _push(heap, size, (np.int64(priority[slot]) << 32) | np.int64(i))
    while size > 0:
        entry = _pop(heap, size)
        size -= 1
        i = entry & 0xFFFFFFFF
        if tokens[i] < 0 or after[i] >= n:
            continue
        j = after[i]
        key = (np.int64(tokens[i]) << 32) | np.int64(tokens[j])
        slot = _slot(keys, key)
        if keys[slot] != key or priority[slot] != entry >> 32:
            continue
        tokens[i] = product[slot]
        tokens[j] = -1
        k = after[j]
        after[i] = k
        if k < n:
            before[k] = i
            key = (np.int64(tokens[i]) << 32) | np.int64(tokens[k])
            slot = _slot(keys, key)
            if keys[slot] == key:
                size = _push(heap, size, (np.int64(priority[slot]) << 32) | np.int64(i))
        h = before[i]
        if h >= 0:
            key = (np.int64(tokens[h]) << 32) | np.int64(tokens[i])
            slot = _slot(keys, key)
            if keys[slot] == key:
                size = _push(heap, size, (np.int64(priority[slot]) << 32) | np.int64(h))
    left = 0
    for i in range(n):
        if tokens[i] >= 0:
            tokens[left] = tokens[i]
            left += 1
    return left


@nb.njit(cache=True)
def _capacity(n_pairs):  # type: ignore[no-untyped-def]
    capacity = 16
    while capacity < 2 * n_pairs:
        capacity *= 2
    return capacity


@nb.njit(TABLE(INTS, INTS, INTS, INTS), cache=True)
def pair_table(left: Ints, right: Ints, priority: Ints, product: Ints) -> tuple[Longs, Ints, Ints]:
    """Return the hash table (keys, priority, product) of these pairs; of equal pairs the first one counts."""
    capacity = _capacity(len(left))
    keys = np.full(capacity, -1, np.int64)
    priorities = np.empty(capacity, np.int32)
    products = np.empty(capacity, np.int32)
    for i in range(len(left)):
        _insert(keys, priorities, products, left[i], right[i], priority[i], product[i])
    return keys, priorities, products


@nb.njit(PIECES(INTS, LONGS, LONGS, INTS, INTS), cache=True)
def merge_pieces(symbols: Ints, pieces: Longs, keys: Longs, priority: Ints, product: Ints) -> tuple[Longs, Ints]:
    """Merge every piece ``symbols[pieces[i]:pieces[i + 1]]`` by itself.

    Returns
    -------
    offsets, tokens
        The tokens of piece i are ``tokens[offsets[i]:offsets[i + 1]]``.
    """
    longest = 0
    for i in range(len(pieces) - 1):
        longest = max(longest, pieces[i + 1] - pieces[i])
    after = np.empty(longest, np.int64)
    before = np.empty(longest, np.int64)
    heap = np.empty(3 * longest + 1, np.int64)
    offsets = np.zeros(len(pieces), np.int64)
    tokens = np.empty(len(symbols), np.int32)
    end = 0
    for i in range(len(pieces) - 1):
        n = pieces[i + 1] - pieces[i]
        tokens[end : end + n] = symbols[pieces[i] : pieces[i + 1]]
        end += _merge(tokens[end : end + n], n, after, before, heap, keys, priority, product)
        offsets[i + 1] = end
    return offsets, tokens[:end].copy()


@nb.njit(PARTS(INTS, LONGS, nb.int64, LONGS, INTS, INTS), cache=True)
def derive(
    text: Ints, offsets: Longs, n_symbols: int, start: Longs, split_left: Ints, split_right: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """Find for each of the words ``text[offsets[i]:offsets[i + 1]]`` the pair that makes it, strongest word first.

    Word i is token n_symbols + i, the symbols are the tokens before. Word i is merged with the pairs of the words
    before it; when two tokens are left, they are its pair.

    Parameters
    ----------
    text, offsets : int32 and int64 arrays
    n_symbols : int
    start, split_left, split_right : int64, int32 and int32 arrays
        The pairs ``start[i]`` to ``start[i + 1]`` all make word i. When `start` is empty, only the pair that is found
        for a word makes it.

    Returns
    -------
    left, right : int32 arrays
        The pair of each word; -1 where more than two tokens are left, so that no text can make the word this way.
    first, second : int32 arrays
        For such words the two tokens that are left once all pairs have been used; -1 if there are more than two, or
        when the pairs were given.
    """
    n_words = len(offsets) - 1
    longest = 0
    for i in range(n_words):
        longest = max(longest, offsets[i + 1] - offsets[i])
    tokens = np.empty(longest, np.int32)
    after = np.empty(longest, np.int64)
    before = np.empty(longest, np.int64)
    heap = np.empty(3 * longest + 1, np.int64)
    left = np.full(n_words, -1, np.int32)
    right = np.full(n_words, -1, np.int32)
    first = np.full(n_words, -1, np.int32)
    second = np.full(n_words, -1, np.int32)
    given = len(start) > 0
    keys = np.full(_capacity(len(split_left) if given else n_words), -1, np.int64)
    priority = np.empty(len(keys), np.int32)
    product = np.empty(len(keys), np.int32)
    for last in range(1 if given else 2):
        for i in range(n_words):
            if last and left[i] >= 0:
                continue
            n = offsets[i + 1] - offsets[i]
            for k in range(n):
                tokens[k] = text[offsets[i] + k]
            two = _merge(tokens, n, after, before, heap, keys, priority, product) == 2
            if two and last:
                first[i], second[i] = tokens[0], tokens[1]
            elif two:
                left[i], right[i] = tokens[0], tokens[1]
                if not given:
                    _insert(keys, priority, product, tokens[0], tokens[1], i, n_symbols + i)
            if given:
                for k in range(start[i], start[i + 1]):
                    _insert(keys, priority, product, split_left[k], split_right[k], i, n_symbols + i)
    return left, right, first, second
