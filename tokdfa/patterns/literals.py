"""Lists of words as searching automata."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tokdfa.arrays import Int32Array
from tokdfa.errors import LimitExceededError
from tokdfa.kernels.dfa import trie as kernels
from tokdfa.patterns.trie import TokenTrie
from tokdfa.patterns.utf8 import BORDER, EDGE, ByteDFA

__all__ = ["WordDFA", "find_words", "without_hidden"]

DEFAULT_MAX_ENTRIES = 1 << 28


@dataclass(frozen=True)
class WordDFA:
    """An automaton that finds words, with the lengths of those it finds.

    Attributes
    ----------
    dfa : ByteDFA
    length : int32 array, one entry per state
        The length of the longest word that ends here; 0 for none.
    shorter : int32 array, one entry per state
        A state whose longest word is the next shorter one that ends here; 0 for none.
    """

    dfa: ByteDFA
    length: Int32Array
    shorter: Int32Array


def find_words(words: Sequence[bytes], *, leftmost: bool) -> WordDFA:
    """Return the automaton that finds the words of a list in a text.

    Parameters
    ----------
    words : sequence of bytes
        Non-empty words.
    leftmost : bool
        Whether to find the leftmost-longest matches without overlaps; otherwise all matches.

    Raises
    ------
    LimitExceededError
        If its table would be too large.
    """
    text = np.frombuffer(b"".join(words), dtype=np.uint8)
    offsets = np.zeros(len(words) + 1, dtype=np.int64)
    np.cumsum([len(word) for word in words], out=offsets[1:])
    trie = TokenTrie(text.astype(np.int32), offsets)
    used = np.unique(text)
    # All bytes in no word share a column. The edge of the text has one too; after it everything starts again.
    column = np.zeros(BORDER + 1, dtype=np.int32)
    column[used] = np.arange(1, len(used) + 1)
    n_columns = len(used) + 1
    if (trie.n_nodes + 1) * n_columns > DEFAULT_MAX_ENTRIES:
        raise LimitExceededError("the words make too large an automaton", value=trie.n_nodes, hint="search for fewer")
    of_columns = kernels.trie_of(column[trie.symbol], trie.depth, trie.end, trie.first)
    table, length, shorter = kernels.find_words(of_columns, n_columns, leftmost)
    nothing = np.zeros_like(length)
    delay = np.where(length > 0, np.int32(0), np.int32(-1))
    dfa = ByteDFA(
        table.reshape(-1, n_columns), column, delay, nothing + np.int32(1), nothing,
        nothing - np.int32(1), nothing, nothing, np.array([1], dtype=np.int32), np.zeros(len(length), dtype=np.bool_),
    )  # fmt: skip
    assert column[EDGE] == 0
    return WordDFA(dfa, length, shorter)


def without_hidden(words: Sequence[bytes]) -> list[bytes]:
    """Return the words that can be found when the first word of the list that matches is preferred to the others.

    A word that begins with an earlier one is never found. Of the others that match, the longest comes first.
    """
    kept: dict[bytes, None] = {}
    for word in words:
        if not any(word[:length] in kept for length in range(1, len(word) + 1)):
            kept[word] = None
    return list(kept)
