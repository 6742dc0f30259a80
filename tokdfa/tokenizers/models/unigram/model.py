"""Unigram models: pieces, their scores, and the library that gives the arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, overload

import numpy as np

from tokdfa.base.arrays import BoolArray, Float64Array, Int32Array, Int64Array, Uint8Array, running_sum
from tokdfa.kernels.spelling.lookup import sort_words
from tokdfa.kernels.spelling.spell import spell

Arithmetic: TypeAlias = Literal["sentencepiece", "sentencepiece 0.2.1", "tokenizers"]

_PENALTY = 10.0


class PieceTexts(Sequence[str]):
    r"""Pieces by id, in UTF-8 one after the other; strings are made when they are asked for.

    Piece i is ``text[offsets[i] : offsets[i + 1] - gap]``. If `gap` is 1, a zero byte is after each, which no piece
    has.

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
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice) or "strings" in vars(self):
            return self.strings[index]
        return self._piece(range(len(self))[index])

    def _piece(self, index: int) -> str:
        return self.text[self.offsets[index] : self.offsets[index + 1] - self.gap].tobytes().decode("utf-8")

    def __iter__(self) -> Iterator[str]:
        return iter(self.strings)

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True, eq=False)
class UnigramModel:
    """The pieces of a Unigram model, by id, with their scores and the arithmetic of their sums.

    SentencePiece rounds each sum to 32 bits, and adjacent unknown characters become one id. Up to version 0.2.1 it
    rounds a sum only after comparing it with the best one so far; since then, it subtracts the best sum at an offset
    from all that continue if its magnitude exceeds 100,000. tokenizers adds with 64 bits, and looks adjacent unknown
    characters up as a piece.
    """

    # The piece of each id; a tuple, or `PieceTexts`.
    pieces: Sequence[str]
    # The number that each piece adds to a sum. For SentencePiece it has 32 bits, except for user-defined pieces up to
    # version 0.2.1.
    scores: Float64Array
    # Whether each piece is found in texts. Of equal pieces at most one is.
    is_found: BoolArray
    # The id of unknown characters, None if they are refused; and the number that such a character adds to a sum.
    unknown: int | None
    unknown_score: float
    # The library that gives the arithmetic.
    arithmetic: Arithmetic
    # The id of each byte, -1 for none, if unknown characters become their bytes.
    byte_ids: tuple[int, ...] | None = None

    @property
    def is_single(self) -> bool:
        """Whether sums are rounded to 32 bits."""
        return self.arithmetic != "tokenizers"

    @property
    def is_rounded_late(self) -> bool:
        """Whether a sum is rounded only after it has been compared."""
        return self.arithmetic == "sentencepiece 0.2.1"

    @property
    def found_words(self) -> tuple[Uint8Array, Int64Array, int, Int32Array]:
        """The pieces found in texts, ascending by their bytes: text, offsets and gap as of `PieceTexts`, and ids."""
        pieces, ids = PieceTexts.of(self.pieces), np.flatnonzero(self.is_found).astype(np.int32)
        if not len(ids):
            return np.empty(0, dtype=np.uint8), np.zeros(1, dtype=np.int64), pieces.gap, ids
        text, lengths = spell(pieces.text, pieces.offsets, ids)
        offsets = running_sum(lengths)
        order = sort_words(text, offsets, pieces.gap)
        text, lengths = spell(text, offsets, order)
        return text, running_sum(lengths), pieces.gap, ids[order]

    @property
    def has_inner_spaces(self) -> bool:
        """Whether a piece that is found in texts has a visible space that does not begin it."""
        pieces = PieceTexts.of(self.pieces)
        text = pieces.text
        first, second, third = (text[at : len(text) - 2 + at] for at in range(3))
        spaces = np.flatnonzero((first == 0xE2) & (second == 0x96) & (third == 0x81))
        owners = np.searchsorted(pieces.offsets, spaces, "right") - 1
        return bool((self.is_found[owners] & (pieces.offsets[owners] != spaces)).any())


def unknown_score(least: float, *, single: bool) -> float:
    """Return the score of an unknown character: ten less than the least score of a piece.

    `single` is whether the difference is rounded to 32 bits.
    """
    return float(np.float32(least) - np.float32(_PENALTY)) if single else least - _PENALTY
