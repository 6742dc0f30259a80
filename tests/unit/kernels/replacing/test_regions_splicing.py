"""Exchanging stretches of ids, in new memory and in their own, against slices of lists."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tokdfa.kernels.replacing.regions import splice


@pytest.mark.parametrize("seed", range(100))
def test_splice_is_that_of_lists(seed: int) -> None:
    dice = random.Random(seed)
    ids = [dice.randrange(1000) for _ in range(dice.randrange(0, 30))]
    places = sorted(dice.choices(range(len(ids) + 1), k=2 * dice.randrange(0, 6)))
    bounds = np.array(places, dtype=np.int64).reshape(-1, 2)
    new = [[1000 + dice.randrange(1000) for _ in range(dice.randrange(0, 6))] for _ in range(3)]
    kind = [dice.randrange(3) for _ in bounds]
    expected, read, ahead = [], 0, 0
    for (start, stop), number in zip(bounds.tolist(), kind, strict=True):
        expected += ids[read:start] + new[number]
        read = stop
        ahead = max(ahead, len(expected) - read)
    expected += ids[read:]
    offsets = np.cumsum([0, *map(len, new)])
    fresh = np.array([id for one in new for id in one], dtype=np.int32)
    # The old ids begin exactly as far after the new ones as these get ahead of them.
    room = np.full(ahead + max(len(ids), len(expected)), -1, dtype=np.int32)
    own = room[ahead : ahead + len(ids)]
    own[:] = ids
    for source, out in (
        (np.array(ids, dtype=np.int32), np.empty(len(expected), np.int32)),
        (own, room[: len(expected)]),
    ):
        splice(source, bounds, np.array(kind, dtype=np.int64), fresh, offsets, out)
        assert out.tolist() == expected
