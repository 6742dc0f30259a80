"""How words come about by merging, step by step."""

from __future__ import annotations

from typing import TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt

from tokdfa.kernels.merging import _slot
from tokdfa.kernels.types import INTS, LONGS, Ints, Longs

__all__ = ["derivations"]

TRACES = nb.types.Tuple((nb.int32[:, ::1], nb.boolean[::1]))  # type: ignore[no-untyped-call]
Flags: TypeAlias = npt.NDArray[np.bool_]


@nb.njit(TRACES(INTS, LONGS, LONGS, INTS, INTS), cache=True)
def derivations(symbols: Ints, offsets: Longs, keys: Longs, priority: Ints, product: Ints) -> tuple[Ints, Flags]:
    """Merge words to their ends, and tell of the last step of each, and whether priorities ever went down.

    Parameters
    ----------
    symbols, offsets : int32 and int64 arrays
        The symbols of word i are ``symbols[offsets[i]:offsets[i + 1]]``.
    keys, priority, product : arrays
        The pairs, of :func:`tokdfa.kernels.merging.pair_table`.

    Returns
    -------
    last : int32 array of shape (words, 4)
        How many tokens are left; the parts and the priority of the last merge, -1 if there was none.
    ascending : bool array
        Whether no merge was stronger than the one before it.
    """
    n_words = len(offsets) - 1
    last = np.full((n_words, 4), -1, np.int32)
    ascending = np.ones(n_words, np.bool_)
    longest = 0
    for word in range(n_words):
        longest = max(longest, offsets[word + 1] - offsets[word])
    tokens = np.empty(longest + 1, np.int32)
    for word in range(n_words):
        n = offsets[word + 1] - offsets[word]
        tokens[:n] = symbols[offsets[word] : offsets[word + 1]]
        while True:
            best, place, made = np.int32(0), -1, np.int32(0)
            for i in range(n - 1):
                key = (np.int64(tokens[i]) << 32) | np.int64(tokens[i + 1])
                slot = _slot(keys, key)
                if keys[slot] == key and (place < 0 or priority[slot] < best):
                    best, place, made = priority[slot], i, product[slot]
            if place < 0:
                break
            if best < last[word, 3]:
                ascending[word] = False
            last[word, 1], last[word, 2], last[word, 3] = tokens[place], tokens[place + 1], best
            tokens[place] = made
            for i in range(place + 1, n - 1):
                tokens[i] = tokens[i + 1]
            n -= 1
        last[word, 0] = n
    return last, ascending
