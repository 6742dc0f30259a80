"""The trie of sorted words, level by level, so that all words are read at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tokdfa.arrays import Int32Array, Uint8Array

__all__ = ["Level", "trie_levels"]


class Level(NamedTuple):
    """The nodes of a trie at one depth, in the order of words.

    Parameters
    ----------
    byte : uint8 array
        The bytes that lead to them.
    word : int32 array
        The numbers of the words that end there, -1 for none.
    below : int32 array, one longer
        Where their children begin on the next level; those of the last one end at the last number.
    """

    byte: Uint8Array
    word: Int32Array
    below: Int32Array


def trie_levels(words: Sequence[bytes]) -> list[Level]:
    """Return the levels of the trie of words that ascend, none of them twice or empty; it takes time linear in them.

    Examples
    --------
    >>> from tokdfa.splices.trie import trie_levels
    >>> [(bytes(level.byte), level.word.tolist()) for level in trie_levels([b"a", b"ab", b"b"])]
    [(b'ab', [0, 2]), (b'b', [1])]
    """
    lengths = np.fromiter(map(len, words), dtype=np.int32, count=len(words))
    offsets = np.cumsum(lengths, dtype=np.int64) - lengths
    data = np.frombuffer(b"".join(words), dtype=np.uint8)
    node_of = np.zeros(len(words), dtype=np.int32)
    alive = np.arange(len(words), dtype=np.int32)
    levels: list[Level] = []
    depth = 0
    while len(alive):
        byte, above = data[offsets[alive] + depth], node_of[alive]
        is_new = np.append(True, (byte[1:] != byte[:-1]) | (above[1:] != above[:-1]))
        first = np.flatnonzero(is_new)
        node = np.cumsum(is_new, dtype=np.int32) - 1
        node_of[alive] = node
        depth += 1
        ends = lengths[alive] == depth
        word = np.full(len(first), -1, dtype=np.int32)
        word[node[ends]] = alive[ends]
        if levels:
            levels[-1].below[1:] = np.cumsum(np.bincount(above[first], minlength=len(levels[-1].byte)))
        levels.append(Level(byte[first], word, np.zeros(len(first) + 1, dtype=np.int32)))
        alive = alive[~ends]
    return levels
