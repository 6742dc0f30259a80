"""The parts in which two tokenizations differ."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.jobs.validation.differences import differences, differing_parts
from tokdfa.jobs.validation.violation import common_prefix

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
    # Replacing the differing parts gives the canonical ids.
    repaired: list[int] = []
    place = 0
    for start, stop, low, high in found:
        repaired += [*ids[place:start].tolist(), *canonical[low:high].tolist()]
        place = stop
    assert repaired + ids[place:].tolist() == canonical.tolist()


def trimmed(ids: list[int], right: list[int], start: int, stop: int, low: int, high: int) -> tuple[int, ...]:
    """A part without what both sides begin and end with."""
    same = common_prefix(ids[start:stop], right[low:high])
    start, low = start + same, low + same
    rest = min(stop - start, high - low)
    after = common_prefix(ids[start:stop][::-1][:rest], right[low:high][::-1][:rest])
    return start, stop - after, low, high - after


# A text of ids, the first with some bytes, and its canonical ids, which may leave out the end of the text.
TEXTS = st.lists(st.tuples(TOKENS.filter(lambda side: len(side) > 0 and side[0][1] > 0), TOKENS), max_size=4)


@given(TEXTS)
def test_the_parts_that_differ_between_cuts(texts: list[tuple[list[tuple[int, int]], list[tuple[int, int]]]]) -> None:
    ids, canonical = list[int](), list[int]()
    ends, others, cuts = list[int](), list[int](), list[int]()
    expected = []
    base = 0
    for left, right in texts:
        size = sum(each for _, each in left)
        shorter = [*right]
        while shorter and not shorter[0][1]:
            del shorter[0]
        while sum(each for _, each in shorter) > size:
            del shorter[-1]
        own, other = [id for id, _ in left], [id for id, _ in shorter]
        expected += [
            (len(ids) + start, len(ids) + stop, len(canonical) + low, len(canonical) + high)
            for part in naive(left, shorter)
            for start, stop, low, high in [trimmed(own, other, *part)]
        ]
        cuts.append(len(ids))
        ids, canonical = ids + own, canonical + other
        ends += [base + end for end in accumulate(each for _, each in left)]
        others += [base + end for end in accumulate(each for _, each in shorter)]
        base += size
    sides = [np.array(side, dtype=np.int64) for side in (ends, cuts[1:], others)]
    found = differing_parts(np.array(ids, dtype=np.int32), *sides[:2], np.array(canonical, dtype=np.int32), sides[2])
    if ids != canonical:
        assert [*zip(*(side.tolist() for side in found[:4]), strict=True)] == expected
