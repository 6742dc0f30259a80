"""The table of forbidden pairs, compared with the matrix that it encodes."""

from __future__ import annotations

import numpy as np
import pytest

from tokdfa.kernels.fold.folding import history
from tokdfa.kernels.walk.pairs import BLOCK, build_table, mark_pairs, pair_test


@pytest.mark.parametrize("n_columns", [3, 63, 64, 65, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 1, 5 * BLOCK + 100])
@pytest.mark.parametrize("n_states", [1, 40, 3000])
def test_table_encodes_the_matrix(n_columns: int, n_states: int) -> None:
    random = np.random.default_rng(n_columns + n_states)
    first_dead = int(random.integers(n_columns - 5, n_columns - 1)) if n_columns > 5 else n_columns - 2
    matrix = np.zeros((n_states + 1, n_columns), dtype=bool)
    matrix[:-1, first_dead : n_columns - 2] = True
    parent, start, stop = np.full(n_states, -1, np.int32), np.zeros(n_states, np.int32), np.zeros(n_states, np.int32)
    for state in range(1, n_states):
        # Few kinds of intervals, so that rows recur. An interval avoids columns that the parent forbids already.
        for _ in range(20):
            parent[state] = random.integers(max(state - 50, 0), state) if state % 3 else 0
            start[state] = random.integers(0, first_dead) // 7 * 7
            stop[state] = min(start[state] + random.choice([1, 5, BLOCK, 3 * BLOCK]), first_dead)
            if not matrix[parent[state], start[state] : stop[state]].any():
                break
        matrix[state] = matrix[parent[state]]
        matrix[state, start[state] : stop[state]] = True
    matrix[-1] = True
    matrix[-1, -2] = False
    matrix[:, -1] = True
    wanted = np.flatnonzero(random.random(n_states) < 0.6).astype(np.int32)
    wanted = np.union1d(wanted, np.int32(0)).astype(np.int32)
    row_of, blocks, bits = build_table(parent, start, stop, wanted, n_columns, first_dead)
    a_row = -(-n_columns // BLOCK)
    rows = [*wanted.tolist(), n_states]
    assert (np.flatnonzero(row_of >= 0) == rows).all()
    unpacked = np.unpackbits(bits.view(np.uint8), bitorder="little").reshape(-1, BLOCK)
    assert len(np.unique(unpacked, axis=0)) == len(unpacked)
    table = unpacked[blocks].reshape(-1, a_row * BLOCK)[:, :n_columns]
    assert len(np.unique(table, axis=0)) == len(table)
    assert np.array_equal(table[row_of[rows]], matrix[rows])

    row, column = random.choice(rows, 2000), random.integers(0, n_columns, 2000)
    ids = random.integers(0, 2000, 10_000, dtype=np.int32)
    lookup = (row_of[row].astype(np.int64) * a_row) << 32 | column
    nothing = np.zeros(1, np.int32)
    past = history(np.full(4, -1, np.int64), np.zeros(4, np.int32), nothing, nothing, nothing)
    test = pair_test(np.zeros(2000, np.int32), past, lookup, blocks, bits)
    before = np.concatenate(([7], ids[:-1]))
    assert np.array_equal(mark_pairs(test, ids, 7), matrix[row[before], column[ids]])
