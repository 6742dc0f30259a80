"""The parts in which two tokenizations differ."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.validation.differences import differences

# A token is its id and how many bytes it adds to the text.
TOKENS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=9)


def naive(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> list[tuple[int, int, int, int]]:
    """The parts between bounds that both have once each, if their ids differ."""
    bounds, others = ([0, *accumulate(size for _, size in side)] for side in (left, right))
    common = [end for end in sorted({*bounds}) if end and bounds.count(end) == others.count(end) == 1]
    lefts, rights = ([*map(side.index, common), len(side) - 1] for side in (bounds, others))
    found = []
    start = low = 0
    for stop, high in zip(lefts, rights, strict=True):
        if [id for id, _ in left[start:stop]] != [id for id, _ in right[low:high]]:
            found.append((start, stop, low, high))
        start, low = stop, high
    return found


@given(TOKENS, TOKENS)
def test_the_parts_that_differ(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> None:
    ids, canonical = (np.array([id for id, _ in side], dtype=np.int32) for side in (left, right))
    ends, others = (np.cumsum([size for _, size in side], dtype=np.int64) for side in (left, right))
    found = [*map(tuple, differences(ids, ends, canonical, others).tolist())]
    assert found == naive(left, right)
    # What is put in their place gives the canonical ids.
    repaired: list[int] = []
    place = 0
    for start, stop, low, high in found:
        repaired += [*ids[place:start].tolist(), *canonical[low:high].tolist()]
        place = stop
    assert repaired + ids[place:].tolist() == canonical.tolist()
