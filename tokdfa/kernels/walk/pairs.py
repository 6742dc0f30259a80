"""The pair test over streams of ids: by going back in time, or by a table of bits.

The table is the matrix of rows (states of the minimal token DFA) by columns (classes of tokens that no row
distinguishes); a bit is set where the row forbids the column. Most of its blocks of `BLOCK` bits are empty and most of
the others are equal, so each row is a list of numbers of distinct blocks: some megabytes, where the matrix has
hundreds.
"""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint64Array
from tokdfa.kernels.fold.folding import depths
from tokdfa.kernels.library import Struct, lib, readable, slots_for, writable

BLOCK = 1 << 9
_WORDS = BLOCK >> 6

# An id that is not a live token is one that anything may precede and follow, or one that nothing may precede.
CUT = -1
NO_TOKEN = -2
# A token that is the whole of its piece: nothing may precede or follow it there.
ALONE = -3

# A pair of numbers larger than all ids.
_NO_PAIR = (1 << 64) - 1

_NO_LOOKUP: Int64Array = np.zeros(0, dtype=np.int64)
_NO_BLOCKS: Int32Array = np.zeros(0, dtype=np.int32)
_NO_BITS: Uint64Array = np.zeros(0, dtype=np.uint64)


def build_table(
    parent: Int32Array, start: Int32Array, stop: Int32Array, states: Int32Array, n_columns: int, first_dead: int
) -> tuple[Int32Array, Int32Array, Uint64Array]:
    """Write out the columns that states forbid as numbers of distinct blocks of bits.

    State s forbids the columns of its parent, a state before it, and the columns from ``start[s]`` to ``stop[s]``, one
    at least and disjoint from the others. The `states` that get rows ascend, the initial state 0 among them. Of the
    last two of `n_columns`, the first is never forbidden and the other one always; so are the columns from `first_dead`
    up to these two.

    Returns the row of each state, -1 for none, and last a row that forbids all columns except the last but one; for
    each row and each block of BLOCK columns the number of its bits; and these as uint64 words: bit j of block b is bit
    j % 64 of word b * BLOCK / 64 + j // 64.
    """
    a_row = -(-n_columns // BLOCK)
    n_rows = len(states) + 1
    # Real dictionaries have one and a half blocks a state. Block 0 is the empty one.
    capacity = slots_for(n_rows, 1 << 10)
    bits: Uint64Array = np.zeros(capacity * _WORDS, dtype=np.uint64)
    row_of: Int32Array = np.full(len(parent) + 1, -1, dtype=np.int32)
    blocks: Int32Array = np.empty(n_rows * a_row, dtype=np.int32)
    fields = {
        "parent": parent, "start": start, "stop": stop, "states": states, "n_columns": n_columns,
        "first_dead": first_dead, "row_of": row_of, "blocks": blocks, "hashes": np.empty(n_rows, dtype=np.uint64),
        "rows": np.full(slots_for(n_rows), -1, dtype=np.int32),
        "own": np.empty(int(depths(parent).max()) + 2, dtype=np.int64),
    }  # fmt: skip
    done, n_made, n_distinct = 0, 0, 1
    while True:
        known = np.empty(2 * capacity, dtype=np.int32)
        job = Struct(
            "tokdfa_pair_job", **fields, bits=bits, known=known, done=done, n_made=n_made, n_distinct=n_distinct
        )
        done = lib.tokdfa_build_pair_table(job.pointer)
        n_made, n_distinct = job.pointer.n_made, job.pointer.n_distinct
        if done > len(states):
            return row_of, blocks[: n_made * a_row], bits[: n_distinct * _WORDS].copy()
        capacity *= 2
        bits = np.concatenate((bits, np.zeros_like(bits)))


def pair_test(
    tokens: Int32Array,
    history: Struct,
    lookup: Int64Array = _NO_LOOKUP,
    blocks: Int32Array = _NO_BLOCKS,
    bits: Uint64Array = _NO_BITS,
    *,
    n_memo: int = 0,
) -> Struct:
    """Return the pair test over ids.

    `tokens` has the live token of each id, or `CUT`, `NO_TOKEN` or `ALONE`; `history` is of
    :func:`tokdfa.kernels.fold.folding.history`. The table, if there is one, is `blocks` and `bits` of
    :func:`build_table`, and `lookup` has for each id the index in `blocks` where its row begins, times 2³², plus its
    column. Without one the answers for `n_memo` pairs are kept: a power of two, or 0 for none.
    """
    memo: Uint64Array = np.full(n_memo, _NO_PAIR, dtype=np.uint64)
    if n_memo & (n_memo - 1):
        raise ValueError(f"{n_memo} is no power of two")
    return Struct(
        "tokdfa_pair_test", lookup=lookup, blocks=blocks, bits=bits, tokens=tokens, folding=history, memo=memo
    )


def mark_pairs(test: Struct, ids: Int32Array, behind: int | None) -> BoolArray:
    """Return for each id whether it may not follow the one before it; `behind` precedes them, None at a beginning."""
    marks = np.empty(len(ids), dtype=np.bool_)
    given = readable(ids, np.int32), len(ids), -1 if behind is None else behind
    lib.tokdfa_mark_pairs(test.pointer, *given, writable(marks, np.bool_))
    return marks
