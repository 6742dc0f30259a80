"""Pieces of text with their multiplicities, the input of a greedy trainer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import pairwise

import numpy as np

from tokdfa.base.arrays import Int64Array, Uint8Array
from tokdfa.base.errors import TrainingError
from tokdfa.kernels.train.merging import Pieces


class PieceCounts(Mapping[bytes, int]):
    """Unique pieces, as bytes, with their multiplicities, in the order of their first occurrence. Immutable.

    `text` has the pieces, none empty, one after the other; `ends` where each ends; `counts` how often it occurs.
    """

    def __init__(self, text: Uint8Array, ends: Int64Array, counts: Int64Array) -> None:
        self.text = text
        self.ends = ends
        self.counts = counts
        for array in (text, ends, counts):
            array.setflags(write=False)

    @property
    def spans(self) -> Int64Array:
        """The beginning and end of each piece in the text, as an array of shape (pieces, 2)."""
        starts = np.concatenate((np.zeros(1, np.int64), self.ends))[: len(self)]
        return np.stack((starts, self.ends), axis=1)

    @cached_property
    def _dict(self) -> dict[bytes, int]:
        return dict(zip(self, self.counts.tolist(), strict=True))

    def characters(self) -> dict[str, int]:
        """Return the pieces as strings, with their multiplicities, in the same order; they must be UTF-8."""
        try:
            return {piece.decode(): count for piece, count in zip(self, self.counts.tolist(), strict=True)}
        except UnicodeDecodeError as error:
            raise TrainingError("a piece is not UTF-8, so it has no characters", value=error.object) from None

    def __getitem__(self, piece: bytes) -> int:
        return self._dict[piece]

    def __iter__(self) -> Iterator[bytes]:
        text = self.text.tobytes()
        return (text[start:end] for start, end in pairwise([0, *self.ends.tolist()]))

    def __len__(self) -> int:
        return len(self.ends)

    def __repr__(self) -> str:
        return f"<PieceCounts: {len(self)} pieces of {int(self.counts.sum())}>"


class PieceTable(Pieces):
    """Counts pieces as they come, in memory that grows only with the unique ones."""

    def add_counts(self, counts: PieceCounts) -> None:
        """Add counts made elsewhere."""
        self.add(counts.text, counts.spans, counts.counts)

    def counts(self) -> PieceCounts:
        """Return the counts so far."""
        return PieceCounts(*self.contents())


def with_end_of_word(
    pieces: Mapping[str, int], mark: str = "</w>", *, attached: bool = False
) -> dict[tuple[str, ...], int]:
    """Return pieces over symbols with a mark at their ends, as in Sennrich's program.

    It is part of the last symbol if `attached` (subword-nmt from version 0.2 on, tokenizers), or a symbol of its own
    (BLOG, subword-nmt before).
    """
    if attached:
        return {(*piece[:-1], piece[-1] + mark): count for piece, count in pieces.items()}
    return {(*piece, mark): count for piece, count in pieces.items()}
