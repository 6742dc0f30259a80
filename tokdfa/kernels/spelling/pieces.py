"""Reading the pieces of a SentencePiece model where they are written plainly, as nearly always."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokdfa.arrays import Float64Array, Int64Array, Uint8Array
from tokdfa.kernels.library import Struct, lib

__all__ = ["PieceList", "read_pieces"]

# A tag, a length, and the same and a byte for the spelling.
_LEAST_PIECE = 5


class PieceList(NamedTuple):
    """What is read.

    Attributes
    ----------
    text, offsets : uint8 and int64 arrays
        Piece i is ``text[offsets[i] : offsets[i + 1] - 1]``, and a zero byte follows it, which no piece has. It has
        1 to 1024 bytes, which need not be UTF-8.
    scores : float64 array
        Values of 32 bits.
    kinds : uint8 array
        From 1 to 6, as the format numbers them.
    left : bytes
        All that is not a piece, as it is written.
    """

    text: Uint8Array
    offsets: Int64Array
    scores: Float64Array
    kinds: Uint8Array
    left: bytes


def read_pieces(data: bytes) -> PieceList | None:
    """Read the pieces of a model: O(n).

    Returns
    -------
    PieceList or None
        None if there is no piece, or anything odd: a field of a piece that is unknown or there twice, a piece that is
        empty, long or has a zero byte, a group, or a message that does not end.
    """
    most = len(data) // _LEAST_PIECE + 1
    # What is not written to takes no memory.
    text, left = (np.empty(len(data) + 1, dtype=np.uint8) for _ in range(2))
    offsets, scores = np.empty(most + 1, dtype=np.int64), np.empty(most, dtype=np.float64)
    kinds = np.empty(most, dtype=np.uint8)
    pieces = Struct(
        "tokdfa_piece_list",
        data=np.frombuffer(data or b"\0", dtype=np.uint8),
        n_data=len(data),
        most=most,
        text=text,
        offsets=offsets,
        scores=scores,
        kinds=kinds,
        left=left,
        n_pieces=0,
        n_left=0,
    )
    if not lib.tokdfa_read_pieces(pieces.pointer) or not pieces.pointer.n_pieces:
        return None
    n, found = pieces.pointer.n_pieces, pieces.pointer
    return PieceList(text[: int(offsets[n])], offsets[: n + 1], scores[:n], kinds[:n], left[: found.n_left].tobytes())
