"""Where two tokenizations of texts differ, found from all ends of a text at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.kernels.walk.differences import find_differences

# A token is its id and how many bytes it adds to the text.
TOKENS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=9)
TEXTS = st.lists(st.tuples(TOKENS, TOKENS, st.booleans()), max_size=5)

Side = list[tuple[int, int]]


def single(bounds: np.ndarray) -> np.ndarray:
    """Return, for each of some ascending bounds, whether it occurs once."""
    differs = bounds[1:] != bounds[:-1]
    return np.append(True, differs) & np.append(differs, True)


def differing(left: Side, right: Side) -> list[list[int]]:
    """Return the parts of two tokenizations that differ, and whether one of their ids adds nothing."""
    ids, canonical = (np.array([id for id, _ in side], dtype=np.int32) for side in (left, right))
    bounds, others = (np.cumsum([0, *(size for _, size in side)]) for side in (left, right))
    is_single, is_other = single(bounds), single(others)
    n_sides = np.zeros(max(int(bounds[-1]), int(others[-1])) + 1, dtype=np.uint8)
    n_sides[bounds[is_single]] = 1
    n_sides[others[is_other]] += 1
    n_sides[0] = 0
    starts = np.append(0, np.flatnonzero(is_single & (n_sides[bounds] == 2)))
    lows = np.append(0, np.flatnonzero(is_other & (n_sides[others] == 2)))
    stops, highs = np.append(starts[1:], len(ids)), np.append(lows[1:], len(canonical))
    rows = zip(starts.tolist(), stops.tolist(), lows.tolist(), highs.tolist(), strict=True)
    return [
        [
            start,
            stop,
            low,
            high,
            not (np.diff(bounds[start : stop + 1]).all() and np.diff(others[low : high + 1]).all()),
        ]
        for start, stop, low, high in rows
        if not np.array_equal(ids[start:stop], canonical[low:high])
    ]


@given(TEXTS)
def test_many_texts_are_compared_one_by_one(texts: list[tuple[Side, Side, bool]]) -> None:
    # Most tokenizations of a text are about the same.
    pairs = [(left, [*left[: len(left) // 2], *right] if is_near else right) for left, right, is_near in texts]
    sides, arguments = [*zip(*pairs, strict=True)] or [(), ()], []
    for side in sides:
        tokens = [token for text in side for token in text]
        ids, ends = (
            np.array([id for id, _ in tokens], dtype=np.int32),
            np.cumsum([size for _, size in tokens], dtype=int),
        )
        arguments += [ids, ends, np.cumsum([0, *map(len, side)])]
    starts, lows = arguments[2].tolist(), arguments[5].tolist()
    expected = [
        [number, start + starts[number], stop + starts[number], low + lows[number], high + lows[number], is_silent]
        for number, (left, right) in enumerate(pairs)
        for start, stop, low, high, is_silent in differing(left, right)
    ]
    assert find_differences(*arguments).tolist() == expected


def test_rows_have_as_much_room_as_they_need() -> None:
    ids, ends, bounds = np.zeros(1000, dtype=np.int32), np.arange(1, 1001), np.array([0, 1000])
    rows = find_differences(ids, ends, bounds, ids + np.int32(1), ends, bounds)
    assert rows[:, 1].tolist() == [*range(1000)]


def test_bounds_beyond_the_ids_are_refused() -> None:
    side = np.zeros(3, dtype=np.int32), np.arange(3), np.array([0, 2, 3])
    for wrong in ((*side[:2], np.array([0, 4, 3])), (*side[:2], np.array([0, 3])), (side[0], np.arange(2), side[2])):
        for sides in ((wrong, side), (side, wrong)):
            with pytest.raises(ValueError, match="must"):
                find_differences(*sides[0], *sides[1])
