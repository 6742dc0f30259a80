"""Special tokens that the text of ids spells: a search for all of them at once, token by token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tokdfa.arrays import Int32Array
from tokdfa.kernels.dfa import explicit as kernels
from tokdfa.patterns.trie import TokenTrie

__all__ = ["WHOLE", "SpelledSpecials"]


WHOLE = -1
"""The state in which a text has a whole special token."""


class SpelledSpecials:
    """The automaton that finds the contents of special tokens in a text, and the effect of each id on it.

    State 0 is that of a text that ends with the beginning of no content.

    Parameters
    ----------
    contents : sequence of bytes
        No content is within another one.
    trie : TokenTrie
        The words of the ids over bytes.
    n_ids : int

    Attributes
    ----------
    from_start : int32 array, one entry an id
        The state after each id, from state 0; `WHOLE` if a content is within it.
    n_states : int
    table : int32 array
        ``table[256 * state + byte]`` is the state after a byte.

    Notes
    -----
    A. Aho, M. Corasick, *Efficient string matching*, 1975.
    """

    def __init__(self, contents: Sequence[bytes], trie: TokenTrie, n_ids: int) -> None:
        self._trie = trie
        self.from_start: Int32Array = np.zeros(n_ids, dtype=np.int32)
        self._differing: dict[int, Int32Array] = {0: np.zeros(0, dtype=np.int32)}
        children: list[dict[int, int]] = [{}]
        ends: set[int] = set()
        for content in contents:
            node = 0
            for byte in content:
                if byte not in children[node]:
                    children[node][byte] = len(children)
                    children.append({})
                node = children[node][byte]
            ends.add(node)
        # Row 0 is the sink, which is reached on a whole content.
        table = np.zeros((len(children) + 1, 256), dtype=np.int32)
        table[1] = 1
        fallback = [0] * len(children)
        order = [0]
        for node in order:  # grows during the loop
            if node:
                table[node + 1] = table[fallback[node] + 1]
            for byte, child in children[node].items():
                fallback[child] = int(table[node + 1, byte]) - 1 if node else 0
                table[node + 1, byte] = 0 if child in ends else child + 1
                order.append(child)
        self.n_states = len(children)
        self.table: Int32Array = (table - 1)[1:].reshape(-1)
        if contents:
            struct = kernels.trie_of(np.maximum(trie.symbol, 0).astype(np.int32), trie.depth, trie.end, trie.first)
            places, targets = kernels.tokens_from(struct, table.reshape(-1), 256, 1)
            self.from_start[trie.words] = WHOLE
            self.from_start[trie.words[places]] = targets - 1

    def differing(self, state: int) -> Int32Array:
        """Return the ids that lead to another state than from state 0."""
        known = self._differing.get(state)
        if known is None:
            known = self._differing[state] = np.array(self._find(state), dtype=np.int32)
        return known

    def _find(self, state: int) -> list[int]:
        trie, table = self._trie, self.table.tolist()
        found: list[int] = []
        stack = [(0, state, 0)]
        while stack:
            node, here, start = stack.pop()
            child = node + 1
            while child < trie.end[node]:
                byte = int(trie.symbol[child])
                after = WHOLE if here == WHOLE else table[256 * here + byte]
                plain = WHOLE if start == WHOLE else table[256 * start + byte]
                if after != plain:
                    found += trie.words[trie.first[child] : trie.first[child + 1]].tolist()
                    stack.append((child, after, plain))
                child = int(trie.end[child])
        return found
