"""Tokenizing one piece after the other by merging, as the libraries do it."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tokdfa.dictionary import Dictionary
from tokdfa.kernels.merging import merge_pieces, pair_table
from tokdfa.tokenizers.formats.contents import Merges

__all__ = ["Merger", "Tokenized"]

Int32Array: TypeAlias = npt.NDArray[np.int32]
Int64Array: TypeAlias = npt.NDArray[np.int64]


class Tokenized(NamedTuple):
    """The tokens of several pieces: those of piece i are ``tokens[offsets[i]:offsets[i + 1]]``."""

    offsets: Int64Array
    tokens: Int32Array


class Merger:
    """Merges by priority, of equals the leftmost pair, until no pair is left: proper or not, any dictionary will do.

    Parameters
    ----------
    dictionary : Dictionary
    merges : Merges, optional
        All merging pairs, where the rules of the dictionary are not all there is to say.

    Notes
    -----
    *Constructing a BPE Tokenization DFA*, section 2, "SentencePiece semantics", with a heap: O(n log n) for a piece of
    n symbols.
    """

    def __init__(self, dictionary: Dictionary, merges: Merges | None = None) -> None:
        if merges is None:
            priority = np.arange(len(dictionary), dtype=np.int32)
            merges = Merges(dictionary.left, dictionary.right, priority, dictionary.product)
        self._table = pair_table(*(np.ascontiguousarray(column, dtype=np.int32) for column in merges))

    def merge(self, symbols: Int32Array, offsets: Int64Array) -> Tokenized:
        """Tokenize pieces.

        Parameters
        ----------
        symbols : int32 array
            Token numbers of symbols, of all pieces one behind the other.
        offsets : int64 array
            Piece i is ``symbols[offsets[i]:offsets[i + 1]]``.
        """
        return Tokenized(*merge_pieces(symbols, offsets, *self._table))
