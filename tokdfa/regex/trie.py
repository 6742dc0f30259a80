"""All tokens as one trie."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.kernels.dfa import explicit as kernels


class TokenTrie:
    """The trie of numbered words, its nodes in depth-first order.

    Word i is ``symbols[offsets[i]:offsets[i + 1]]``; words may be equal. `words` has the numbers of the words that are
    not `left_out`, in lexicographic order. The nodes are `symbol`, `depth`, `end` and `first`; see
    :func:`tokdfa.kernels.dfa.explicit.build_trie`.
    """

    def __init__(self, symbols: Int32Array, offsets: Int64Array, left_out: BoolArray | None = None) -> None:
        self.symbols = np.ascontiguousarray(symbols, dtype=np.int32)
        self.offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        self.words = _sorted(self.symbols, self.offsets)
        if left_out is not None:
            self.words = self.words[~left_out[self.words]]
        self.symbol, self.depth, self.end, self.first = kernels.build_trie(self.symbols, self.offsets, self.words)

    @property
    def n_nodes(self) -> int:
        """The number of nodes, including the root."""
        return len(self.symbol)

    def word(self, number: int) -> Int32Array:
        """Return the symbols of a word."""
        return self.symbols[self.offsets[number] : self.offsets[number + 1]]


def _sorted(symbols: Int32Array, offsets: Int64Array) -> Int64Array:
    """Return the numbers of the words in lexicographic order of their symbols, equal words in order of number."""
    # Big-endian bytes sort in the order of the numbers that they encode.
    width, code = (1, "u1") if symbols.max(initial=0) < 256 else (4, ">u4")
    buffer = symbols.astype(code).tobytes()
    bounds = (offsets * width).tolist()
    keys: Sequence[bytes] = [buffer[start:stop] for start, stop in pairwise(bounds)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
