"""Tests for `tokdfa.tokenizers.boundaries.protocol`: the last cut of texts; the cache of pairs with several threads."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.support.families import FAMILIES
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


@pytest.mark.parametrize("family", FAMILIES)
def test_the_last_cut_is_the_last_pair_that_is_always_cut(family: str) -> None:
    drawn = random.Random(family)
    member = FAMILIES[family](drawn)
    boundaries = member.tokenizer.boundaries
    for _ in range(10):
        # Some texts are longer than the part that is searched first.
        text = member.text(drawn) + drawn.choice(["", "x", "aa" * 100])
        before, rest = text[:1], text[1:]
        found = boundaries.last_cut(before, rest)
        cuts = [at for at in range(len(rest)) if boundaries.is_cut(text[at], text[at + 1])]
        if boundaries.why_none is not None:
            assert found == -1
        elif member.tokenizer.normalizer is None:
            assert found == max(cuts, default=-1), text
        else:
            # A character that becomes one of another class may be left out.
            assert found in (-1, *cuts), text
