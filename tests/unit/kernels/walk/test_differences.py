"""Where two tokenizations of texts differ, found from all ends of a text at once."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.kernels.walk.differences import Tokenizations, find_differences

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


def tokenizations(texts: list[Side], gap: int) -> Tokenizations:
    """Return texts one after the other, with gaps between them."""
    ids = np.array([id for text in texts for id, _ in text], dtype=np.int32)
    sizes = [[*accumulate(size for _, size in text)] for text in texts]
    starts = [0, *accumulate((text or [0])[-1] + gap for text in sizes)][: len(texts)]
    ends = [start + end for start, text in zip(starts, sizes, strict=True) for end in text]
    bounds = [0, *accumulate(map(len, texts))]
    return Tokenizations(ids, *(np.array(each, dtype=np.int64) for each in (ends, bounds, starts)))


@given(TEXTS)
def test_many_texts_are_compared_one_by_one(texts: list[tuple[Side, Side, bool]]) -> None:
    # Most tokenizations of a text are about the same.
    pairs = [(left, [*left[: len(left) // 2], *right] if is_near else right) for left, right, is_near in texts]
    left_texts, right_texts = ([pair[side] for pair in pairs] for side in (0, 1))
    starts, lows = ([0, *accumulate(map(len, side))] for side in (left_texts, right_texts))
    expected = [
        [number, start + starts[number], stop + starts[number], low + lows[number], high + lows[number], is_silent]
        for number, (left, right) in enumerate(pairs)
        for start, stop, low, high, is_silent in differing(left, right)
    ]
    assert find_differences(tokenizations(left_texts, 7), tokenizations(right_texts, 0)).tolist() == expected


def test_rows_have_as_much_room_as_they_need() -> None:
    ids, ends = np.zeros(1000, dtype=np.int32), np.arange(1, 1001)
    rows = find_differences(Tokenizations(ids, ends), Tokenizations(ids + np.int32(1), ends))
    assert rows[:, 1].tolist() == [*range(1000)]


def test_bounds_beyond_the_ids_are_refused() -> None:
    ids, ends, bounds, starts = np.zeros(3, dtype=np.int32), np.arange(3), np.array([0, 2, 3]), np.zeros(2, dtype=int)
    for wrong in (
        (ids, ends, np.array([0, 4, 3]), starts),
        (ids, ends, bounds[:2], starts),
        (ids, ends, np.array([0, 1, 2]), starts),
        (ids, ends[:2], bounds, starts),
    ):
        with pytest.raises(ValueError, match="must"):
            Tokenizations(*wrong)
    with pytest.raises(ValueError, match="same texts"):
        find_differences(Tokenizations(ids, ends), Tokenizations(ids, ends, bounds, starts))
