"""Walking ids through the machine of a pre-tokenizer and the pair test.

The machine is a table: a row for each state, a column for each class of ids that do the same to it. Most borders of
tokens are certain to be borders of pieces, or the pair test has nothing to say there; the table has a mark for the
others. So a block of ids is first walked as if every pair were allowed, in several lanes side by side, for such a walk
is a chain of look-ups; the marked places are collected without a branch and looked at afterwards. Where a pair is not
allowed after all, or a lane began in a wrong state, the walk is repeated from there until it meets the first one again.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt

from tokdfa.kernels.fold import forbidding_state
from tokdfa.kernels.merging import _slot
from tokdfa.kernels.packed import kernel
from tokdfa.kernels.pairs import ALONE, BLOCK_SHIFT, BLOCK_WORDS, CUT, NO_TOKEN, WORD_SHIFT, WORDS, Words
from tokdfa.kernels.types import INTS, LONGS, Ints, Longs

__all__ = ["ALARM", "DONE", "LANE", "LOOK", "ROOM", "SIZE_SHIFT", "UNKNOWN", "UNSURE", "walk"]

Numbers: TypeAlias = npt.NDArray[np.uint32]

NUMBERS = nb.types.Array(nb.uint32, 1, "C", readonly=True)
RESULT = nb.types.Tuple((nb.int64, nb.int64, nb.int64, nb.int64))  # type: ignore[no-untyped-call]
SCRATCH = nb.types.Array(nb.uint32, 1, "C")

LANE = 1024
LANES = 4
BLOCK = LANE * LANES
ROOM = 2 * BLOCK
SHORTEST = 256
WARM = 6

# What an entry of the table has beside the row that it leads to, which is shifted by two bits. Row 0 is the end of
# every walk: nothing canonical goes on so, or, with UNKNOWN, that is not worked out yet.
LOOK = 1
UNKNOWN = 2
SIZE_SHIFT = 16

DONE = 0
ALARM = 1
UNSURE = 2


@nb.njit(inline="always")
def _forbidden(left, right, lookup, blocks, bits, tokens, pairs, made, birth, head, tail):  # type: ignore[no-untyped-def]
    """Tell whether the pair test forbids id `right` behind id `left`: by the table if there is one."""
    if len(blocks) > 0:
        entry = lookup[right]
        column = entry & 0xFFFFFFFF
        block = np.int64(blocks[(lookup[left] >> 32) + (column >> BLOCK_SHIFT)])
        word = bits[block * BLOCK_WORDS + ((column >> WORD_SHIFT) & (BLOCK_WORDS - 1))]
        return (word >> np.uint64(column & 63)) & np.uint64(1) != 0
    u, v = tokens[left], tokens[right]
    if u == ALONE or v in (ALONE, NO_TOKEN):
        return True
    if u == CUT or v == CUT:
        return False
    return forbidding_state(pairs, made, birth, head, tail, u, v, len(pairs)) > 0


@nb.njit(inline="always")
def _is_doubtful(ids, place, doubt_keys, doubt_range, doubt_bounds, doubt_ids):  # type: ignore[no-untyped-def]
    """Tell whether a doubtful sequence ends in id `place`."""
    key = (np.int64(ids[place - 1]) << 32) | np.int64(ids[place])
    slot = _slot(doubt_keys, key)
    if doubt_keys[slot] != key:
        return False
    for k in range(doubt_range[2 * slot], doubt_range[2 * slot + 1]):
        low, high = np.int64(doubt_bounds[k]), np.int64(doubt_bounds[k + 1])
        begin = place - 1 - (high - low)
        same = begin >= 0
        for i in range(low, high):
            same = same and np.int64(ids[begin + i - low]) == np.int64(doubt_ids[i])
        if same:
            return True
    return False


@nb.njit(inline="always")
def _spells(ids, place, first, last, node_at, children, text, offsets):  # type: ignore[no-untyped-def]
    """Tell whether the text that ends in id `place` spells a special token.

    From `first` to `last` `node_at` has the nodes of the tree of the specials, read backwards, that are reached on what
    the id has of them.
    """
    for k in range(first, last):
        node = np.int64(node_at[k])
        at = place - 1
        while at >= 0 and node > 0:
            id = np.int64(ids[at])
            byte = offsets[id + 1] - 1
            while byte >= offsets[id] and node > 0:
                node = np.int64(children[node * 256 + np.int64(text[byte])])
                byte -= 1
            at -= 1
        if node < 0:
            return True
    return False


@nb.njit(inline="always")
def _look(  # type: ignore[no-untyped-def]
    ids, place, row, info, table, other, lookup, blocks, bits, tokens, pairs, made, birth, head, tail,
    trigger, node_at, children, text, offsets, doubt_keys, doubt_range, doubt_bounds, doubt_ids,
):  # fmt: skip
    """Return the row behind the id at a marked place, and DONE; or 0 and why there is none."""
    id = np.uint64(ids[place])
    number = np.uint64(info[id] & 0xFFFF)
    entry = table[np.uint64(row) + number]
    status = DONE
    if entry >> 2 > 0:
        if trigger[number + 1] > trigger[number] and _spells(
            ids, place, trigger[number], trigger[number + 1], node_at, children, text, offsets
        ):
            return np.uint32(0), ALARM
        left = np.uint64(ids[max(place - 1, 0)])
        otherwise = other[np.uint64(row) + number]
        if place > 0 and _forbidden(left, id, lookup, blocks, bits, tokens, pairs, made, birth, head, tail):
            entry = otherwise
        elif (
            len(doubt_keys) > 0 and place > 0 and entry >> 2 != otherwise >> 2
            and _is_doubtful(ids, place, doubt_keys, doubt_range, doubt_bounds, doubt_ids)
        ):  # fmt: skip
            return np.uint32(0), ALARM
    if entry >> 2 == 0:
        status = UNSURE if entry & UNKNOWN else ALARM
    return entry >> 2, status


@nb.njit(inline="always")
def _careful(  # type: ignore[no-untyped-def]
    ids, at, end, row, info, table, other, lookup, blocks, bits, tokens, pairs, made, birth, head, tail,
    trigger, node_at, children, text, offsets, doubt_keys, doubt_range, doubt_bounds, doubt_ids,
    entries, base,
):  # fmt: skip
    """Walk from id `at` on and look at every mark at once, until `end` or, unless `base` is -1, a known entry."""
    status = DONE
    while at < end:
        entry = table[np.uint64(row) + np.uint64(info[np.uint64(ids[at])] & 0xFFFF)]
        following = entry >> 2
        if entry & LOOK:
            following, status = _look(
                ids, at, row, info, table, other, lookup, blocks, bits, tokens, pairs, made, birth,
                head, tail, trigger, node_at, children, text, offsets, doubt_keys, doubt_range, doubt_bounds,
                doubt_ids,
            )  # fmt: skip
            if status != DONE:
                break
        row = np.int64(following)
        at += 1
        if base >= 0 and entries[at - 1 - base] >> 2 == following:
            break
    return status, at, row


@nb.njit(inline="always")
def _speculate(ids, begin, lane, row, info, table, scratch):  # type: ignore[no-untyped-def]
    """Walk through the lanes side by side as if all pairs were allowed; note the entries, and the marked places."""
    r0 = r1 = r2 = r3 = np.uint64(row)
    o0, size = np.uint64(begin), np.uint64(lane)
    o1, o2, o3 = o0 + size, o0 + size + size, o0 + size + size + size
    if lane > 0:
        # What was some ids before hardly ever matters.
        for k in range(size - np.uint64(WARM), size):
            r1 = np.uint64(table[r1 + np.uint64(info[np.uint64(ids[o0 + k])] & 0xFFFF)] >> 2)
            r2 = np.uint64(table[r2 + np.uint64(info[np.uint64(ids[o1 + k])] & 0xFFFF)] >> 2)
            r3 = np.uint64(table[r3 + np.uint64(info[np.uint64(ids[o2 + k])] & 0xFFFF)] >> 2)
    guess1, guess2, guess3 = np.int64(r1), np.int64(r2), np.int64(r3)
    n0 = n1 = n2 = n3 = np.uint64(0)
    p0, p1, p2, p3 = np.uint64(BLOCK), np.uint64(BLOCK + LANE), np.uint64(BLOCK + 2 * LANE), np.uint64(BLOCK + 3 * LANE)
    total = np.uint64(0)
    for k in range(size):
        i0 = info[np.uint64(ids[o0 + k])]
        i1 = info[np.uint64(ids[o1 + k])]
        i2 = info[np.uint64(ids[o2 + k])]
        i3 = info[np.uint64(ids[o3 + k])]
        e0 = table[r0 + np.uint64(i0 & 0xFFFF)]
        e1 = table[r1 + np.uint64(i1 & 0xFFFF)]
        e2 = table[r2 + np.uint64(i2 & 0xFFFF)]
        e3 = table[r3 + np.uint64(i3 & 0xFFFF)]
        scratch[k] = e0
        scratch[size + k] = e1
        scratch[size + size + k] = e2
        scratch[size + size + size + k] = e3
        scratch[p0 + n0] = k
        scratch[p1 + n1] = k
        scratch[p2 + n2] = k
        scratch[p3 + n3] = k
        n0 += np.uint64(e0 & 1)
        n1 += np.uint64(e1 & 1)
        n2 += np.uint64(e2 & 1)
        n3 += np.uint64(e3 & 1)
        r0, r1, r2, r3 = np.uint64(e0 >> 2), np.uint64(e1 >> 2), np.uint64(e2 >> 2), np.uint64(e3 >> 2)
        total += np.uint64(i0 >> SIZE_SHIFT) + np.uint64(i1 >> SIZE_SHIFT)
        total += np.uint64(i2 >> SIZE_SHIFT) + np.uint64(i3 >> SIZE_SHIFT)
    return (
        np.int64(total), guess1, guess2, guess3, np.int64(n0), np.int64(n1), np.int64(n2), np.int64(n3),
    )  # fmt: skip


@kernel(
    RESULT(
        NUMBERS, nb.int64, nb.int64,
        NUMBERS, NUMBERS, NUMBERS, INTS, INTS, INTS,
        LONGS, INTS, WORDS, INTS, LONGS, INTS, INTS, INTS, INTS,
        nb.types.Array(nb.uint8, 1, "C", readonly=True), LONGS, LONGS, INTS, INTS, INTS,
        SCRATCH,
    )
)  # fmt: skip
def walk(
    ids: Numbers, begin: Any, row: Any,
    info: Numbers, table: Numbers, other: Numbers, trigger: Ints, node_at: Ints, children: Ints,
    lookup: Longs, blocks: Ints, bits: Words,
    tokens: Ints, pairs: Longs, made: Ints, birth: Ints, head: Ints, tail: Ints,
    text: npt.NDArray[np.uint8], offsets: Longs,
    doubt_keys: Longs, doubt_range: Ints, doubt_bounds: Ints, doubt_ids: Ints,
    scratch: Numbers,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Walk on through ids, as far as nothing speaks against them.

    Parameters
    ----------
    ids : uint32 array
        In range.
    begin : int
        The id to begin with; those before it have been walked over.
    row : int
        Where the row of the state to begin in begins.
    info : uint32 array, one entry an id
        Its class, plus 2 ** SIZE_SHIFT times the number of its bytes.
    table, other : uint32 arrays
        For row r and class c at ``r + c`` the entries if the pair is allowed, and if it is not.
    trigger, node_at, children : int32 arrays
        For class c the nodes ``node_at[trigger[c]:trigger[c + 1]]`` of the tree of all special tokens read backwards,
        and what follows node n on byte b, ``children[256 * n + b]``: 0 for nothing, -1 for a whole special.
    lookup, blocks, bits : arrays
        The table of the pair test, as :func:`tokdfa.kernels.pairs.mark_by_table` takes it; empty `blocks` for none.
    tokens, pairs, made, birth, head, tail : arrays
        As :func:`tokdfa.kernels.pairs.mark_by_walk` takes them.
    text, offsets : uint8 and int64 arrays
        The bytes of id i are ``text[offsets[i]:offsets[i + 1]]``.
    doubt_keys, doubt_range, doubt_bounds, doubt_ids : arrays
        Sequences of ids that call for a closer look; see :class:`tokdfa.validation.doubts.Doubts`.
    scratch : uint32 array of ROOM entries

    Returns
    -------
    status : int
        DONE; ALARM at an id that is not canonical there, or ends the spelling of a special token or something doubtful;
        UNSURE at one of
        which the table does not know.
    at : int
        The id; the length of `ids` if done.
    row : int
        The state before that id.
    size : int
        The number of bytes of the ids from `begin` up to it.
    """
    size: Any = 0
    n = len(ids)
    while begin < n:
        end = min(begin + BLOCK, n)
        lane = (end - begin) // LANES if end - begin >= SHORTEST else 0
        end = begin + lane * LANES if lane > 0 else end
        total, guess1, guess2, guess3, n0, n1, n2, n3 = _speculate(ids, begin, lane, row, info, table, scratch)
        at = begin
        if lane == 0:
            status, at, row = _careful(
                ids, at, end, row, info, table, other, lookup, blocks, bits, tokens, pairs, made, birth,
                head, tail, trigger, node_at, children, text, offsets, doubt_keys, doubt_range,
                doubt_bounds, doubt_ids, scratch, np.int64(-1),
            )  # fmt: skip
            for k in range(begin, at):
                total += np.int64(info[np.uint64(ids[k])] >> SIZE_SHIFT)
            if status != DONE:
                return status, at, row, size + total
        for number in range(LANES if lane > 0 else 0):
            guess = (row, guess1, guess2, guess3)[number]
            n_places = (n0, n1, n2, n3)[number]
            low, high = begin + number * lane, begin + (number + 1) * lane
            status = DONE
            if at == low and row != guess:
                status, at, row = _careful(
                    ids, at, end, row, info, table, other, lookup, blocks, bits, tokens, pairs, made,
                    birth, head, tail, trigger, node_at, children, text, offsets, doubt_keys, doubt_range,
                doubt_bounds, doubt_ids, scratch, begin,
                )  # fmt: skip
            # Between places that are looked at the walk was right; `at` and `row` tell how far and where it is.
            k = 0
            while k < n_places and status == DONE:
                place = low + np.int64(scratch[BLOCK + number * LANE + k])
                k += 1
                if place < at:
                    continue
                if place > low:
                    row = np.int64(scratch[place - 1 - begin] >> 2)
                entry, status = _look(
                    ids, place, row, info, table, other, lookup, blocks, bits, tokens, pairs, made,
                    birth, head, tail, trigger, node_at, children, text, offsets, doubt_keys, doubt_range, doubt_bounds,
                    doubt_ids,
                )  # fmt: skip
                at = place
                if status == DONE and entry != scratch[place - begin] >> 2:
                    row = np.int64(entry)
                    status, at, row = _careful(
                        ids, place + 1, end, row, info, table, other, lookup, blocks, bits, tokens,
                        pairs, made, birth, head, tail, trigger, node_at, children, text, offsets, doubt_keys,
                        doubt_range, doubt_bounds, doubt_ids, scratch, begin,
                    )  # fmt: skip
            if status != DONE:
                total = np.int64(0)
                for k in range(begin, at):
                    total += np.int64(info[np.uint64(ids[k])] >> SIZE_SHIFT)
                return status, at, row, size + total
            if at < high:
                at = high
                row = np.int64(scratch[high - 1 - begin] >> 2)
        size += total
        begin = end
    return DONE, n, row, size
