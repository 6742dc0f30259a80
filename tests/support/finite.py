"""Finite languages: a list of words as a token automaton."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tokdfa.automata.alphabet import TokenAlphabet, Word
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.regex.trie import TokenTrie

__all__ = ["finite_language"]


def finite_language(words: Iterable[Word], symbols: str | bytes | Iterable[Word]) -> TokenDFA:
    """Return the minimal DFA of these words, read symbol by symbol.

    Parameters
    ----------
    words : iterable of words
        The words, in any order.
    symbols : str, bytes or sequence of words
        The base alphabet.

    Raises
    ------
    AlphabetError
        If a word has a symbol outside the base alphabet.

    Examples
    --------
    >>> finite_language(["the", "then", "hen"], "ehnt")
    <TokenDFA: 6 states (2 final), 7 transitions, 4 tokens>
    """
    alphabet = TokenAlphabet(symbols)
    spelled = [alphabet.base_tokenization(word) for word in words]
    offsets = np.zeros(len(spelled) + 1, dtype=np.int64)
    np.cumsum([len(word) for word in spelled], out=offsets[1:])
    letters = np.fromiter((symbol for word in spelled for symbol in word), dtype=np.int32, count=int(offsets[-1]))
    trie = TokenTrie(letters, offsets)
    n = trie.n_nodes
    # The nodes are in depth-first order: the parent of a node is the last node before it that is one level higher.
    parent = np.zeros(n, dtype=np.int64)
    last = [0] * (int(trie.depth.max()) + 1)
    for node, depth in enumerate(trie.depth.tolist()[1:], 1):
        parent[node] = last[depth - 1]
        last[depth] = node
    children = np.argsort(parent[1:], kind="stable") + 1
    begin = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(parent[1:], minlength=n), out=begin[1:])
    final = np.diff(trie.first) > 0
    return TokenDFA.from_arrays(
        alphabet, begin, trie.symbol[children].astype(np.int32), children.astype(np.int32), 0, final
    ).minimize()
