"""Tests for `tokdfa.tokenizers.boundaries.protocol`: the cache of pairs, with several threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tokdfa.base.arrays import Int64Array, Uint8Array
from tokdfa.base.locks import SHARED
from tokdfa.tokenizers.boundaries.protocol import PairCache


def test_no_lock_is_held_while_values_are_computed() -> None:
    # They may need a table that another thread is building, which waits for the lock.
    def is_free() -> bool:
        if not SHARED.acquire(timeout=20):
            return False
        SHARED.release()
        return True

    free = []

    def compute(left: Int64Array, right: Int64Array) -> Uint8Array:
        with ThreadPoolExecutor(1) as threads:
            free.append(threads.submit(is_free).result())
        return (left * right % 7).astype(np.uint8)

    cache = PairCache(3)
    left, right = np.arange(40) % 9, np.arange(40) % 5
    for _ in range(3):
        assert cache.states(left, right, compute).tolist() == (left * right % 7).tolist()
    assert free
    assert all(free)
