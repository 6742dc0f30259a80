"""Sets of code points are read from files as they were written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tokdfa.regex.unicode import LAST, union
from tokdfa.regex.unicode.ranges import decode, encode

NEAR = st.integers(0, 30)


@given(st.sets(NEAR | NEAR.map(lambda distance: LAST - distance)))
def test_sets_are_read_as_written(members: set[int]) -> None:
    assert decode(encode(members)) == union([(code, code) for code in members])


def test_how_they_are_written() -> None:
    assert encode([9, 0, 1, 7, 8]) == [0, 2, 5, 3]
