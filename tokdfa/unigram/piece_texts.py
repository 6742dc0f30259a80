"""The pieces of a model by id, of which strings are made when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import overload

import numpy as np

from tokdfa.arrays import Int64Array, Uint8Array, running_sum

__all__ = ["PieceTexts"]


class PieceTexts(Sequence[str]):
    r"""Pieces in UTF-8, one after the other.

    Parameters
    ----------
    text, offsets : uint8 and int64 arrays
        Piece i is ``text[offsets[i] : offsets[i + 1] - gap]``.
    gap : {0, 1}
        The number of zero bytes after each; if there is one, no piece has any.

    Examples
    --------
    >>> import numpy as np
    >>> pieces = PieceTexts(np.frombuffer(b"a\0bc\0", np.uint8), np.array([0, 2, 5]), 1)
    >>> len(pieces), pieces[1], [*pieces]
    (2, 'bc', ['a', 'bc'])
    """

    def __init__(self, text: Uint8Array, offsets: Int64Array, gap: int) -> None:
        self.text = text
        self.offsets = offsets
        self.gap = gap

    def __reduce__(self) -> tuple[type[PieceTexts], tuple[Uint8Array, Int64Array, int]]:
        return PieceTexts, (self.text, self.offsets, self.gap)

    @classmethod
    def of(cls, pieces: Sequence[str]) -> PieceTexts:
        """Return the same pieces."""
        if isinstance(pieces, PieceTexts):
            return pieces
        encoded = [piece.encode("utf-8") for piece in pieces]
        lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), running_sum(lengths), 0)

    @cached_property
    def strings(self) -> tuple[str, ...]:
        """All of them."""
        if self.gap:
            return tuple(self.text.tobytes().decode("utf-8").split("\0")[:-1])
        return tuple(map(self._piece, range(len(self))))

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice) or "strings" in vars(self):
            return self.strings[place]
        return self._piece(range(len(self))[place])

    def _piece(self, place: int) -> str:
        return self.text[self.offsets[place] : self.offsets[place + 1] - self.gap].tobytes().decode("utf-8")

    def __iter__(self) -> Iterator[str]:
        return iter(self.strings)

    def __len__(self) -> int:
        return len(self.offsets) - 1
