"""The product of the pre-tokenizer, the rows of what may not follow, special tokens and a language of texts.

With it come the masks of what may follow, and what is banned, all with one bit an id.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array, Uint32Array
from tokdfa.kernels.library import Struct, call, lib, readable, writable

__all__ = [
    "MISSING",
    "MOST_SEARCHED",
    "NOWHERE",
    "NO_ROOM",
    "NO_ROOM_FOR_ANY",
    "NO_SUCH_PLACE",
    "TOO_MANY",
    "YES",
    "ban_of",
    "ban_step",
    "find_next",
    "followers_of",
    "forbid",
    "goes_on",
    "mask_like",
    "merge_nodes",
    "resize_search",
    "resize_slots",
    "room_of",
    "step",
    "target",
    "targets",
]

NOWHERE = 0
YES = 1
MISSING = -1
NO_ROOM = -2
TOO_MANY = -3
NO_SUCH_PLACE = -4
NO_ROOM_FOR_ANY = -5
"""What the functions return: no; yes; that the table of the pre-tokenizer lacks a cell, which is in the room; that the
room is too small; that a search did not come to an end; that a place is not one of the automaton; that the room of the
automaton of all texts is too small."""

MOST_SEARCHED = 1 << 17
"""The most places in which one search looks for the end of a text."""

_N_FRAME = 5
_N_NEAR = 4


def room_of(n_slots: int, n_searched: int, longest: int, n_texts: int) -> Struct:
    """Return room for what searches remember.

    `n_slots` is twice the number of places that it has room for, a power of two; `n_searched` the most places in a
    search, up to `MOST_SEARCHED`; `longest` the number of bytes of the longest word; `n_texts` the number of states of
    the texts.
    """
    path, trace = (np.zeros(longest + 1, dtype=np.int32) for _ in range(2))
    hint = np.full(1 << 14, -1, dtype=np.int32)
    near = np.full(_N_NEAR * n_texts, -2, dtype=np.int32)
    return Struct(
        "tokdfa_guide_room", **_slots(n_slots), **_search(n_searched), n_known=0, path=path, trace=trace,
        hint=hint, near=near, found_split=0, found_row=0, found_spelled=0, found_text=0, missing_core=0,
        missing_column=0,
    )  # fmt: skip


def resize_slots(room: Struct, n_slots: int, *, keep: bool) -> None:
    """Give a room another number of slots; what is known of places is kept, if it fits, or forgotten."""
    keys, values = room.fields["keys"], room.fields["values"]
    for field, array in _slots(n_slots).items():
        room.set(field, array)
    room.pointer.n_known = 0
    if keep:
        call(lib.tokdfa_guide_enter, room.pointer, keys, values, len(values))


def resize_search(room: Struct, n_searched: int) -> None:
    """Give a room another number of places for a search."""
    for field, array in _search(n_searched).items():
        room.set(field, array)


def _slots(n: int) -> dict[str, np.ndarray]:
    return {
        "keys": np.zeros(4 * n, dtype=np.int32),
        "values": np.zeros(n, dtype=np.uint8),
        "low": np.zeros(n, dtype=np.int32),
    }


def _search(n: int) -> dict[str, np.ndarray]:
    return {"trail": np.zeros(n, dtype=np.int32), "frames": np.zeros(_N_FRAME * n, dtype=np.int32)}


def target(guide: Struct, place: tuple[int, int, int, int], id: int) -> int:
    """Find the place after an id, whether or not a stream goes on from there; on `YES` it is in the room.

    Numbers out of range are `NO_SUCH_PLACE`; they must fit in 32 bits.
    """
    return int(lib.tokdfa_guide_target(guide.pointer, *place, id))


def targets(
    guide: Struct, split: int, spelled: int, text: int, ids: Int32Array
) -> tuple[int, tuple[Int32Array, Int32Array, Int32Array, Int32Array]]:
    """Find the states of the parts after ids, from the places that differ only in the row; return the status and them.

    Those of the pre-tokenizer if the row does not forbid the id, and if it does, 0 for nowhere; of the search for
    special tokens, -1 if one is found; and of the texts.
    """
    free, cut, spelled_after, text_after = found = tuple(np.zeros(len(ids), dtype=np.int32) for _ in range(4))
    status = call(lib.tokdfa_guide_targets, guide.pointer, split, spelled, text, ids, len(ids), out=found)
    return status, (free, cut, spelled_after, text_after)


def step(guide: Struct, place: tuple[int, int, int, int], id: int) -> int:
    """Find the place after an id, if a stream goes on from there; on `YES` it is in the room."""
    return int(lib.tokdfa_guide_step(guide.pointer, *place, id))


def goes_on(guide: Struct, place: tuple[int, int, int, int]) -> tuple[int]:
    """Return whether a stream goes on from a place, or ends there, as the only entry."""
    return (int(lib.tokdfa_guide_goes_on(guide.pointer, *place)),)


def find_next(
    guide: Struct, split: int, spelled: int, text: int, differing: Int32Array, n_words: int
) -> tuple[int, Uint32Array, Uint32Array]:
    """Find the ids that can come next in the places that differ only in the row: the status and two masks of `n_words`.

    `differing` are the ids after which the search for special tokens is in another state than from state 0; checked by
    the caller. The masks are of the ids after which a stream goes on if the row does not forbid them; and of those of
    them after which none does if it does.
    """
    masks = np.zeros((2, n_words), dtype=np.uint32)
    status = call(
        lib.tokdfa_guide_next, guide.pointer, split, spelled, text, differing, len(differing), out=(masks[0], masks[1])
    )
    return status, masks[0], masks[1]


def merge_nodes(
    column: Int32Array, end: Int32Array, is_dead: BoolArray
) -> tuple[Int32Array, Int32Array, Int32Array, Int32Array]:
    """Merge the nodes of a trie to which the same columns lead; none is kept beyond a column, of 256, that `is_dead`.

    `column` and `end` are those of the last symbol of each node, and the end of the nodes below it. Returns the new
    node of each, -1 for those not kept; and column, depth and end of the new nodes, in depth-first order.
    """
    n = len(column)
    node_of, following, stack, *merged = (np.empty(n, dtype=np.int32) for _ in range(6))
    n_merged = call(
        lib.tokdfa_merge_nodes, column, end, n, is_dead, len(is_dead), out=(node_of, following, stack, *merged)
    )
    columns, depths, ends = (array[:n_merged].copy() for array in merged)
    return node_of, columns, depths, ends


def ban_of(
    table: Int32Array, column: Int32Array, alive: BoolArray, text: Uint8Array, offsets: Int64Array, trie: Any
) -> Struct:
    """Return what texts may have, over ids.

    In `table`, of shape (states, columns), state 0 is that of what is banned, and leads to itself; `column` has those
    of the bytes. States from which ids go on or may end are `alive`, not state 0. The bytes of id i are
    ``text[offsets[i]:offsets[i + 1]]``; `trie`, a :class:`~tokdfa.regex.trie.TokenTrie`, has those of the ids that
    can be allowed.
    """
    return Struct(
        "tokdfa_ban", table=table, column=column, n_columns=table.shape[1], alive=alive, text=text, offsets=offsets,
        symbol=trie.symbol, depth=trie.depth, end=trie.end, first=trie.first, words=trie.words.astype(np.int32),
    )  # fmt: skip


def ban_step(ban: Struct, state: int, id: int) -> int:
    """Return the state after an id, 0 if it is banned; also if there is no such state or id (within 32 bits)."""
    return int(lib.tokdfa_ban_step(ban.pointer, state, id))


def mask_like(ban: Struct, state: int, like: int, mask: Uint32Array) -> int:
    """Turn the mask of the state `like`, zeros for state 0, into that of `state`; return the number of nodes visited.

    The caller has checked the states; the mask has a bit for each id.
    """
    path = np.empty(2 * (int(ban.fields["depth"].max(initial=0)) + 1), dtype=np.int32)
    return int(lib.tokdfa_ban_mask(ban.pointer, state, like, writable(path, np.int32), writable(mask, np.uint32)))


def followers_of(pointer: Int32Array, start: Int32Array, stop: Int32Array, id_at: Int32Array) -> Struct:
    """Return the rows of what may not follow, `id_at` being the id at each position, -1 for none.

    Row r forbids the positions ``start[i]`` to ``stop[i]`` for i from ``pointer[r]`` to ``pointer[r + 1]``, which
    ascend and do not overlap. Row 0 forbids nothing, row 1 all positions.
    """
    return Struct("tokdfa_followers", pointer=pointer, start=start, stop=stop, id_at=id_at)


def forbid(followers: Struct, row: int, fragile: Uint32Array, mask: Uint32Array) -> None:
    """Take the ids of `fragile` that a row forbids out of `mask`; both have one bit an id."""
    lib.tokdfa_forbid(followers.pointer, row, readable(fragile, np.uint32), writable(mask, np.uint32))
