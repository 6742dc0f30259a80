"""Greedy training: merge a most frequent pair everywhere, and keep the counts of all pairs as they change.

The text is one array: the pieces with a border (-1) before, between and behind them. A token that spans the positions
p to e has its number at p and at e, so that both neighbours of a token are found by one look. Where its right part
began stands `INSIDE`: a position listed for a pair is still one iff both tokens stand where they did.

A pair of neighbours can arise only when the younger of its tokens is made, and from then on it can only become rarer.
So each pair gets its positions once, in order, and they are tried when it is merged; an entry of the queue is looked
at again when it comes up; and pairs that begin below the least frequency are forgotten at once.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from tokdfa.kernels.pair_counts import HEAP, MADE, PAIRS, POOL, QUEUE, TOKENS, tie_number
from tokdfa.kernels.pair_queue import (
    COUNT,
    FIRST_SEEN,
    FROM,
    INTS,
    KEY,
    LONGS,
    ROWS,
    TIE,
    TO,
    Ints,
    Longs,
    enter,
    find,
    pool_for,
    push,
    rows_for,
    sift_down,
    table_for,
)

__all__ = ["merge_pairs"]

INSIDE = -2


@nb.njit(nb.boolean(INTS, nb.int64, nb.int64, nb.int64), cache=True)
def _ends_even_run(text: Ints, at: int, token: int, length: int) -> bool:
    """Tell whether the run of `token` whose last one begins at `at` has an even number of tokens.

    The walks of one merge together are about as long as what it replaces: were the token's pair with itself more
    frequent than the merged pair, it would have been merged first.
    """
    even = False
    while text[at - 1] == token:
        even = not even
        at -= length
    return even


@nb.njit(nb.boolean(INTS, nb.int64, nb.int64, nb.int64), cache=True)
def _begins_even_run(text: Ints, at: int, token: int, length: int) -> bool:
    """Tell whether the run of `token` whose first one begins at `at` has an even number of tokens."""
    even = False
    while text[at + length] == token:
        even = not even
        at += length
    return even


@nb.njit(nb.int64(INTS, LONGS, INTS, ROWS, LONGS, INTS, nb.int64, nb.int64, nb.boolean), cache=True)
def _replace(
    text: Ints,
    weight: Longs,
    length: Ints,
    pairs: Longs,
    table: Longs,
    pool: Ints,
    row: int,
    product: int,
    overlapping: bool,
) -> int:
    """Replace the pair everywhere, take its neighbours off their counts, and keep the positions where it stood.

    Returns how many replacements that makes in the corpus.
    """
    gain = 0
    u, v = pairs[row, KEY] >> 32, pairs[row, KEY] & 0xFFFFFFFF
    first, last = length[u], length[v]
    kept = pairs[row, FROM]
    for i in range(pairs[row, FROM], pairs[row, TO]):
        at = pool[i]
        if text[at] != u or text[at + first] != v:
            continue
        middle, end = at + first, at + first + last
        x, y = text[at - 1], text[end]
        # An x that is the product was made in this round, and what stood between is off its count already.
        if x >= 0 and x != product:
            neighbour = find(table, pairs, (np.int64(x) << 32) | u)
            if neighbour >= 0 and (x != u or overlapping or _ends_even_run(text, at, u, first)):
                pairs[neighbour, COUNT] -= weight[at]
        if y >= 0 and not (y == v and u == v):
            neighbour = find(table, pairs, (v << 32) | np.int64(y))
            if neighbour >= 0 and (y != v or overlapping or _begins_even_run(text, middle, v, last)):
                pairs[neighbour, COUNT] -= weight[at]
        text[middle] = INSIDE
        text[at] = product
        text[end - 1] = product
        pool[kept] = at
        kept += 1
        gain += weight[at]
    pairs[row, COUNT] = 0
    pairs[row, TO] = kept
    return gain


@nb.njit(nb.void(ROWS, nb.int64, nb.int64, nb.int64, nb.int64), cache=True)
def _begin_row(pairs: Longs, row: int, u: int, v: int, first: int) -> None:
    pairs[row, KEY], pairs[row, COUNT], pairs[row, FROM], pairs[row, TO] = (u << 32) | v, 0, first, 0


@nb.njit(
    nb.int64(INTS, LONGS, INTS, ROWS, INTS, nb.int64, nb.int64, nb.int64, nb.boolean, INTS, INTS),
    cache=True,
)
def _count_new(
    text: Ints,
    weight: Longs,
    length: Ints,
    pairs: Longs,
    pool: Ints,
    base: int,
    row: int,
    product: int,
    overlapping: bool,
    new_left: Ints,
    new_right: Ints,
) -> int:
    """Count the pairs that `product` makes with its neighbours, in rows from `base` on; return how many.

    For the time being `FROM` of such a row is its first position and `TO` the number of its positions.
    """
    n_new = 0
    counted = -1
    for i in range(pairs[row, FROM], pairs[row, TO]):
        at = pool[i]
        end = at + length[product]
        x, y = text[at - 1], text[end]
        if x >= 0 and x != product:
            if new_left[x] < 0:
                new_left[x] = n_new
                _begin_row(pairs, base + n_new, x, product, at - length[x])
                n_new += 1
            new = base + new_left[x]
            pairs[new, COUNT] += weight[at]
            pairs[new, TO] += 1
        if y >= 0:
            if new_right[y] < 0:
                new_right[y] = n_new
                _begin_row(pairs, base + n_new, product, y, at)
                n_new += 1
            new = base + new_right[y]
            pairs[new, TO] += 1
            if y != product:
                pairs[new, COUNT] += weight[at]
            elif overlapping or counted != at:
                pairs[new, COUNT] += weight[at]
                counted = end
    return n_new


@nb.njit(nb.void(INTS, INTS, ROWS, INTS, nb.int64, nb.int64, INTS, INTS, INTS), cache=True)
def _list_new(
    text: Ints,
    length: Ints,
    pairs: Longs,
    pool: Ints,
    row: int,
    product: int,
    new_left: Ints,
    new_right: Ints,
    row_of: Ints,
) -> None:
    """Write the positions of the pairs that `product` makes into the pool, and forget which they were."""
    for i in range(pairs[row, FROM], pairs[row, TO]):
        at = pool[i]
        x, y = text[at - 1], text[at + length[product]]
        if x >= 0 and x != product:
            new = row_of[new_left[x]]
            if new >= 0:
                pool[pairs[new, TO]] = at - length[x]
                pairs[new, TO] += 1
        if y >= 0:
            new = row_of[new_right[y]]
            if new >= 0:
                pool[pairs[new, TO]] = at
                pairs[new, TO] += 1
    for i in range(pairs[row, FROM], pairs[row, TO]):
        x, y = text[pool[i] - 1], text[pool[i] + length[product]]
        if x >= 0:
            new_left[x] = -1
        if y >= 0:
            new_right[y] = -1


@nb.njit(
    QUEUE(
        INTS, LONGS, INTS, INTS, INTS, LONGS, LONGS, ROWS, LONGS, INTS, ROWS, INTS, INTS, LONGS,
        nb.int64, nb.boolean, nb.int64, nb.int64, nb.int64,
    ),
    cache=True,
)  # fmt: skip
def merge_pairs(
    text: Ints,
    weight: Longs,
    length: Ints,
    rank: Ints,
    units: Ints,
    unit_at: Longs,
    numbers: Longs,
    pairs: Longs,
    table: Longs,
    pool: Ints,
    heap: Longs,
    left: Ints,
    right: Ints,
    gain: Longs,
    tie: int,
    overlapping: bool,
    least: int,
    longest: int,
    target: int,
) -> tuple[Longs, Longs, Ints, Longs]:
    """Merge pairs until `target` rules are made or none is left.

    Takes what :func:`~tokdfa.kernels.pair_counts.count_pairs` took and returned.

    Parameters
    ----------
    left, right : int32 arrays, one entry a rule
        Written: the tokens that the rules merge. Rule i makes the token that is i behind the symbols.
    gain : int64 array, one entry a rule
        Written: how many replacements the rule makes in the corpus.
    target : int
        At most ``len(left)``.

    Returns
    -------
    pairs, table, pool, heap
        Grown where they had to be. `text`, `length` and `numbers` are brought up to date in place; the number of rules
        is ``numbers[MADE]``.
    """
    new_left = np.full(len(length), -1, np.int32)
    new_right = np.full(len(length), -1, np.int32)
    row_of = np.empty(2 * len(length), np.int32)
    size = numbers[HEAP]
    while numbers[MADE] < target and size > 0:
        row = heap[0, 2]
        count, tied = pairs[row, COUNT], heap[0, 1]
        u, v = pairs[row, KEY] >> 32, pairs[row, KEY] & 0xFFFFFFFF
        if tie == FIRST_SEEN and count >= least:
            at = pool[pairs[row, FROM]]
            while text[at] != u or text[at + length[u]] != v:
                pairs[row, FROM] += 1
                at = pool[pairs[row, FROM]]
            tied = np.int64(at)
        if count != heap[0, 0] or tied != heap[0, 1]:
            # The entry promised too much, for it only ever can: put it where it belongs now.
            if count < least:
                size -= 1
                count, tied, row = heap[size, 0], heap[size, 1], heap[size, 2]
            sift_down(tie, heap, size, count, tied, row, pairs, pool, length, units, unit_at)
            continue
        product = numbers[TOKENS]
        left[numbers[MADE]], right[numbers[MADE]] = u, v
        length[product] = length[u] + length[v]
        numbers[TOKENS] += 1
        size -= 1
        sift_down(tie, heap, size, heap[size, 0], heap[size, 1], heap[size, 2], pairs, pool, length, units, unit_at)
        gain[numbers[MADE]] = _replace(text, weight, length, pairs, table, pool, row, product, overlapping)
        numbers[MADE] += 1

        n_pairs, n_kept, wanted = numbers[PAIRS], 0, numbers[POOL]
        pairs = rows_for(pairs, n_pairs, min(2 * (pairs[row, TO] - pairs[row, FROM]), 2 * len(length)))
        n_new = _count_new(text, weight, length, pairs, pool, n_pairs, row, product, overlapping, new_left, new_right)
        for new in range(n_new):
            source, kept = n_pairs + new, n_pairs + n_kept
            u, v = pairs[source, KEY] >> 32, pairs[source, KEY] & 0xFFFFFFFF
            row_of[new] = -1
            if pairs[source, COUNT] >= least and length[u] + length[v] <= longest:
                row_of[new] = kept
                pairs[kept, KEY], pairs[kept, COUNT] = pairs[source, KEY], pairs[source, COUNT]
                pairs[kept, TIE] = tie_number(tie, kept, pairs[source, FROM], u, v, rank, length)
                many = pairs[source, TO]
                pairs[kept, FROM], pairs[kept, TO] = wanted, wanted
                wanted += many
                n_kept += 1
        pool = pool_for(pool, numbers[POOL], wanted - numbers[POOL])
        _list_new(text, length, pairs, pool, row, product, new_left, new_right, row_of)
        table = table_for(table, pairs, n_pairs, n_kept)
        heap = rows_for(heap, size, n_kept)
        for new in range(n_pairs, n_pairs + n_kept):
            enter(table, -1 - find(table, pairs, pairs[new, KEY]), pairs[new, KEY], new)
            push(tie, heap, size, new, pairs, pool, length, units, unit_at)
            size += 1
        numbers[PAIRS] = n_pairs + n_kept
        numbers[POOL] = wanted
    numbers[HEAP] = size
    return pairs, table, pool, heap
