"""What the states of a token DFA do not allow, as rows of intervals of positions; equal rows shared."""

from __future__ import annotations

import numba as nb
import numpy as np

from tokdfa.kernels.types import INTS, Ints

__all__ = ["gather_rows"]


@nb.njit((INTS, INTS, INTS, INTS, nb.int32, nb.int32), cache=True)
def gather_rows(
    parent: Ints, first: Ints, width: Ints, states: Ints, n_live: int, n_tokens: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """Collect the forbidden intervals of `states` and number the distinct sets.

    The intervals met on the way up from one state are disjoint, so only neighbours that touch are joined.

    Parameters
    ----------
    parent, first, width : int32 arrays, one entry a state
        State s loses the positions from ``first[s]`` on, ``width[s]`` many.
    states : int32 array
        The states wanted, ascending.
    n_live, n_tokens : int
        No state allows the positions from `n_live` to `n_tokens`.

    Returns
    -------
    row : int32 array, one entry a wanted state
        Its row; rows are numbered in the order in which the states first need them.
    pointer : int32 array, one entry a row and one more
        Row r has the intervals ``pointer[r]`` to ``pointer[r + 1]``.
    start, stop : int32 arrays, one entry an interval
        Ascending within a row, not touching each other, half open.
    """
    buckets = 4
    while buckets < 2 * len(states):
        buckets *= 2
    table = np.full(buckets, -1, np.int32)
    row = np.empty(len(states), np.int32)
    pointer = np.zeros(len(states) + 1, np.int32)
    start = np.empty(1024, np.int32)
    stop = np.empty(1024, np.int32)
    chain = np.empty(1024, np.int64)
    n_rows = 0
    for i in range(len(states)):
        length = 0
        state = states[i]
        while state > 0:
            if length == len(chain):
                chain = np.concatenate((chain, np.empty_like(chain)))
            chain[length] = (np.int64(first[state]) << 32) | np.int64(first[state] + width[state])
            length += 1
            state = parent[state]
        chain[:length].sort()

        begin = pointer[n_rows]
        end = begin
        while end + length + 1 > len(start):
            start = np.concatenate((start, np.empty_like(start)))
            stop = np.concatenate((stop, np.empty_like(stop)))
        for k in range(length + (n_live < n_tokens)):
            low = np.int32(chain[k] >> 32) if k < length else n_live
            high = np.int32(chain[k] & 0xFFFFFFFF) if k < length else n_tokens
            if end > begin and stop[end - 1] == low:
                stop[end - 1] = high
            else:
                start[end] = low
                stop[end] = high
                end += 1

        key = np.uint64(0x9E3779B97F4A7C15)
        for k in range(begin, end):
            key = (key ^ np.uint64(start[k])) * np.uint64(0xBF58476D1CE4E5B9)
            key = (key ^ (key >> np.uint64(29)) ^ np.uint64(stop[k])) * np.uint64(0x94D049BB133111EB)
        bucket = np.int64((key ^ (key >> np.uint64(32))) & np.uint64(buckets - 1))
        while table[bucket] >= 0:
            other = table[bucket]
            same = pointer[other + 1] - pointer[other] == end - begin
            k = 0
            while same and k < end - begin:
                same = start[pointer[other] + k] == start[begin + k] and stop[pointer[other] + k] == stop[begin + k]
                k += 1
            if same:
                break
            bucket = (bucket + 1) & (buckets - 1)
        if table[bucket] < 0:
            table[bucket] = n_rows
            n_rows += 1
            pointer[n_rows] = end
        row[i] = table[bucket]
    used = pointer[n_rows]
    return row, pointer[: n_rows + 1].copy(), start[:used].copy(), stop[:used].copy()
