"""Rows compared as sets."""

from __future__ import annotations

import numpy as np
import pytest

from tokdfa.kernels.fold.folding import compare_rows, ranked_rows


@pytest.mark.parametrize("n_ranks", [1, 64, 700])
def test_rows_are_compared_as_sets_of_common_tokens(n_ranks: int) -> None:
    random = np.random.default_rng(n_ranks)
    sides, sets = [], []
    for _ in range(2):
        n_positions = n_ranks + 50
        rank = np.append(np.arange(n_ranks), np.full(50, -1)).astype(np.int32)
        random.shuffle(rank)
        pointer, start, stop, forbidden = [0], [], [], []
        for _ in range(30):
            cuts = np.unique(random.integers(0, n_positions, 2 * int(random.integers(0, 5))))
            pairs = list(zip(cuts[::2].tolist(), cuts[1::2].tolist(), strict=False))
            start += [low for low, _ in pairs]
            stop += [high for _, high in pairs]
            pointer.append(len(start))
            forbidden.append({int(rank[at]) for low, high in pairs for at in range(low, high)} - {-1})
        arrays = (np.array(column, dtype=np.int32) for column in (pointer, start, stop))
        sides.append(ranked_rows(*arrays, rank))
        sets.append(forbidden)
    rows = random.integers(0, 30, (2, 200), dtype=np.int32)
    least, only_first, only_second = compare_rows(sides[0], sides[1], rows[0], rows[1], n_ranks)
    of_rows = [(sets[0][a], sets[1][b]) for a, b in rows.T.tolist()]
    assert least.tolist() == [min(a ^ b, default=-1) for a, b in of_rows]
    assert only_first.tolist() == [len(b - a) for a, b in of_rows]
    assert only_second.tolist() == [len(a - b) for a, b in of_rows]
    assert (-1 in least and least.max() > 0) or n_ranks == 1
