"""Explicit DFAs: breadth-first search, the coarsest partition, the first difference.

A DFA is given by rows of transitions: those of state p are ``tokens[offsets[p]:offsets[p + 1]]``, ascending, with the
targets in a parallel array.
"""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.kernels.library import Struct, check_memory, lib, readable, writable

__all__ = ["breadth_first", "coarsest_partition", "first_difference", "group"]


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
