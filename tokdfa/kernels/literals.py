"""The automaton that finds the words of a list."""

from __future__ import annotations

import numba as nb
import numpy as np

from tokdfa.kernels.types import INTS, Ints

__all__ = ["find_words"]

FLAGS = nb.types.Array(nb.boolean, 1, "C", readonly=True)


@nb.njit((INTS, INTS, INTS, INTS, nb.int64, nb.boolean), cache=True)
def find_words(
    column: Ints, depth: Ints, end: Ints, first: Ints, n_columns: int, leftmost: bool
) -> tuple[Ints, Ints, Ints]:
    """Complete the trie of some words to an automaton.

    Parameters
    ----------
    column : int32 array, one entry a node
        The column of the node's last symbol.
    depth, end, first : int32 arrays
        The trie; see `tokdfa.kernels.trie.build_trie`.
    n_columns : int
    leftmost : bool
        Whether the leftmost and longest matches are wanted: then the automaton goes to the sink, 0, where the last
        match that it has seen stands. Otherwise it finds them all.

    Returns
    -------
    table : int32 array
        The target of state q on column c is ``table[q * n_columns + c]``. State i + 1 is that of node i, and has read
        the word of that node last; 1 is the initial one.
    length : int32 array, one entry a state
        The length of the longest word that ends here, 0 for none.
    shorter : int32 array, one entry a state
        A state whose longest word is the next shorter one that ends here; 0 for none.

    Notes
    -----
    A. Aho, M. Corasick, *Efficient string matching*, 1975. For leftmost matches there is no falling back from a state
    whose word begins with a word of the list.
    """
    n_nodes = len(depth)
    table = np.zeros((n_nodes + 1) * n_columns, np.int32)
    length = np.zeros(n_nodes + 1, np.int32)
    shorter = np.zeros(n_nodes + 1, np.int32)
    fallback = np.zeros(n_nodes + 1, np.int32)
    settled = np.zeros(n_nodes + 1, np.bool_)
    queue = np.empty(n_nodes, np.int32)
    table[n_columns : 2 * n_columns] = 1
    queue[0] = 0
    tail = 1
    for head in range(n_nodes):
        node = queue[head]
        state = node + 1
        back = np.int64(fallback[state])
        is_word = node > 0 and first[node] < first[node + 1]
        settled[state] = settled[state] or (leftmost and is_word)
        if is_word:
            length[state] = depth[node]
            shorter[state] = back if length[back] > 0 else 0
        elif not settled[state]:
            length[state] = length[back]
            shorter[state] = shorter[back]
        if node > 0 and not settled[state]:
            for symbol in range(n_columns):
                table[state * n_columns + symbol] = table[back * n_columns + symbol]
        child = node + 1
        while child < end[node]:
            place = state * n_columns + column[child]
            fallback[child + 1] = table[place]
            settled[child + 1] = settled[state]
            table[place] = child + 1
            queue[tail] = child
            tail += 1
            child = end[child]
    return table, length, shorter
