"""Explicit DFAs: breadth-first search, the coarsest partition, the first difference; tries, and automata over them.

A DFA is given by rows of transitions: state p has the tokens ``tokens[offsets[p]:offsets[p + 1]]``, ascending, with the
targets in a parallel array.
"""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.kernels.library import Struct, call, check_memory, lib


def breadth_first(offsets: Int64Array, targets: Int32Array, starts: Int32Array) -> Int32Array:
    """Return the states reached from `starts` (distinct states), in breadth-first order: O(n + m)."""
    n_states = len(offsets) - 1
    order: Int32Array = np.empty(n_states, dtype=np.int32)
    seen = np.zeros(n_states, dtype=np.bool_)
    found = call(lib.tokdfa_breadth_first, offsets, targets, starts, len(starts), out=(seen, order))
    return order[:found].copy()


def group(keys: Int32Array, n_keys: int) -> tuple[Int64Array, Int32Array]:
    """Return offsets and positions such that the positions with key k are ``positions[offsets[k]:offsets[k + 1]]``."""
    offsets: Int64Array = np.empty(n_keys + 2, dtype=np.int64)
    positions: Int32Array = np.empty(len(keys), dtype=np.int32)
    call(lib.tokdfa_group, keys, len(keys), n_keys, out=(offsets, positions))
    return offsets[:-1].copy(), positions


def coarsest_partition(
    sources: Int32Array, tokens: Int32Array, targets: Int32Array, final: BoolArray, n_tokens: int
) -> Int32Array:
    """Return the class of each state; equal languages share one: O(m log n). Every state leads to a final one.

    A. Valmari, *Fast brief practical DFA minimization*, 2012.
    """
    dfa = Struct("tokdfa_columns", sources=sources, tokens=tokens, targets=targets, final=final, n_tokens=n_tokens)
    block: Int32Array = np.empty(len(final), dtype=np.int32)
    check_memory(call(lib.tokdfa_coarsest_partition, dfa.pointer, out=(block,)))
    return block


def first_difference(
    offsets: Int64Array, tokens: Int32Array, targets: Int32Array, final: BoolArray, p: int, q: int
) -> tuple[bool, Int32Array]:
    """Return whether the languages of states `p` and `q` differ, and a shortest token sequence by which: O(m α(n)).

    The last state of the automaton is a sink without transitions, not final.
    """
    dfa = Struct("tokdfa_rows", offsets=offsets, tokens=tokens, targets=targets, final=final)
    path: Int32Array = np.empty(len(final), dtype=np.int32)
    length = check_memory(call(lib.tokdfa_first_difference, dfa.pointer, p, q, out=(path,)))
    return length >= 0, path[: max(length, 0)].copy()


def build_trie(
    symbols: Int32Array, offsets: Int64Array, order: Int64Array
) -> tuple[Int32Array, Int32Array, Int32Array, Int32Array]:
    """Build the trie of the words ``symbols[offsets[i]:offsets[i + 1]]`` for i in `order`, lexicographically.

    Symbols are not negative. Returns four int32 arrays, one entry per node; node 0 is the root. `symbol` (-1 for the
    root) and `depth` are the last symbol of a node's word and its length; the nodes below node i are i + 1 to
    ``end[i]``; the words that end at node i are ``order[first[i]:first[i + 1]]``, so `first` has one entry more.
    """
    size = 1 + int((offsets[order + 1] - offsets[order]).sum())
    symbol, depth, end, first = (np.empty(size + 1, dtype=np.int32) for _ in range(4))
    n = check_memory(call(lib.tokdfa_build_trie, symbols, offsets, order, len(order), out=(symbol, depth, end, first)))
    return symbol[:n].copy(), depth[:n].copy(), end[:n].copy(), first[: n + 1].copy()


def trie_of(column: Int32Array, depth: Int32Array, end: Int32Array, first: Int32Array) -> Struct:
    """Return a trie of :func:`build_trie` to run an automaton over; `column` is by node, for its last symbol."""
    return Struct("tokdfa_trie", column=column, depth=depth, end=end, first=first, longest=int(depth.max(initial=0)))


def tokens_from(trie: Struct, table: Int32Array, n_columns: int, state: int) -> tuple[Int32Array, Int32Array]:
    """Run an automaton from a state over a trie of :func:`trie_of`: the ranks of words it can read, and the states.

    The target of state q on column c is ``table[q * n_columns + c]``; state 0 is the sink. The results are in the order
    of the words.
    """
    n_words = int(trie.fields["first"][-1])
    ranks, targets = np.empty(n_words, dtype=np.int32), np.empty(n_words, dtype=np.int32)
    found = check_memory(call(lib.tokdfa_tokens_from, trie.pointer, table, n_columns, state, out=(ranks, targets)))
    return ranks[:found].copy(), targets[:found].copy()


def find_words(trie: Struct, n_columns: int, leftmost: bool) -> tuple[Int32Array, Int32Array, Int32Array]:
    """Complete the trie of some words, of :func:`trie_of`, to an automaton that finds them.

    If `leftmost`, it finds the leftmost-longest matches, and goes to the sink, 0, after the last one that it has seen;
    a state has no failure transition if its word begins with a word of the list. Otherwise it finds all matches. State
    i + 1 belongs to node i: the node's word was read last. State 1 is the initial state.

    Returns `table`, in which ``table[q * n_columns + c]`` is the target of state q on column c; and for each state the
    `length` of the longest word that ends there, 0 for none, and the state of the next `shorter` one, 0 for none. (A.
    Aho, M. Corasick, *Efficient string matching*, 1975.)
    """
    n_states = len(trie.fields["depth"]) + 1
    table = np.zeros(n_states * n_columns, dtype=np.int32)
    length, shorter = np.zeros(n_states, dtype=np.int32), np.zeros(n_states, dtype=np.int32)
    check_memory(call(lib.tokdfa_find_words, trie.pointer, n_columns, leftmost, out=(table, length, shorter)))
    return table, length, shorter
