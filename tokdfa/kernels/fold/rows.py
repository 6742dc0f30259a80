"""The tokens that the states of a token DFA do not allow, as rows of intervals of positions; equal rows are shared."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int32Array
from tokdfa.kernels.fold.folding import depths
from tokdfa.kernels.library import Struct, lib

__all__ = ["gather_rows"]


def gather_rows(
    parent: Int32Array, first: Int32Array, width: Int32Array, states: Int32Array, n_live: int, n_tokens: int
) -> tuple[Int32Array, Int32Array, Int32Array, Int32Array]:
    """Collect the forbidden intervals of `states` and number the distinct sets.

    Parameters
    ----------
    parent, first, width : int32 arrays, one entry per state
        State s loses ``width[s]`` positions from ``first[s]`` on.
    states : int32 array
        The states whose rows to gather, ascending, including the initial state 0.
    n_live, n_tokens : int
        No state allows the positions from `n_live` to `n_tokens`.

    Returns
    -------
    row : int32 array, one entry per state
        The row of each state; -1 for states not in `states`. Rows are numbered in the order of their first use.
    pointer : int32 array, one entry per row and one more
        Row r has the intervals ``pointer[r]`` to ``pointer[r + 1]``.
    start, stop : int32 arrays, one entry per interval
        Half-open, ascending within a row, not touching each other.
    """
    buckets = 4
    while buckets < 2 * len(states):
        buckets *= 2
    row: Int32Array = np.full(len(parent), -1, dtype=np.int32)
    pointer: Int32Array = np.zeros(len(states) + 1, dtype=np.int32)
    start, stop = (np.empty(8 * len(states) + 1024, dtype=np.int32) for _ in range(2))
    fields = {
        "parent": parent, "first": first, "width": width, "states": states, "n_live": n_live, "n_tokens": n_tokens,
        "table": np.full(buckets, -1, dtype=np.int32), "row": row, "pointer": pointer,
        # A state has one interval for itself and one for each state above it.
        "own": np.empty(int(depths(parent).max()) + 1, dtype=np.int64),
    }  # fmt: skip
    done = n_rows = 0
    while True:
        job = Struct("tokdfa_row_job", **fields, start=start, stop=stop, done=done, n_rows=n_rows)
        done = lib.tokdfa_gather_rows(job.pointer)
        n_rows = job.pointer.n_rows
        if done == len(states):
            break
        start, stop = (np.concatenate((array, np.empty_like(array))) for array in (start, stop))
    used = pointer[n_rows]
    return row, pointer[: n_rows + 1].copy(), start[:used].copy(), stop[:used].copy()
