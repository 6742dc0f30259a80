"""Two tokenizations of one text, one above the other: what they share and where they differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

__all__ = ["Divergence", "Lanes", "divergence", "lanes"]

MAX_CELLS = 12


class Divergence(NamedTuple):
    """The parts of two sequences of ids between their common prefix and suffix, and the lengths of these."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    before: int
    behind: int


def divergence(left: Sequence[int], right: Sequence[int]) -> Divergence:
    """Return where two sequences differ."""
    most = min(len(left), len(right))
    before = next((place for place in range(most) if left[place] != right[place]), most)
    most -= before
    behind = next((place for place in range(most) if left[-1 - place] != right[-1 - place]), most)
    return Divergence(
        tuple(left[before : len(left) - behind]), tuple(right[before : len(right) - behind]), before, behind
    )


class Lanes(NamedTuple):
    """Two rows of cells over the same columns.

    Each row has, for every token, its id and the number of its columns. The columns that a row lacks are filled by a
    cell that counts the tokens left out, or says that there are none.
    """

    columns: int
    left: list[list[int]]
    right: list[list[int]]
    left_more: int
    right_more: int


def lanes(
    left: Sequence[int],
    right: Sequence[int],
    length: Callable[[int], int],
    other_length: Callable[[int], int] | None = None,
) -> Lanes:
    """Lay out two tokenizations of the same bytes so that cells above each other are the same text.

    If the bytes differ, cells above each other are unrelated, except that the rows end together. `length` returns the
    number of bytes of an id, `other_length` that of an id of the second sequence, if it is of another tokenizer.
    """
    sizes, other_sizes = [*map(length, left)], [*map(other_length or length, right)]
    ends, other_ends = [*accumulate(sizes)], [*accumulate(other_sizes)]
    same_text = ends[-1:] == other_ends[-1:] != [] and 0 not in sizes and 0 not in other_sizes
    if not same_text:
        ends, other_ends = [*range(1, len(left) + 1)], [*range(1, len(right) + 1)]
    total = max(ends[-1:] + other_ends[-1:], default=1)
    shown, other_shown = ends[:MAX_CELLS], other_ends[:MAX_CELLS]
    columns = {end: number for number, end in enumerate(sorted({*shown, *other_shown, total}), 1)}
    # In rows that do not end with the text, the last token shown extends to the end.
    if not same_text:
        for row, tokens in ((shown, left), (other_shown, right)):
            if row and len(tokens) == len(row):
                row[-1] = total
    return Lanes(
        len(columns),
        _cells(left, shown, columns),
        _cells(right, other_shown, columns),
        max(len(left) - MAX_CELLS, 0),
        max(len(right) - MAX_CELLS, 0),
    )


def _cells(ids: Sequence[int], ends: Sequence[int], columns: dict[int, int]) -> list[list[int]]:
    at = [0, *(columns[end] for end in ends)]
    return [[id, at[place + 1] - at[place]] for place, id in enumerate(ids[: len(ends)])]
