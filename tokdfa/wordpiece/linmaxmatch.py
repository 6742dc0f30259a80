"""LinMaxMatch: longest match first, in time linear in the length of the word."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from itertools import chain
from typing import NamedTuple

import numpy as np

from tokdfa.arrays import Int32Array
from tokdfa.display import Displayed
from tokdfa.errors import LimitExceededError
from tokdfa.kernels.wordpiece.matching import match_word, pack_trie, word_trie
from tokdfa.wordpiece.trie import FailureTrie
from tokdfa.wordpiece.vocabulary import WordPieceVocabulary

__all__ = ["LinMaxMatch", "PackedTrie"]


_ASCII = 128


class PackedTrie(NamedTuple):
    """A failure trie as arrays, in the form that the kernels of :mod:`tokdfa.kernels.wordpiece` read.

    `symbols` numbers the characters. ASCII characters have their codes as numbers. The others of the trie follow, with
    their code points in `points`, ascending. Every character that the trie lacks has the number `foreign`, the largest.
    """

    cells: Int32Array
    pops: Int32Array
    points: Int32Array
    symbols: Mapping[str, int]
    foreign: int

    @classmethod
    def of(cls, trie: FailureTrie) -> PackedTrie:
        """Pack `trie`."""
        used = sorted({symbol for children in trie.children for symbol in children if ord(symbol) >= _ASCII})
        symbols = {chr(code): code for code in range(_ASCII)}
        symbols.update((symbol, _ASCII + i) for i, symbol in enumerate(used))
        foreign = len(symbols)
        edges = [sorted((symbols[symbol], child) for symbol, child in children.items()) for children in trie.children]
        n_edges = np.fromiter(map(len, edges), np.int32, len(edges))
        pointer = np.concatenate(([0], np.cumsum(n_edges))).astype(np.int32)
        flat = np.fromiter(chain.from_iterable(chain.from_iterable(edges)), np.int32, 2 * int(pointer[-1]))
        if len(trie) * (foreign + 1) >= 2**62 or len(trie) > 2**28:
            raise LimitExceededError("the vocabulary has too many symbols", value=len(trie), hint="2²⁸ can be packed")
        cells, place = pack_trie(pointer, flat[::2].copy(), flat[1::2].copy(), foreign + 1)

        links = cells.reshape(-1, 4)
        failure = np.array(trie.failure)
        links[place, 2] = np.where(failure < 0, -1, place[failure])
        entry = np.array(trie.entry)
        links[place[entry >= 0], 3] = entry[entry >= 0]
        pops: list[int] = []
        for node, popped in enumerate(trie.pops):
            if popped and trie.entry[node] < 0:
                links[place[node], 3] = -1 - len(pops)
                pops += [len(popped), *chain.from_iterable(popped)]
        points = np.fromiter(map(ord, used), np.int32, len(used))
        return cls(cells, np.array(pops, np.int32), points, symbols, foreign)


class LinMaxMatch(Displayed):
    """A tokenizer of single words by LinMaxMatch.

    It gives the same ids as :func:`tokdfa.wordpiece.max_match`, in linear time.

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
        self.trie = FailureTrie.of(vocabulary)
        packed = PackedTrie.of(self.trie)
        self._packed = word_trie(packed.cells, packed.pops, packed.points)
        self._pointer = self._packed.pointer
        self._limit = sys.maxsize if vocabulary.longest_word is None else vocabulary.longest_word

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
        return f"<LinMaxMatch of {len(self.vocabulary)} entries, {len(self.trie)} nodes>"
