"""Where ids of one text end in another that differs by spaces only, next to counting spaces one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.base.arrays import Int64Array
from tokdfa.kernels.walk.differences import ends_but_for_spaces, offsets_at

WORDS = st.lists(st.tuples(st.sampled_from([b"a", b"b", b"abcdefghij", "é".encode()]), *[st.integers(0, 3)] * 2))


def counted(text: bytes, other: bytes, ends: Int64Array) -> list[int] | None:
    """Return the ends as their definition has them; None if the texts differ by more than spaces."""
    if text.replace(b" ", b"") != other.replace(b" ", b""):
        return None
    solid = [place for place, byte in enumerate(text) if byte != ord(" ")]
    found = []
    for end in ends.tolist():
        before = other[:end].replace(b" ", b"")
        n_spaces = end - len(other[:end].rstrip(b" "))
        begin = solid[len(before) - 1] + 1 if before else 0
        most = solid[len(before)] if len(before) < len(solid) else len(text)
        found.append(min(begin + n_spaces, most))
    return found


@given(WORDS, st.integers(0, 3), st.booleans(), st.data())
def test_ends_are_those_that_are_counted(
    words: list[tuple[bytes, int, int]], more: int, differs: bool, data: st.DataObject
) -> None:
    text, other = (b"".join(b" " * word[side] + word[0] for word in words) for side in (1, 2))
    other += b" " * more + b"x" * differs
    places = data.draw(st.lists(st.integers(0, len(other)), max_size=12))
    ends = np.array(sorted(places), dtype=np.int64)
    found = ends_but_for_spaces(text, other, ends)
    assert (None if found is None else found.tolist()) == counted(text, other, ends)


def test_ends_elsewhere_are_refused() -> None:
    for ends in ([0, 4], [-1, 2], [2, 1]):
        with pytest.raises(ValueError, match="the ends must"):
            ends_but_for_spaces(b"abc", b"abc", np.array(ends, dtype=np.int64))


@given(st.lists(st.integers(0, 3), max_size=40), st.data())
def test_offsets_are_sums_of_lengths(ids: list[int], data: st.DataObject) -> None:
    length_of = np.array([1, 0, 7, 65535], dtype=np.uint16)
    indices = np.array(sorted(data.draw(st.lists(st.integers(0, len(ids)), max_size=9))), dtype=np.int64)
    found = offsets_at(length_of, np.array(ids, dtype=np.int32), indices)
    assert found.tolist() == [sum(length_of[ids[:at]].tolist()) for at in indices]


def test_offsets_elsewhere_are_refused() -> None:
    for indices in ([0, 4], [-1, 2], [2, 1]):
        with pytest.raises(ValueError, match="the indices must"):
            offsets_at(np.ones(1, np.uint16), np.zeros(3, np.int32), np.array(indices, dtype=np.int64))
