"""Trimming and minimizing explicit token DFAs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tokdfa.arrays import BoolArray, Int64Array
from tokdfa.automata.exploration import reached
from tokdfa.kernels.dfa import explicit as kernels

if TYPE_CHECKING:
    from tokdfa.automata.token_dfa import TokenDFA

__all__ = ["minimize_hopcroft", "reachable_states", "useful_states"]


def reachable_states(dfa: TokenDFA) -> BoolArray:
    """Return, for each state, whether some run from the initial state ends in it."""
    return reached(dfa.sources, dfa.targets, np.arange(dfa.n_states) == dfa.initial)


def useful_states(dfa: TokenDFA) -> BoolArray:
    """Return, for each state, whether an accepting run visits it."""
    return reached(dfa.targets, dfa.sources, dfa.final) & reachable_states(dfa)


def minimize_hopcroft(dfa: TokenDFA) -> TokenDFA:
    """Return the minimal trim DFA of the language of `dfa`.

    Its states are numbered in the order of a breadth-first search that takes tokens in ascending order, so the arrays
    are the same for every DFA of the language over the same alphabet.

    Notes
    -----
    Hopcroft's "process the smaller half" for partial transition functions, with the partitions of states and of
    transitions refining each other (A. Valmari, *Fast brief practical DFA minimization*, 2012): O(m log n) time
    for n states and m transitions.
    """
    trim = dfa.trim()
    if not trim.final.any():
        return trim
    block = kernels.coarsest_partition(trim.sources, trim.tokens, trim.targets, trim.final, len(trim.alphabet))
    _, representative = np.unique(block, return_index=True)
    offsets, index = _take_rows(trim.offsets, representative)
    targets = block[trim.targets[index]]
    order = kernels.breadth_first(offsets, targets, block[[trim.initial]])
    number = np.empty_like(order)
    number[order] = np.arange(len(order), dtype=np.int32)
    numbered_offsets, numbered = _take_rows(offsets, order)
    return trim.from_arrays(
        trim.alphabet,
        numbered_offsets,
        trim.tokens[index[numbered]],
        number[targets[numbered]],
        0,
        trim.final[representative[order]],
    )


def _take_rows(
    offsets: Int64Array, rows: np.ndarray[tuple[int], np.dtype[np.integer]]
) -> tuple[Int64Array, Int64Array]:
    """Return the offsets of the table made of these rows, and the places of its entries in the old table."""
    lengths = offsets[rows + 1] - offsets[rows]
    taken = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(lengths, out=taken[1:])
    return taken, np.arange(taken[-1], dtype=np.int64) + np.repeat(offsets[rows] - taken[:-1], lengths)
