"""Unigram models: pieces, their scores, and the library whose arithmetic decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tokdfa.arrays import BoolArray, Float64Array, running_sum
from tokdfa.kernels.spelling.order import sort_words

__all__ = ["Arithmetic", "UnigramModel", "unknown_score"]

Arithmetic: TypeAlias = Literal["sentencepiece", "sentencepiece 0.2.1", "tokenizers"]

_PENALTY = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class UnigramModel:
    """The pieces of a Unigram model, by id, with what decides between segmentations.

    Attributes
    ----------
    pieces : tuple of str
        The piece of each id.
    scores : float64 array, one entry an id
        What each piece adds to a sum. For SentencePiece these are values of 32 bits, except those of user-defined
        pieces up to version 0.2.1.
    is_found : bool array, one entry an id
        Whether the piece is found in texts. Of equal pieces at most one is.
    unknown : int or None
        The id of what no piece covers; None if such a text is refused.
    unknown_score : float
        What a character that is no piece adds to a sum.
    arithmetic : {"sentencepiece", "sentencepiece 0.2.1", "tokenizers"}
        The library whose arithmetic is meant. SentencePiece rounds each sum to 32 bits, and adjacent unknown characters
        become one id. Up to version 0.2.1 it rounds a sum only after comparing it with the best one so far; since then,
        it subtracts the best sum at a place from all that go on if its magnitude exceeds 100,000. tokenizers adds with
        64 bits, and looks adjacent unknown characters up as a piece.
    byte_ids : tuple of int or None
        The id of each byte, -1 for none, if unknown characters become their bytes.
    """

    pieces: tuple[str, ...]
    scores: Float64Array
    is_found: BoolArray
    unknown: int | None
    unknown_score: float
    arithmetic: Arithmetic
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
    def bytes_of_found(self) -> tuple[list[bytes], npt.NDArray[np.int32]]:
        """The pieces that are found in texts, in UTF-8 and ascending, and their ids."""
        ids = np.flatnonzero(self.is_found)
        encoded = [self.pieces[id].encode("utf-8") for id in ids.tolist()]
        if not encoded:
            return [], ids.astype(np.int32)
        offsets = running_sum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)))
        order = sort_words(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets, 0)
        return [encoded[place] for place in order.tolist()], ids[order].astype(np.int32)


def unknown_score(least: float, *, single: bool) -> float:
    """Return the score of an unknown character: ten less than the least score of a piece.

    `single` is whether the difference is rounded to 32 bits.
    """
    return float(np.float32(least) - np.float32(_PENALTY)) if single else least - _PENALTY
