"""Two tokenizations above each other."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from tokdfa.draw.report.collect import MAX_CELLS, divergence, lanes

SEQUENCES = st.lists(st.integers(0, 3), max_size=8)


@given(SEQUENCES, SEQUENCES)
def test_differences(left: list[int], right: list[int]) -> None:
    found = divergence(left, right)
    assert [*left[: found.before], *found.left, *left[len(left) - found.behind :]] == left
    assert [*right[: found.before], *found.right, *right[len(right) - found.behind :]] == right
    assert left[: found.before] == right[: found.before]
    assert found.left[:1] != found.right[:1] or not found.left
    assert found.left[-1:] != found.right[-1:] or not found.left


@st.composite
def cuts_of_one_text(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Two tokenizations of a text, in which the id of a token is its length."""
    size = draw(st.integers(1, 40))
    sides = []
    for _ in range(2):
        ends = sorted(draw(st.sets(st.integers(1, size - 1)))) if size > 1 else []
        sides.append([end - start for start, end in zip([0, *ends], [*ends, size], strict=True)])
    return sides[0], sides[1]


@given(cuts_of_one_text())
def test_what_is_above_each_other_is_the_same_text(sides: tuple[list[int], list[int]]) -> None:
    left, right = sides
    table = lanes(left, right, lambda id: id)
    starts = []
    for ids, row, more in ((left, table.left, table.left_more), (right, table.right, table.right_more)):
        assert [id for id, _ in row] == ids[:MAX_CELLS]
        assert more == max(len(ids) - MAX_CELLS, 0)
        used = sum(span for _, span in row)
        assert all(span > 0 for _, span in row)
        assert used == table.columns if not more else used < table.columns
        columns = [0, *accumulate(span for _, span in row)]
        bytes_ = [0, *accumulate(id for id, _ in row)]
        starts.append(dict(zip(bytes_, columns, strict=True)))
    for byte in starts[0].keys() & starts[1].keys():
        assert starts[0][byte] == starts[1][byte]


@given(st.lists(st.integers(0, 3), max_size=30), st.lists(st.integers(0, 3), max_size=30))
def test_other_texts_end_together(left: list[int], right: list[int]) -> None:
    table = lanes(left, right, lambda id: id)
    assert table.columns >= 1
    for ids, row, more in ((left, table.left, table.left_more), (right, table.right, table.right_more)):
        used = sum(span for _, span in row)
        assert all(span > 0 for _, span in row)
        assert used <= table.columns
        assert used == table.columns or more or not ids
