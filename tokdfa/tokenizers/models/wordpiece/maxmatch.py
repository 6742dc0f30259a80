"""Longest match first, from left to right: by definition, in quadratic time, and LinMaxMatch, in linear time.

`max_match` is the oracle, and shares no code with the other one.
"""

from __future__ import annotations

import sys
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import Int32Array
from tokdfa.base.suggestions import wrong_argument
from tokdfa.base.verdict import Displayed
from tokdfa.kernels.wordpiece.matching import build_trie, match_word, word_trie
from tokdfa.tokenizers.models.wordpiece.codes import ASCII
from tokdfa.tokenizers.models.wordpiece.trie import FailureTrie
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary
from tokdfa.tokenizers.models.wordpiece.words import Words

__all__ = ["LinMaxMatch", "PackedTrie", "max_match"]


def max_match(vocabulary: WordPieceVocabulary, word: str) -> list[int]:
    """Tokenize one word by taking the longest match at each offset.

    Parameters
    ----------
    vocabulary : WordPieceVocabulary
        The entries, the prefix, the unknown token and the length limit.
    word : str
        A word, which is used unchanged: it is neither normalized nor split.

    Returns
    -------
    list of int
        The ids. If nothing matches at some offset or the word is too long, the unknown token alone. No ids for the
        empty word.

    Raises
    ------
    AlphabetError
        If the word has no tokenization and the vocabulary has no unknown token.

    Notes
    -----
    *Fast WordPiece Tokenization*, section 3; BERT's WordpieceTokenizer. The number of candidates is quadratic in the
    length of the word. Every candidate is hashed, so the time counted in symbols is cubic.

    Examples
    --------
    >>> vocabulary = tokdfa.WordPieceVocabulary(["[UNK]", "a", "ab", "##b", "##c"])
    >>> vocabulary.spell(tokdfa.max_match(vocabulary, "abbc"))
    ['ab', '##b', '##c']
    """
    if not isinstance(vocabulary, WordPieceVocabulary):
        raise wrong_argument(
            vocabulary,
            "a vocabulary",
            "tokdfa.max_match(vocabulary, word)",
            swapped=isinstance(word, WordPieceVocabulary),
        )
    if vocabulary.longest_word is not None and len(word) > vocabulary.longest_word:
        return [vocabulary.unknown_word(word)]
    ids = []
    start = 0
    while start < len(word):
        for stop in range(len(word), start, -1):
            piece = word[start:stop]
            number = vocabulary.id((vocabulary.opening if start == 0 else vocabulary.prefix) + piece)
            if number is not None:
                ids.append(number)
                start = stop
                break
        else:
            return [vocabulary.unknown_word(word)]
    return ids


class PackedTrie(NamedTuple):
    """A failure trie as arrays, in the form that the kernels of :mod:`tokdfa.kernels.wordpiece` read.

    ASCII characters have their codes as symbol numbers. The others of the trie follow, with their code points in
    `points`, ascending. Every character that the trie lacks has the number after these. `n_nodes` counts the nodes,
    both roots included.
    """

    cells: Int32Array
    pops: Int32Array
    points: Int32Array
    n_nodes: int

    @classmethod
    def of(cls, beginnings: Words, continuations: Words) -> PackedTrie:
        """Return the trie of the words with which a word may begin and continue."""
        codes = np.concatenate((beginnings.codes, continuations.codes))
        points = np.unique(codes[codes >= ASCII])
        symbols = codes.copy()
        symbols[codes >= ASCII] = ASCII + np.searchsorted(points, codes[codes >= ASCII])
        offsets = np.concatenate((beginnings.offsets, continuations.offsets[1:] + len(beginnings.codes)))
        ids = np.concatenate((beginnings.ids, continuations.ids))
        built = build_trie(symbols, offsets, ids, len(beginnings.ids), ASCII + len(points) + 1)
        return cls(built.cells, built.pops, points, built.n_nodes)


class LinMaxMatch(Displayed):
    """A tokenizer of single words by LinMaxMatch.

    It gives the same ids as :func:`tokdfa.max_match`, in linear time.

    Parameters
    ----------
    vocabulary : WordPieceVocabulary
        The entries, the prefix, the unknown token and the length limit.

    Notes
    -----
    *Fast WordPiece Tokenization*, EMNLP 2021, algorithms 1 and 2. The trie is laid out as a double array.

    Examples
    --------
    >>> vocabulary = tokdfa.WordPieceVocabulary(["[UNK]", "a", "ab", "##b", "##c"])
    >>> tokdfa.LinMaxMatch(vocabulary).tokenize("abbc")
    [2, 3, 4]
    """

    def __init__(self, vocabulary: WordPieceVocabulary) -> None:
        self.vocabulary = vocabulary
        packed = PackedTrie.of(*vocabulary.words)
        self._packed = word_trie(packed.cells, packed.pops, packed.points)
        self._pointer = self._packed.pointer
        self._n_nodes = packed.n_nodes
        self._limit = sys.maxsize if vocabulary.longest_word is None else vocabulary.longest_word

    @cached_property
    def trie(self) -> FailureTrie:
        """The trie that is laid out."""
        return FailureTrie.of(self.vocabulary)

    def __reduce__(self) -> tuple[type[LinMaxMatch], tuple[object, ...]]:
        return LinMaxMatch, (self.vocabulary,)

    def tokenize(self, word: str) -> list[int]:
        """Return the ids of one word: the unknown token alone if it has no tokenization, no ids if it is empty.

        Raises
        ------
        AlphabetError
            If the word has no tokenization and the vocabulary has no unknown token.
        """
        ids = match_word(self._pointer, word, self._limit)
        if ids is None:
            return [self.vocabulary.unknown_word(word)] if word else []
        return ids

    def __repr__(self) -> str:
        return f"<LinMaxMatch of {len(self.vocabulary)} entries, {self._n_nodes} nodes>"
