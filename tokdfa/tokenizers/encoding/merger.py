"""Tokenizing one piece after the other by merging, as the libraries do it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.kernels.merging.merging import inner_pairs, merge_pieces, pair_table
from tokdfa.tokenizers.encoding.symbols import Merges

# Pieces of this number of symbols are cut where possible before they are merged.
_LONG = 64


class Tokenized(NamedTuple):
    """The tokens of several pieces; piece i has ``tokens[offsets[i]:offsets[i + 1]]``."""

    offsets: Int64Array
    tokens: Int32Array


class Merger:
    """Merging by priority, ties going to the leftmost pair, until no pair is left, for any dictionary, proper or not.

    `merges` are all merging pairs; by default the rules of the dictionary.

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
        """Tokenize pieces: piece i has the symbols ``symbols[offsets[i]:offsets[i + 1]]``, given by their numbers."""
        lengths = np.diff(offsets)
        if lengths.max(initial=0) < _LONG:
            return Tokenized(*merge_pieces(symbols, offsets, self.table))
        # If no token has two symbols side by side, nothing merges across their boundary.
        codes = symbols[:-1].astype(np.int64) << 32 | symbols[1:]
        found = np.minimum(np.searchsorted(self.inner, codes), len(self.inner) - 1)
        is_bound = np.ones(len(symbols) + 1, dtype=np.bool_)
        is_bound[1:-1] = self.inner[found] != codes
        is_bound[offsets] = True
        bounds = np.flatnonzero(is_bound)
        ends, tokens = merge_pieces(symbols, bounds, self.table)
        return Tokenized(ends[np.searchsorted(bounds, offsets)], tokens)

    @cached_property
    def inner(self) -> Int64Array:
        """The pairs of symbols that are side by side within tokens, sorted; a sentinel comes last."""
        left, right, _, product = self.merges
        return np.append(inner_pairs(left, right, product), np.iinfo(np.int64).max)


RankedMerges: TypeAlias = tuple[Int32Array, Int32Array, Int32Array]


def ranked_merges(
    dictionary: Dictionary, merges: Merges | None, last_steps: Callable[[], Int32Array]
) -> RankedMerges | None:
    """Return merging pairs, the strongest first, such that all pairs of a token follow each other; None without.

    The arrays are the left parts, the right parts and the products. `last_steps` returns the last step in merging the
    word of each token, as :func:`tokdfa.kernels.merging.merging.derivations` does.

    Only one pair of each token ever applies. When two tokens side by side make t, the symbols below them have merged as
    they do alone, where nothing else is left to merge: it is the last pair in the merging of t alone. Of `a·b -> ab`,
    `b·c -> bc`, `ab·c -> abc`, `a·bc -> abc`, in this order, the last one never applies, since `abc` alone becomes
    `ab`, `c`. So the pairs of a token are as strong as that one; and where no pair of another token is between them,
    they stay as they are, whichever it is.
    """
    if merges is None:
        left, right, product = dictionary.left, dictionary.right, dictionary.product
    else:
        order = np.argsort(merges.priority, kind="stable")
        left, right, priority, product = (row[order] for row in merges)
        if ((product[1:] != product[:-1]) & (priority[1:] == priority[:-1])).any():
            return None
    is_made = np.zeros(product.max(initial=0) + 1, dtype=np.bool_)
    is_made[product] = True
    if np.count_nonzero(is_made) == np.count_nonzero(np.diff(product)) + (len(product) > 0):
        return left, right, product
    last = last_steps()
    made = np.flatnonzero((last[:, 0] == 1) & (last[:, 1] >= 0)).astype(np.int32)
    made = made[np.argsort(last[made, 3], kind="stable")]
    return np.ascontiguousarray(last[made, 1]), np.ascontiguousarray(last[made, 2]), made
