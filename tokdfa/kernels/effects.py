"""What tokens do to all states of an automaton at once."""

from __future__ import annotations

import numba as nb
import numpy as np

from tokdfa.kernels.types import INTS, LONGS, Ints, Longs

__all__ = ["token_effects"]


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


@nb.njit((INTS, nb.int64, INTS, LONGS, nb.int64, nb.int64), cache=True)
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
    symbols, offsets : int32 and int64 arrays
        The columns of the symbols of word i are ``symbols[offsets[i]:offsets[i + 1]]``.
    last : int
        A column that is applied behind every word; -1 for none.
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
    buckets = 16
    while buckets < 2 * (max_effects + 2):
        buckets *= 2
    known = np.full(buckets, -1, np.int32)
    effects = np.empty(16 * n_states, np.int32)
    following = np.full(16 * n_columns, -1, np.int32)
    for state in range(n_states):
        effects[state] = 4 * state
    # Effect 0 is that of reading nothing. It is no one's equal, so that what follows it is known to come first.
    n_effects = 1
    effect = np.zeros(len(offsets) - 1, np.int32)
    for word in range(len(offsets) - 1):
        current = 0
        end = offsets[word + 1] + (last >= 0)
        for place in range(offsets[word], end):
            symbol = symbols[place] if place < offsets[word + 1] else last
            after = int(following[current * n_columns + symbol])
            if after < 0:
                if (n_effects + 1) * n_states > len(effects):
                    effects = np.concatenate((effects, np.empty_like(effects)))
                if n_effects * n_columns == len(following):
                    following = np.concatenate((following, np.full(len(following), -1, np.int32)))
                for state in range(n_states):
                    entry = effects[current * n_states + state]
                    following_entry = table[np.int64(entry >> 2) * n_columns + symbol]
                    if current > 0:
                        following_entry = (following_entry & ~2) | (entry & 3)
                    effects[n_effects * n_states + state] = following_entry
                after = _number(effects, known, buckets, n_effects, n_states)
                if after == n_effects:
                    n_effects += 1
                    if n_effects > max_effects:
                        return effect, np.empty(0, np.int32)
                following[current * n_columns + symbol] = after
            current = after
        effect[word] = current
    return effect, effects[: n_effects * n_states].copy()
