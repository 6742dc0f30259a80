"""What tokens do to all states of an automaton at once."""

from __future__ import annotations

import numpy as np

from tokdfa.kernels.library import check_memory, lib, readable, writable
from tokdfa.kernels.types import Ints, Longs

__all__ = ["token_effects"]


def token_effects(
    table: Ints, n_columns: int, symbols: Ints, offsets: Longs, last: int, max_effects: int
) -> tuple[Ints, Ints]:
    """Return what each of some words does to all states at once.

    An effect maps states to entries. Equal effects are shared, and what a symbol makes of an effect is computed once:
    what is left for a symbol of a word is one look-up.

    Parameters
    ----------
    table : int32 array
        Entry ``table[q * n_columns + c]`` for state q and column c: four times the target, plus 1 for an event and 2
        for a remark.
    n_columns : int
    symbols, offsets : int32 and int64 arrays
        The columns of the symbols of word i are ``symbols[offsets[i]:offsets[i + 1]]``.
    last : int
        A column that is applied after every word; -1 for none.
    max_effects : int
        When there are more, nothing is returned.

    Returns
    -------
    effect : int32 array, one entry a word
        The number of the word's effect.
    effects : int32 array
        Entry ``effects[e * n_states + q]``: four times the state reached from q, plus 1 if there was an event on the
        way, plus 2 if there was a remark on the first symbol. Empty when there are too many.
    """
    n_states = len(table) // n_columns
    effect: Ints = np.zeros(len(offsets) - 1, dtype=np.int32)
    # What is not written of this costs no memory.
    effects: Ints = np.empty((max_effects + 1) * n_states, dtype=np.int32)
    n_effects = check_memory(
        lib.tokdfa_token_effects(
            readable(table, np.int32),
            n_states,
            n_columns,
            readable(symbols, np.int32),
            readable(offsets, np.int64),
            len(offsets) - 1,
            last,
            max_effects,
            writable(effect, np.int32),
            writable(effects, np.int32),
        )
    )
    return effect, effects[: n_effects * n_states].copy()
