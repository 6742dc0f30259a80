"""The table of forbidden pairs, against the matrix that it stands for."""

from __future__ import annotations

import numpy as np
import pytest

from tokdfa.kernels.fold.folding import history
from tokdfa.kernels.walk.pairs import BLOCK, build_table, mark_pairs, pair_test


@pytest.mark.parametrize("n_columns", [2, 63, 64, 65, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 1, 5 * BLOCK + 100])
@pytest.mark.parametrize("n_rows", [1, 40, 3000])
def test_table(n_columns: int, n_rows: int) -> None:
    random = np.random.default_rng(n_columns + n_rows)
    matrix = np.zeros((n_rows, n_columns), dtype=bool)
    pointer, start, stop = [0], [], []
    for r in range(n_rows):
        # Few kinds of rows, so that blocks recur; the first row is empty.
        kind = np.random.default_rng(r % 700)
        cuts = np.sort(kind.choice(n_columns, size=min(n_columns, 2 * (r % 7)), replace=False))[: 2 * (r % 7) // 2 * 2]
        for low, high in zip(cuts[::2], cuts[1::2], strict=False):
            matrix[r, low:high] = True
            start.append(low)
            stop.append(high)
        pointer.append(len(start))
    matrix[:, -1] = True
    blocks, bits = build_table(*(np.array(x, np.int32) for x in (pointer, start, stop)), n_columns)
    a_row = -(-n_columns // BLOCK)
    assert len(blocks) == n_rows * a_row
    unpacked = np.unpackbits(bits.view(np.uint8), bitorder="little").reshape(-1, BLOCK)
    assert len(np.unique(unpacked, axis=0)) == len(unpacked)
    assert np.array_equal(unpacked[blocks].reshape(n_rows, -1)[:, :n_columns], matrix)

    row, column = random.integers(0, n_rows, 2000), random.integers(0, n_columns, 2000)
    ids = random.integers(0, 2000, 10_000, dtype=np.int32)
    lookup = (row.astype(np.int64) * a_row) << 32 | column
    nothing = np.zeros(1, np.int32)
    past = history(np.full(4, -1, np.int64), np.zeros(4, np.int32), nothing, nothing, nothing)
    test = pair_test(np.zeros(2000, np.int32), past, lookup, blocks, bits)
    marks = mark_pairs(test, ids, 7)
    before = np.concatenate(([7], ids[:-1]))
    assert np.array_equal(marks, matrix[row[before], column[ids]])
