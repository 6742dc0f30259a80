"""The ids that are banned in a state of an automaton over bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array, Uint8Array, Uint32Array
from tokdfa.kernels.library import Struct, lib, writable

__all__ = ["ban_of", "mask_like", "step"]


def ban_of(
    table: Int32Array, column: Int32Array, alive: BoolArray, text: Uint8Array, offsets: Int64Array, trie: Any
) -> Struct:
    """Return what texts may have, over ids.

    Parameters
    ----------
    table : int32 array of shape (states, columns)
        Targets; state 0 is that of what is banned, and leads to itself.
    column : int32 array of 256 entries
    alive : bool array, one entry a state
        The states from which ids go on or may end; not state 0.
    text, offsets : uint8 and int64 arrays
        The spellings of all ids.
    trie : TokenTrie of :mod:`tokdfa.patterns.trie`
        Those of the ids that can be allowed.
    """
    return Struct(
        "tokdfa_ban", table=table, column=column, n_columns=table.shape[1], alive=alive, text=text, offsets=offsets,
        symbol=trie.symbol, depth=trie.depth, end=trie.end, first=trie.first, words=trie.words.astype(np.int32),
    )  # fmt: skip


def step(ban: Struct, state: int, id: int) -> int:
    """Return the state after an id, 0 if it is banned; also if there is no such state or id (within 32 bits)."""
    return int(lib.tokdfa_ban_step(ban.pointer, state, id))


def mask_like(ban: Struct, state: int, like: int, mask: Uint32Array) -> int:
    """Turn the mask of the state `like`, zeros for state 0, into that of `state`; return the number of nodes visited.

    The caller has checked the states; the mask has a bit for each id.
    """
    path = np.empty(2 * (int(ban.fields["depth"].max(initial=0)) + 1), dtype=np.int32)
    return int(lib.tokdfa_ban_mask(ban.pointer, state, like, writable(path, np.int32), writable(mask, np.uint32)))
