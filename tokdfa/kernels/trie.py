"""Tokens as a trie, its nodes in depth-first order, and an automaton run over it."""

from __future__ import annotations

import numba as nb
import numpy as np

from tokdfa.kernels.types import INTS, LONGS, Ints, Longs

__all__ = ["build_trie", "tokens_from"]


@nb.njit((INTS, LONGS, LONGS), cache=True)
def build_trie(symbols: Ints, offsets: Longs, order: Longs) -> tuple[Ints, Ints, Ints, Ints]:
    """Build the trie of some words.

    Parameters
    ----------
    symbols, offsets : int32 and int64 arrays
        Word i is ``symbols[offsets[i]:offsets[i + 1]]``; symbols are not negative.
    order : int64 array
        The words wanted, in lexicographic order.

    Returns
    -------
    symbol, depth : int32 arrays, one entry a node
        The last symbol of a node's word and its length. Node 0 is the root, with symbol -1.
    end : int32 array, one entry a node
        The nodes below node i are i + 1 to ``end[i]``.
    first : int32 array, one entry a node and one more
        The words that end at node i are ``order[first[i]:first[i + 1]]``.
    """
    longest = 0
    size = 1
    for word in order:
        length = offsets[word + 1] - offsets[word]
        longest = max(longest, length)
        size += length
    symbol = np.empty(size, np.int32)
    depth = np.empty(size, np.int32)
    end = np.empty(size, np.int32)
    first = np.empty(size + 1, np.int32)
    path = np.zeros(longest + 1, np.int32)  # The nodes on the way to the last word.
    symbol[0], depth[0], first[0] = -1, 0, 0
    nodes = 1
    height = 0
    for place in range(len(order)):
        begin = offsets[order[place]]
        length = offsets[order[place] + 1] - begin
        common = 0
        while common < min(height, length) and symbol[path[common + 1]] == symbols[begin + common]:
            common += 1
        for level in range(common + 1, height + 1):
            end[path[level]] = nodes
        for level in range(common + 1, length + 1):
            symbol[nodes] = symbols[begin + level - 1]
            depth[nodes] = level
            first[nodes] = place
            path[level] = nodes
            nodes += 1
        height = length
    for level in range(height + 1):
        end[path[level]] = nodes
    first[nodes] = len(order)
    return symbol[:nodes].copy(), depth[:nodes].copy(), end[:nodes].copy(), first[: nodes + 1].copy()


@nb.njit((INTS, nb.int64, nb.int32, INTS, INTS, INTS, INTS), cache=True)
def tokens_from(
    table: Ints, n_columns: int, state: int, column: Ints, depth: Ints, end: Ints, first: Ints
) -> tuple[Ints, Ints]:
    """Run an automaton over the trie from a state and return the words that it can read.

    Parameters
    ----------
    table : int32 array
        The target of state q on column c is ``table[q * n_columns + c]``; state 0 is the sink.
    state : int
        Where to start.
    column : int32 array, one entry a node
        The column of the node's symbol.
    depth, end, first : int32 arrays
        The trie; see `build_trie`.

    Returns
    -------
    places, targets : int32 arrays
        The places in the order of the words, and the states reached.
    """
    longest = 0
    for node in range(len(depth)):
        longest = max(longest, depth[node])
    path = np.empty(longest + 1, np.int32)
    path[0] = state
    places = np.empty(64, np.int32)
    targets = np.empty(64, np.int32)
    found = 0
    node = 0
    while node < len(depth):
        level = depth[node]
        if level > 0:
            path[level] = table[np.int64(path[level - 1]) * n_columns + column[node]]
            if path[level] == 0:
                node = end[node]
                continue
        for place in range(first[node], first[node + 1]):
            if found == len(places):
                places = np.concatenate((places, np.empty_like(places)))
                targets = np.concatenate((targets, np.empty_like(targets)))
            places[found] = place
            targets[found] = path[level]
            found += 1
        node += 1
    return places[:found].copy(), targets[:found].copy()
