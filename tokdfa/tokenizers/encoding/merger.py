"""Tokenizing one piece after the other by merging, as the libraries do it."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.kernels.merging.merging import inner_pairs, merge_pieces, pair_table
from tokdfa.tokenizers.encoding.merges import Merges

# Pieces of this number of symbols are cut where possible before they are merged.
_LONG = 64


class Tokenized(NamedTuple):
    """The tokens of several pieces; piece i has ``tokens[offsets[i]:offsets[i + 1]]``."""

    offsets: Int64Array
    tokens: Int32Array


class Merger:
    """Merging by priority, ties going to the leftmost pair, until no pair is left, for any dictionary, proper or not.

    Parameters
    ----------
    dictionary : Dictionary
    merges : Merges, optional
        All merging pairs, if the rules of the dictionary do not determine them.

    Attributes
    ----------
    merges : Merges
        All merging pairs.

    Notes
    -----
    *Constructing a BPE Tokenization DFA*, section 2, "SentencePiece semantics", with a heap: O(n log n) for a piece of
    n symbols.
    """

    def __init__(self, dictionary: Dictionary, merges: Merges | None = None) -> None:
        if merges is None:
            priority = np.arange(len(dictionary), dtype=np.int32)
            merges = Merges(dictionary.left, dictionary.right, priority, dictionary.product)
        self.merges = merges
        self.table = pair_table(*(np.ascontiguousarray(column, dtype=np.int32) for column in merges))

    def merge(self, symbols: Int32Array, offsets: Int64Array) -> Tokenized:
        """Tokenize pieces.

        Parameters
        ----------
        symbols : int32 array
            Token numbers of symbols, of all pieces one after the other.
        offsets : int64 array
            Piece i is ``symbols[offsets[i]:offsets[i + 1]]``.
        """
        lengths = np.diff(offsets)
        if lengths.max(initial=0) < _LONG:
            return Tokenized(*merge_pieces(symbols, offsets, self.table))
        # If no token has two symbols side by side, nothing merges across their boundary.
        codes = symbols[:-1].astype(np.int64) << 32 | symbols[1:]
        places = np.minimum(np.searchsorted(self.inner, codes), len(self.inner) - 1)
        is_bound = np.ones(len(symbols) + 1, dtype=np.bool_)
        is_bound[1:-1] = self.inner[places] != codes
        is_bound[offsets] = True
        bounds = np.flatnonzero(is_bound)
        ends, tokens = merge_pieces(symbols, bounds, self.table)
        return Tokenized(ends[np.searchsorted(bounds, offsets)], tokens)

    @cached_property
    def inner(self) -> Int64Array:
        """The pairs of symbols that are side by side within tokens, sorted; a sentinel comes last."""
        left, right, _, product = self.merges
        return np.append(inner_pairs(left, right, product), np.iinfo(np.int64).max)
