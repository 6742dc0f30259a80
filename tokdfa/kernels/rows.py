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

    What a state lacks is what its parent lacks and one interval more; the intervals of one state are disjoint, so only
    those that touch are joined.

    Parameters
    ----------
    parent, first, width : int32 arrays, one entry a state
        State s loses the positions from ``first[s]`` on, ``width[s]`` many.
    states : int32 array
        The states wanted, ascending, the initial state 0 among them.
    n_live, n_tokens : int
        No state allows the positions from `n_live` to `n_tokens`.

    Returns
    -------
    row : int32 array, one entry a state
        Its row; -1 for states not wanted. Rows are numbered in the order in which the states first need them.
    pointer : int32 array, one entry a row and one more
        Row r has the intervals ``pointer[r]`` to ``pointer[r + 1]``.
    start, stop : int32 arrays, one entry an interval
        Ascending within a row, not touching each other, half open.
    """
    buckets = 4
    while buckets < 2 * len(states):
        buckets *= 2
    table = np.full(buckets, -1, np.int32)
    row = np.full(len(parent), -1, np.int32)
    pointer = np.zeros(len(states) + 1, np.int32)
    start = np.empty(1024, np.int32)
    stop = np.empty(1024, np.int32)
    own = np.empty(1024, np.int64)
    n_rows = 0
    for wanted in states:
        # The intervals of its own, up to the next state above that has a row; that row is taken over.
        length = 0
        state = wanted
        while state > 0 and row[state] < 0:
            if length == len(own):
                own = np.concatenate((own, np.empty_like(own)))
            own[length] = (np.int64(first[state]) << 32) | np.int64(first[state] + width[state])
            length += 1
            state = parent[state]
        own[:length].sort()
        above, above_end = np.int32(0), np.int32(0)
        if wanted > 0:
            above, above_end = pointer[row[state]], pointer[row[state] + 1]

        begin = pointer[n_rows]
        end = begin
        while end + length + (above_end - above) + 1 > len(start):
            start = np.concatenate((start, np.empty_like(start)))
            stop = np.concatenate((stop, np.empty_like(stop)))
        if wanted == 0 and n_live < n_tokens:
            start[0], stop[0] = n_live, n_tokens
            end += 1
        taken = 0
        while taken < length or above < above_end:
            if taken < length and (above == above_end or np.int32(own[taken] >> 32) < start[above]):
                low, high = np.int32(own[taken] >> 32), np.int32(own[taken] & 0xFFFFFFFF)
                taken += 1
            else:
                low, high = start[above], stop[above]
                above += 1
            if end > begin and stop[end - 1] == low:
                stop[end - 1] = high
            else:
                start[end], stop[end] = low, high
                end += 1

        key = np.uint64(0x9E3779B97F4A7C15)
        for k in range(begin, end):
            key = (key ^ np.uint64(start[k])) * np.uint64(0xBF58476D1CE4E5B9)
            key = (key ^ (key >> np.uint64(29)) ^ np.uint64(stop[k])) * np.uint64(0x94D049BB133111EB)
        bucket = np.int64((key ^ (key >> np.uint64(32))) & np.uint64(buckets - 1))
        while table[bucket] >= 0:
            other = pointer[table[bucket]]
            same = pointer[table[bucket] + 1] - other == end - begin
            k = 0
            while same and k < end - begin:
                same = start[other + k] == start[begin + k] and stop[other + k] == stop[begin + k]
                k += 1
            if same:
                break
            bucket = (bucket + 1) & (buckets - 1)
        if table[bucket] < 0:
            table[bucket] = n_rows
            n_rows += 1
            pointer[n_rows] = end
        row[wanted] = table[bucket]
    used = pointer[n_rows]
    return row, pointer[: n_rows + 1].copy(), start[:used].copy(), stop[:used].copy()
