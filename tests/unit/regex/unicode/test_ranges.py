"""Sets of code points behave as sets."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tokdfa.regex.unicode import (
    LAST,
    SCALARS,
    SURROGATES,
    Ranges,
    complement,
    contains,
    difference,
    intersection,
    union,
)

EDGES = [0, 1, 2, 9, 10, 11, 0xD7FE, 0xD7FF, 0xD800, 0xDFFF, 0xE000, LAST - 1, LAST]
code_points = st.one_of(st.sampled_from(EDGES), st.integers(0, LAST))
pairs = st.tuples(code_points, st.integers(0, 5)).map(lambda p: (p[0], min(p[0] + p[1], LAST)))
sets = st.lists(pairs, max_size=6)


def members(ranges: Ranges) -> set[int]:
    return {c for first, last in ranges for c in range(first, last + 1)}


@given(sets, sets)
def test_operations_are_those_of_sets(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> None:
    a, b = union(left), union(right)
    assert members(a) == members(tuple(left))
    assert members(union(a, b)) == members(a) | members(b)
    assert members(intersection(a, b)) == members(a) & members(b)
    assert members(difference(a, b)) == members(a) - members(b)
    assert members(intersection(complement(a), b)) == members(b) - members(a) - members(SURROGATES)
    assert complement(complement(a), ((0, LAST),)) == union(a, SURROGATES)


@given(sets, code_points)
def test_contains_is_membership(ranges: list[tuple[int, int]], code_point: int) -> None:
    assert contains(union(ranges), code_point) == (code_point in members(tuple(ranges)))


@given(sets)
def test_equal_sets_are_equal_tuples(ranges: list[tuple[int, int]]) -> None:
    single = union((c, c) for c in members(tuple(ranges)))
    assert single == union(ranges)
    assert all(right[0] > left[1] + 1 for left, right in itertools.pairwise(single))


def test_the_complement_of_nothing_is_what_utf8_can_spell() -> None:
    assert complement(()) == SCALARS
    assert complement(SCALARS) == ()
    assert complement((), ((0, LAST),)) == ((0, LAST),)
