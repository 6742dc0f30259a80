"""A cache of pairs has the last entries, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.kernels.walk.neighbours import NOT_CACHED, cached_pairs, empty_cache, fill

NUMBERS = st.sampled_from([-1, 0, 1, 2, 5, 0x10FFFF, (1 << 30) - 3])
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(0, 14)), max_size=40)


def columns(pairs: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    left, right, values = np.array(pairs, dtype=np.int64).reshape(-1, 3).T
    return left.astype(np.int32), right.astype(np.int32), values.astype(np.uint8)


@given(PAIRS, st.integers(2, 6))
def test_values_are_those_that_were_entered(pairs: list[tuple[int, int, int]], bits: int) -> None:
    cache = empty_cache(bits)
    expected: dict[tuple[int, int], int] = {}
    for pair in pairs:
        left, right, values = columns([pair])
        fill(cache, left, right, values)
        expected[pair[:2]] = pair[2]
        found, n_missing = cached_pairs(cache, left, right)
        assert (found.tolist(), n_missing) == ([pair[2]], 0)
    left, right, _ = columns([(*pair, 0) for pair in expected])
    found, n_missing = cached_pairs(cache, left, right)
    assert n_missing == np.count_nonzero(found == NOT_CACHED)
    assert n_missing == 0 or len(expected) > 4
    for value, known in zip(found.tolist(), expected.values(), strict=True):
        assert value in (known, NOT_CACHED)


def test_what_does_not_fit_is_refused() -> None:
    cache, one = empty_cache(2), np.array([1], dtype=np.int32)
    value = np.array([3], dtype=np.uint8)
    for wrong in (
        (one, one[:0], value),
        (one, one, value + np.uint8(NOT_CACHED)),
        (one - np.int32(3), one, value),
        (one, one + np.int32((1 << 30) - 3), value),
    ):
        with pytest.raises(ValueError, match="pair"):
            fill(cache, *wrong)
    with pytest.raises(ValueError, match="two sides"):
        cached_pairs(cache, one, one[:0])
    with pytest.raises(ValueError, match="a cache of"):
        empty_cache(1)
