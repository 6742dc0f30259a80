"""Tokens as a trie, its nodes in depth-first order, and automata run over it."""

from __future__ import annotations

import numba as nb
import numpy as np

from tokdfa.kernels.types import INTS, LONGS, Ints, Longs

__all__ = ["build_trie", "token_effects", "tokens_from"]


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


@nb.njit(cache=True)
def _number(effects, known, buckets, n_effects, n_states):  # type: ignore[no-untyped-def]
    """Return the number of the last effect: that of an equal one before it, if there is one."""
    base = n_effects * n_states
    key = np.uint64(0x9E3779B97F4A7C15)
    for state in range(n_states):
        key = (key ^ np.uint64(effects[base + state])) * np.uint64(0xBF58476D1CE4E5B9)
        key ^= key >> np.uint64(29)
    bucket = np.int64((key ^ (key >> np.uint64(32))) & np.uint64(buckets - 1))
    while known[bucket] >= 0:
        other = np.int64(known[bucket]) * n_states
        same = True
        for state in range(n_states):
            if effects[other + state] != effects[base + state]:
                same = False
                break
        if same:
            return known[bucket]
        bucket = (bucket + 1) & (buckets - 1)
    known[bucket] = n_effects
    return n_effects


@nb.njit((INTS, nb.int64, INTS, INTS, INTS, nb.int64, nb.int64), cache=True)
def token_effects(
    table: Ints, n_columns: int, column: Ints, depth: Ints, first: Ints, last_column: int, max_effects: int
) -> tuple[Ints, Ints]:
    """Return what each word of the trie does to all states at once.

    An effect maps states to entries, and is composed of those of symbols; equal ones are shared, so that a symbol is
    applied to an effect only once, and what is left for a node of the trie is one look-up.

    Parameters
    ----------
    table : int32 array
        Entry ``table[q * n_columns + c]`` for state q and column c: twice the target, plus 1 for an event.
    column, depth, first : int32 arrays
        The trie; see `tokens_from`.
    last_column : int
        A column that is applied behind every word; -1 for none.
    max_effects : int
        When there are more, nothing is returned.

    Returns
    -------
    effect : int32 array, one entry a place in the order of words
        The number of the word's effect.
    effects : int32 array
        Entry ``effects[e * n_states + q]``: twice the state reached from q, plus 1 if there was an event on the way.
        Empty when there are too many.
    """
    n_states = len(table) // n_columns
    buckets = 16
    while buckets < 2 * (max_effects + 2):
        buckets *= 2
    known = np.full(buckets, -1, np.int32)
    effects = np.empty(16 * n_states, np.int32)
    following = np.full(16 * n_columns, -1, np.int32)
    for state in range(n_states):
        effects[state] = 2 * state
    _number(effects, known, buckets, 0, n_states)
    n_effects = 1
    longest = 0
    for node in range(len(depth)):
        longest = max(longest, depth[node])
    path = np.zeros(longest + 1, np.int32)
    effect = np.zeros(first[-1], np.int32)
    for node in range(len(depth)):
        level = depth[node]
        # The node's own symbol, then what is applied behind a word that ends here.
        for behind in range(2):
            if behind == 0:
                if level == 0:
                    continue
                before, symbol = path[level - 1], column[node]
            else:
                if last_column < 0 or first[node] == first[node + 1]:
                    continue
                before, symbol = path[level], last_column
            after = following[before * n_columns + symbol]
            if after < 0:
                if (n_effects + 1) * n_states > len(effects):
                    effects = np.concatenate((effects, np.empty_like(effects)))
                    following = np.concatenate((following, np.full(len(following), -1, np.int32)))
                for state in range(n_states):
                    entry = effects[before * n_states + state]
                    effects[n_effects * n_states + state] = (entry & 1) | table[
                        np.int64(entry >> 1) * n_columns + symbol
                    ]
                after = _number(effects, known, buckets, n_effects, n_states)
                if after == n_effects:
                    n_effects += 1
                    if n_effects > max_effects:
                        return effect, np.empty(0, np.int32)
                following[before * n_columns + symbol] = after
            if behind == 0:
                path[level] = after
            for place in range(first[node], first[node + 1]):
                effect[place] = after
    return effect, effects[: n_effects * n_states].copy()
