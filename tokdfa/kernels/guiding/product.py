"""The product of the pre-tokenizer, the rows of forbidden ids, special tokens and a language of texts.

With it come the masks of the ids that may follow, and banned texts. A mask has one bit an id. ``api.h`` explains the
structs. A state is four numbers, the states of the parts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array, Uint32Array
from tokdfa.kernels.library import Struct, call, lib, readable, writable

NOWHERE, YES, MISSING, TABLE_FULL, TOO_MANY, NO_SUCH_STATE, TABLE_OF_ANY_FULL = 0, 1, -1, -2, -3, -4, -5
"""The results: no; yes; the table of the pre-tokenizer lacks a cell, which is in the cache; the cache is too small;
a search did not come to an end; not a state of the automaton; the cache of the automaton of all texts is too small."""

MOST_SEARCHED = 1 << 17
"""The most states in which one search looks for the end of a text."""

MOST_IDS = 1 << 20
"""The largest limit of a number of ids."""

MOST_NEARER = 1 << 18
"""The most groups of ids that are kept because they lead nearer to an end of the texts, for all states together."""

MOST_TRIED = 200
"""The most nodes of the trie of columns that are tried from a state before the ids are read backwards instead."""

MOST_LATE = 1 << 12
"""The most ids of masks that are kept because a limit may forbid them."""

N_VERDICT_SETS = 1 << 10
"""The number of sets of four verdicts on states that differ only in the last id, a power of two."""

MOST_WAYS = 48
"""The most ids that are looked for that lead on from a state unless the last id forbids them."""

MOST_FORBIDDING = 64
"""The most ids for which all rows that forbid them are kept as bits."""

NO_LIMIT = -1

_N_FRAME = 5
_N_ATTEMPT = 12
_N_BEGINNINGS = 258
_N_BEGINNING_LISTS = 64
_N_VERDICT = 109
_N_VERDICT_PLACES = 4
_N_NEAR = 4
_N_ENTRY = 3
_N_STEP_BACK = 4


def cache_of(n_slots: int, n_searched: int, longest: int, n_texts: int) -> Struct:
    """Return a cache of searches: slots for half as many states, a power of two; states a search; bytes a word."""
    path, trace = (np.zeros(longest + 1, dtype=np.int32) for _ in range(2))
    hint = np.full(1 << 14, -1, dtype=np.int32)
    near = np.full(_N_NEAR * n_texts, -2, dtype=np.int32)
    least_ids, nearer = np.zeros(n_texts, dtype=np.int32), np.full(n_texts, -2, dtype=np.int32)
    entries = np.empty(_N_ENTRY * MOST_NEARER, dtype=np.int32)
    verdicts = np.zeros(_N_VERDICT * _N_VERDICT_PLACES * N_VERDICT_SETS, dtype=np.int32)
    beginnings = np.zeros(_N_BEGINNINGS * _N_BEGINNING_LISTS, dtype=np.int32)
    return Struct(
        "tokdfa_guide_cache", **_slots(n_slots), **_search(n_searched), n_known=0, path=path, trace=trace,
        most_searched=MOST_SEARCHED, verdicts=verdicts, n_verdict_sets=N_VERDICT_SETS, most_ways=MOST_WAYS,
        beginnings=beginnings, n_beginnings=_N_BEGINNING_LISTS, hint=hint, near=near, least_ids=least_ids,
        nearer=nearer, nearer_entries=entries,
        below=np.zeros(0, dtype=np.uint64), drops=np.zeros(n_texts, dtype=np.uint64),
        visited=np.zeros(n_texts, dtype=np.int32), queue=np.empty(n_texts, dtype=np.int32),
        n_nearer_entries=MOST_NEARER, n_nearer_used=1, found_split=0, found_row=0,
        found_spelled=0, found_text=0, missing_core=0, missing_column=0,
    )  # fmt: skip


def resize_slots(cache: Struct, n_slots: int, *, keep: bool) -> None:
    """Give a cache another number of slots; its states are kept, if they fit, or forgotten."""
    keys, values, enough = (cache.fields[field] for field in ("keys", "values", "enough"))
    for field, array in _slots(n_slots).items():
        cache.set(field, array)
    cache.pointer.n_known = 0
    if keep:
        call(lib.tokdfa_guide_enter, cache.pointer, keys, values, enough, len(values))


def resize_search(cache: Struct, n_searched: int) -> None:
    """Give a cache another number of states for a search."""
    for field, array in _search(n_searched).items():
        cache.set(field, array)


def _slots(n: int) -> dict[str, np.ndarray]:
    return {
        "keys": np.zeros(4 * n, dtype=np.int32),
        "values": np.zeros(n, dtype=np.uint8),
        "low": np.zeros(n, dtype=np.int32),
        "needed": np.zeros(n, dtype=np.int32),
        "enough": np.zeros(n, dtype=np.int32),
    }


def _search(n: int) -> dict[str, np.ndarray]:
    sizes = {"trail": n, "frames": _N_FRAME * n, "attempts": _N_ATTEMPT * n}
    return {field: np.zeros(size, dtype=np.int32) for field, size in sizes.items()}


def target(guide: Struct, state: tuple[int, int, int, int], id: int) -> int:
    """Find the state after an id, whether or not a stream can continue from there; on `YES` it is in the cache.

    Numbers out of range are `NO_SUCH_STATE`; they must fit in 32 bits.
    """
    return int(lib.tokdfa_guide_target(guide.pointer, *state, id))


def targets(
    guide: Struct, split: int, spelled: int, text: int, ids: Int32Array
) -> tuple[int, tuple[Int32Array, Int32Array, Int32Array, Int32Array]]:
    """Find the states of the parts after ids, for any row; return the status and ``tokdfa_guide_targets_job``."""
    free, cut, spelled_after, text_after = (np.zeros(len(ids), dtype=np.int32) for _ in range(4))
    job = Struct("tokdfa_guide_targets_job", ids=ids, free=free, cut=cut, spelled=spelled_after, text=text_after)
    status = int(lib.tokdfa_guide_targets(guide.pointer, split, spelled, text, job.pointer))
    return status, (free, cut, spelled_after, text_after)


def step(guide: Struct, state: tuple[int, int, int, int], id: int) -> int:
    """Find the state after an id, if a stream can continue from there; on `YES` it is in the cache."""
    return int(lib.tokdfa_guide_step(guide.pointer, *state, id))


def goes_on(guide: Struct, state: tuple[int, int, int, int]) -> tuple[int]:
    """Return whether a stream can continue from a state, or end there, as the only entry."""
    return (int(lib.tokdfa_guide_goes_on(guide.pointer, *state)),)


def within(guide: Struct, state: tuple[int, int, int, int], limit: int) -> tuple[int]:
    """Return whether a stream can end within `limit` ids after a state, at most `MOST_IDS`, as the only entry."""
    return (int(lib.tokdfa_guide_within(guide.pointer, *state, limit)),)


def find_fewest(
    cache: Struct, texts: Struct, column: Int32Array, end: Int32Array, is_id: BoolArray, most_tried: int
) -> None:
    """Find the fewest ids up to an end from each state of the texts, canonical or not, which the cache then has.

    The trie of the ids read backwards has for each node its last column, its end, and whether it has ids.
    """
    n, longest = len(texts.fields["final"]), int(texts.fields["node_depth"].max())
    n_cells = texts.fields["table"].size + texts.fields["special_target"].size
    memory = {"height": len(end), "begin": n_cells + 1, "before": n_cells, "path": _N_STEP_BACK * (longest + 1)}
    memory |= dict.fromkeys(("gap", "known", "listed", "reached"), n)
    below = np.empty(len(texts.fields["node_depth"]), dtype=np.uint64)
    job = Struct(
        "tokdfa_fewest_job", texts=texts, column=column, end=end, is_id=is_id, most_tried=most_tried,
        least=cache.fields["least_ids"], below=below,
        **{field: np.empty(size, dtype=np.int32) for field, size in memory.items()},
    )  # fmt: skip
    lib.tokdfa_fewest_ids(job.pointer)
    cache.set("below", below)


class Masks(NamedTuple):
    """The next ids of all states that differ only in the row."""

    allowed: Uint32Array  # One bit an id: those with which a stream continues if the row does not forbid them
    fragile: Uint32Array  # One bit an id: the `allowed` ids with which no stream continues if the row forbids them
    # Ids that have other bits, perhaps, if streams must end within a limit after them below `enough`; and a
    # limit with which the bits of all others are these.
    late: Int32Array
    enough: Int32Array
    floor: int
    most: int  # A limit with which no bits differ


def find_next(
    guide: Struct, split: int, spelled: int, text: int, limit: int, ids: Int32Array, of: Masks | int, most_late: int
) -> tuple[int, Masks]:
    """Find the ids that can come next, for any row; return the status, and the masks.

    With a limit, at most `MOST_IDS`, the stream must be able to end within that many ids after the next one. `ids`,
    checked, are those after which the scan of the text is in another state than from state 0. `of` is the number of
    words of a mask; with masks, only the bits of `ids` are found, and the others are theirs. Without a limit, up to
    `most_late` ids are noted that a limit may forbid.
    """
    masks = np.zeros((2, of), dtype=np.uint32) if isinstance(of, int) else np.stack(of[:2])
    late, enough = (np.empty(most_late if limit == NO_LIMIT else 0, dtype=np.int32) for _ in range(2))
    job = Struct(
        "tokdfa_guide_masks_job", limit=limit, ids=ids, allowed=masks[0], fragile=masks[1], late=late, enough=enough,
        n_noted=0, floor=0,
    )  # fmt: skip
    find = lib.tokdfa_guide_next if isinstance(of, int) else lib.tokdfa_guide_next_of
    status = int(find(guide.pointer, split, spelled, text, job.pointer))
    if limit != NO_LIMIT:
        return status, Masks(masks[0], masks[1], late, enough, limit, limit)
    late, enough, floor = late[: job.pointer.n_noted].copy(), enough[: job.pointer.n_noted].copy(), job.pointer.floor
    return status, Masks(masks[0], masks[1], late, enough, floor, int(enough.max(initial=floor)))


def merge_nodes(
    column: Int32Array, end: Int32Array, is_dead: BoolArray
) -> tuple[Int32Array, Int32Array, Int32Array, Int32Array]:
    """Merge the nodes of a trie to which the same columns lead; none is kept beyond a column, of 256, that `is_dead`.

    Returns the new node of each, -1 for those not kept; and column, depth and end of the new nodes, depth first.
    """
    n = len(column)
    node_of, following, stack, *merged = (np.empty(n, dtype=np.int32) for _ in range(6))
    job = Struct(
        "tokdfa_merge_job", column=column, end=end, is_dead=is_dead, node_of=node_of, following=following, stack=stack,
        merged_column=merged[0], merged_depth=merged[1], merged_end=merged[2],
    )  # fmt: skip
    n_merged = int(lib.tokdfa_merge_nodes(job.pointer))
    columns, depths, ends = (array[:n_merged].copy() for array in merged)
    return node_of, columns, depths, ends


def ban_of(
    table: Int32Array, column: Int32Array, alive: BoolArray, text: Uint8Array, offsets: Int64Array, trie: Any
) -> Struct:
    """Return the automaton of allowed texts; `trie`, a :class:`~tokdfa.regex.trie.TokenTrie`, has the ids to allow."""
    return Struct(
        "tokdfa_ban", table=table, column=column, n_columns=table.shape[1], alive=alive, text=text, offsets=offsets,
        symbol=trie.symbol, depth=trie.depth, end=trie.end, first=trie.first, words=trie.words.astype(np.int32),
    )  # fmt: skip


def ban_step(ban: Struct, state: int, id: int) -> int:
    """Return the state after an id, 0 if it is banned; also if the state or the id (within 32 bits) does not exist."""
    return int(lib.tokdfa_ban_step(ban.pointer, state, id))


def mask_like(ban: Struct, state: int, like: int, mask: Uint32Array) -> int:
    """Turn the mask of state `like`, zeros for state 0, into the mask of `state`; return the number of nodes visited.

    The caller has checked the states; the mask has a bit for each id.
    """
    path = np.empty(2 * (int(ban.fields["depth"].max(initial=0)) + 1), dtype=np.int32)
    return int(lib.tokdfa_ban_mask(ban.pointer, state, like, writable(path, np.int32), writable(mask, np.uint32)))


def followers_of(pointer: Int32Array, start: Int32Array, stop: Int32Array, id_at: Int32Array) -> Struct:
    """Return the rows of the ids that may not follow."""
    return Struct("tokdfa_followers", pointer=pointer, start=start, stop=stop, id_at=id_at)


def forbidding_of(n_rows: int, n_positions: int) -> Struct:
    """Return the bits of the rows that forbid an id, for ids to be found."""
    n_words = -(-n_rows // 32)
    return Struct(
        "tokdfa_forbidding", of_position=np.zeros(n_positions, dtype=np.int32), n_words=n_words, n_room=MOST_FORBIDDING,
        bits=np.zeros(MOST_FORBIDDING * n_words, dtype=np.uint32), n_used=0,
    )  # fmt: skip


def forbid(followers: Struct, row: int, fragile: Uint32Array, mask: Uint32Array) -> None:
    """Take the ids of `fragile` that a row forbids out of `mask`; both have one bit an id."""
    lib.tokdfa_forbid(followers.pointer, row, readable(fragile, np.uint32), writable(mask, np.uint32))
