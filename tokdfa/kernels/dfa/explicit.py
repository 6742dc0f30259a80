"""Explicit DFAs: breadth-first search, the coarsest partition, the first difference; tries, and automata over them.

A DFA is given by rows of transitions: those of state p are ``tokens[offsets[p]:offsets[p + 1]]``, ascending, with the
targets in a parallel array.
"""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.kernels.library import Struct, check_memory, lib, readable, writable

__all__ = [
    "breadth_first",
    "build_trie",
    "coarsest_partition",
    "find_words",
    "first_difference",
    "group",
    "tokens_from",
    "trie_of",
]


def breadth_first(offsets: Int64Array, targets: Int32Array, starts: Int32Array) -> Int32Array:
    """Return the states reached from `starts` (distinct states), in breadth-first order: O(n + m)."""
    n_states = len(offsets) - 1
    order: Int32Array = np.empty(n_states, dtype=np.int32)
    seen = np.zeros(n_states, dtype=np.bool_)
    found = lib.tokdfa_breadth_first(
        readable(offsets, np.int64),
        readable(targets, np.int32),
        readable(starts, np.int32),
        len(starts),
        writable(seen, np.bool_),
        writable(order, np.int32),
    )
    return order[:found].copy()


def group(keys: Int32Array, n_keys: int) -> tuple[Int64Array, Int32Array]:
    """Return offsets and positions such that the positions with key k are ``positions[offsets[k]:offsets[k + 1]]``."""
    offsets: Int64Array = np.empty(n_keys + 2, dtype=np.int64)
    positions: Int32Array = np.empty(len(keys), dtype=np.int32)
    lib.tokdfa_group(
        readable(keys, np.int32), len(keys), n_keys, writable(offsets, np.int64), writable(positions, np.int32)
    )
    return offsets[:-1].copy(), positions


def coarsest_partition(
    sources: Int32Array, tokens: Int32Array, targets: Int32Array, final: BoolArray, n_tokens: int
) -> Int32Array:
    """Return the number of each state's class of states with equal languages: O(m log n).

    Every state must lead to a final one.

    Notes
    -----
    A. Valmari, *Fast brief practical DFA minimization*, 2012.
    """
    dfa = Struct("tokdfa_columns", sources=sources, tokens=tokens, targets=targets, final=final, n_tokens=n_tokens)
    block: Int32Array = np.empty(len(final), dtype=np.int32)
    check_memory(lib.tokdfa_coarsest_partition(dfa.pointer, writable(block, np.int32)))
    return block


def first_difference(
    offsets: Int64Array, tokens: Int32Array, targets: Int32Array, final: BoolArray, p: int, q: int
) -> tuple[bool, Int32Array]:
    """Return whether the languages of states `p` and `q` differ, and a shortest token sequence by which: O(m α(n)).

    The last state of the automaton is a sink without transitions, not final.
    """
    dfa = Struct("tokdfa_rows", offsets=offsets, tokens=tokens, targets=targets, final=final)
    path: Int32Array = np.empty(len(final), dtype=np.int32)
    length = check_memory(lib.tokdfa_first_difference(dfa.pointer, p, q, writable(path, np.int32)))
    return length >= 0, path[: max(length, 0)].copy()


def build_trie(
    symbols: Int32Array, offsets: Int64Array, order: Int64Array
) -> tuple[Int32Array, Int32Array, Int32Array, Int32Array]:
    """Build the trie of some words.

    Parameters
    ----------
    symbols, offsets : int32 and int64 arrays
        Word i is ``symbols[offsets[i]:offsets[i + 1]]``; symbols are not negative.
    order : int64 array
        The numbers of the words for the trie, in lexicographic order.

    Returns
    -------
    symbol, depth : int32 arrays, one entry per node
        The last symbol of a node's word and its length. Node 0 is the root, with symbol -1.
    end : int32 array, one entry per node
        The nodes below node i are i + 1 to ``end[i]``.
    first : int32 array, one entry per node and one more
        The words that end at node i are ``order[first[i]:first[i + 1]]``.
    """
    size = 1 + int((offsets[order + 1] - offsets[order]).sum())
    symbol, depth, end, first = (np.empty(size + 1, dtype=np.int32) for _ in range(4))
    n = check_memory(
        lib.tokdfa_build_trie(
            readable(symbols, np.int32),
            readable(offsets, np.int64),
            readable(order, np.int64),
            len(order),
            *(writable(array, np.int32) for array in (symbol, depth, end, first)),
        )
    )
    return symbol[:n].copy(), depth[:n].copy(), end[:n].copy(), first[: n + 1].copy()


def trie_of(column: Int32Array, depth: Int32Array, end: Int32Array, first: Int32Array) -> Struct:
    """Return a trie over which an automaton can be run.

    Parameters
    ----------
    column : int32 array, one entry per node
        The automaton's column of the node's last symbol.
    depth, end, first : int32 arrays
        Of :func:`build_trie`.
    """
    return Struct("tokdfa_trie", column=column, depth=depth, end=end, first=first, longest=int(depth.max(initial=0)))


def tokens_from(trie: Struct, table: Int32Array, n_columns: int, state: int) -> tuple[Int32Array, Int32Array]:
    """Run an automaton over the trie from a state and return the words that it can read.

    Parameters
    ----------
    trie : Struct
        Of :func:`trie_of`.
    table : int32 array
        The target of state q on column c is ``table[q * n_columns + c]``; state 0 is the sink.
    n_columns : int
    state : int
        Where to start.

    Returns
    -------
    places, targets : int32 arrays
        The places in the order of the words, and the states reached.
    """
    n_words = int(trie.fields["first"][-1])
    places, targets = np.empty(n_words, dtype=np.int32), np.empty(n_words, dtype=np.int32)
    found = check_memory(
        lib.tokdfa_tokens_from(
            trie.pointer,
            readable(table, np.int32),
            n_columns,
            state,
            writable(places, np.int32),
            writable(targets, np.int32),
        )
    )
    return places[:found].copy(), targets[:found].copy()


def find_words(trie: Struct, n_columns: int, leftmost: bool) -> tuple[Int32Array, Int32Array, Int32Array]:
    """Complete the trie of some words to an automaton.

    Parameters
    ----------
    trie : Struct
        Of :func:`trie_of`.
    n_columns : int
    leftmost : bool
        Whether to find the leftmost-longest matches: then the automaton goes to the sink, 0, after the last match that
        it has seen. Otherwise it finds all matches.

    Returns
    -------
    table : int32 array
        The target of state q on column c is ``table[q * n_columns + c]``. State i + 1 belongs to node i, whose word was
        read last; state 1 is the initial state.
    length : int32 array, one entry per state
        The length of the longest word that ends here, 0 for none.
    shorter : int32 array, one entry per state
        A state whose longest word is the next shorter one that ends here; 0 for none.

    Notes
    -----
    A. Aho, M. Corasick, *Efficient string matching*, 1975. For leftmost matches, a state whose word begins with a word
    of the list has no failure transition.
    """
    n_states = len(trie.fields["depth"]) + 1
    table = np.zeros(n_states * n_columns, dtype=np.int32)
    length, shorter = np.zeros(n_states, dtype=np.int32), np.zeros(n_states, dtype=np.int32)
    check_memory(
        lib.tokdfa_find_words(
            trie.pointer,
            n_columns,
            leftmost,
            *(writable(array, np.int32) for array in (table, length, shorter)),
        )
    )
    return table, length, shorter
