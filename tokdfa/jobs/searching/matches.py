"""The results of a search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, overload

import numpy as np

from tokdfa.base.arrays import Int64Array
from tokdfa.base.verdict import Displayed

__all__ = ["Match", "Matches"]


class Match(NamedTuple):
    """The position of a match, in bytes of the text and in tokens of the stream.

    It is half open: the end byte and the end token are the first ones after the match.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> tokdfa.search(tokenizer, "man", tokenizer.encode("a single man"))[0]
    Match(start_byte=9, end_byte=12, start_token=2, end_token=3)
    """

    start_byte: int
    end_byte: int
    start_token: int
    end_token: int


class Matches(Displayed, Sequence[Match]):
    """Matches in an int64 array of shape (n, 4), one row per match; as a sequence it holds :class:`Match` objects.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> found = tokdfa.search(tokenizer, "[a-z]+", tokenizer.encode("a single man"))
    >>> len(found), found[-1].start_byte
    (3, 9)
    >>> found.rows.tolist()
    [[0, 1, 0, 1], [2, 8, 1, 2], [9, 12, 2, 3]]
    """

    def __init__(self, rows: Int64Array) -> None:
        self.rows = rows
        rows.setflags(write=False)

    @overload
    def __getitem__(self, index: int) -> Match: ...
    @overload
    def __getitem__(self, index: slice) -> Matches: ...
    def __getitem__(self, index: int | slice) -> Match | Matches:
        if isinstance(index, slice):
            return Matches(self.rows[index])
        return Match(*self.rows[index].tolist())

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Match]:
        return (Match(*row) for row in self.rows.tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Matches):
            return NotImplemented
        return np.array_equal(self.rows, other.rows)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} matches>"
