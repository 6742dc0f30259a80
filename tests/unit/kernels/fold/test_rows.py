"""Rows of intervals, against sets of positions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.kernels.fold.folding import gather_rows


@st.composite
def forests(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, int]]]:
    """Parents of states, and for each state an interval (first, width) that is disjoint from those above it."""
    parent, interval = [-1], [(0, 0)]
    for _ in range(draw(st.integers(0, 20))):
        above = draw(st.integers(0, len(parent) - 1))
        taken = set()
        state = above
        while state > 0:
            taken.update(range(interval[state][0], sum(interval[state])))
            state = parent[state]
        free = [first for first in range(30) if first not in taken]
        if free:
            first = draw(st.sampled_from(free))
            widest = next(width for width in range(1, 31) if first + width in taken or first + width == 30)
            parent.append(above)
            interval.append((first, draw(st.integers(1, widest))))
    return parent, interval


@given(forests(), st.integers(0, 3), st.data())
def test_gather_rows(forest: tuple[list[int], list[tuple[int, int]]], n_dead: int, data: st.DataObject) -> None:
    parent, interval = forest
    lacking: list[set[int]] = [set(range(30, 30 + n_dead))]
    for state in range(1, len(parent)):
        first, width = interval[state]
        lacking.append(lacking[parent[state]] | set(range(first, first + width)))
    states = sorted({0, *data.draw(st.lists(st.integers(0, len(parent) - 1)))})
    first, width = np.array(interval, np.int32).T.copy()
    row, pointer, start, stop = gather_rows(
        np.array(parent, np.int32), first, width, np.array(states, np.int32), 30, 30 + n_dead
    )
    assert [state for state in range(len(parent)) if row[state] >= 0] == states
    sets = []
    for r in range(len(pointer) - 1):
        intervals = list(zip(start[pointer[r] : pointer[r + 1]], stop[pointer[r] : pointer[r + 1]], strict=True))
        assert all(low < high for low, high in intervals)
        assert all(before[1] < after[0] for before, after in pairwise(intervals))
        sets.append({position for low, high in intervals for position in range(low, high)})
    assert len(set(map(frozenset, sets))) == len(sets)
    assert [sets[row[state]] for state in states] == [lacking[state] for state in states]
    first_use = [states[[row[state] for state in states].index(r)] for r in range(len(sets))]
    assert first_use == sorted(first_use)
