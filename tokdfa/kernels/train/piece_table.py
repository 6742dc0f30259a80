"""Counting different pieces of text."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokdfa.arrays import Int64Array
from tokdfa.kernels.library import check_memory, ffi, lib, readable, writable

__all__ = ["Pieces"]


class Pieces:
    """Different pieces of text with their counts, in the order of their first occurrence, in memory that C grows.

    Raises
    ------
    MemoryError
    """

    def __init__(self) -> None:
        pieces = lib.tokdfa_new_pieces()
        if not pieces:
            raise MemoryError("not enough memory for a table of pieces")
        self._pieces = ffi.gc(pieces, lib.tokdfa_free_pieces)

    def __len__(self) -> int:
        return int(self._pieces.n_pieces)

    def add(self, text: Any, spans: Int64Array, weights: Int64Array | None) -> None:
        """Count pieces of a text: O(bytes). Other threads may do the same at the same time with their own tables.

        Parameters
        ----------
        text : uint8 array
        spans : int64 array of shape (pieces, 2)
            The beginning and end of each piece; none is empty or extends beyond the text.
        weights : int64 array, optional
            The multiplicity of each piece, 0 or more; the sum of all that are added is less than 2⁶³.

        Raises
        ------
        MemoryError
            Then none of them is counted.
        """
        check_memory(
            lib.tokdfa_add_pieces(
                self._pieces,
                readable(text, np.uint8),
                len(text),
                readable(spans, np.int64),
                len(spans),
                ffi.NULL if weights is None else readable(weights, np.int64),
            )
        )

    def contents(self) -> tuple[Any, Int64Array, Int64Array]:
        """Return the pieces one after the other as a uint8 array, the end of each, and the count of each."""
        n_pieces = len(self)
        text = np.empty(self._pieces.n_bytes, np.uint8)
        ends, counts = np.empty(n_pieces, np.int64), np.empty(n_pieces, np.int64)
        lib.tokdfa_copy_pieces(
            self._pieces, writable(text, np.uint8), writable(ends, np.int64), writable(counts, np.int64)
        )
        return text, ends, counts
