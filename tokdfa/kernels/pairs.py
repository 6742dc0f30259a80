"""The pair test over streams of ids: by walking back in time, or by a table of bits.

The table is the matrix of rows (states of the minimal token DFA) by columns (classes of tokens that no row tells
apart), a bit set where the row forbids the column. Most of its blocks of `BLOCK` bits are empty and most of the others
equal, so each row is a list of numbers of distinct blocks: some megabytes, where the matrix has hundreds.
"""

from __future__ import annotations

from typing import TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt

from tokdfa.kernels.fold import forbidding_state
from tokdfa.kernels.types import INTS, LONGS, Ints, Longs

__all__ = ["ALONE", "BLOCK", "CUT", "NO_TOKEN", "build_table", "mark_by_table", "mark_by_walk"]

Words: TypeAlias = npt.NDArray[np.uint64]
Flags: TypeAlias = npt.NDArray[np.bool_]

WORDS = nb.types.Array(nb.uint64, 1, "C", readonly=True)
FLAGS = nb.types.Array(nb.boolean, 1, "C")

WORD_SHIFT = 6
BLOCK_SHIFT = 9
BLOCK = 1 << BLOCK_SHIFT
BLOCK_WORDS = BLOCK >> WORD_SHIFT

# What an id can be beside a live token: something that anything may precede and follow, or what nothing may precede.
CUT = -1
NO_TOKEN = -2
# A token that stands alone in its piece: nothing may precede or follow it there.
ALONE = -3


@nb.njit((WORDS, nb.int64), cache=True)
def block_key(words: Words, first: int) -> int:
    """Return a hash of the block that begins at word `first`."""
    key = np.uint64(0)
    for k in range(first, first + BLOCK_WORDS):
        key = (key ^ words[k]) * np.uint64(0xBF58476D1CE4E5B9)
        key ^= key >> np.uint64(31)
    return int(key)


@nb.njit((WORDS, nb.int64, WORDS, nb.int64), cache=True)
def same_block(words: Words, first: int, others: Words, other: int) -> bool:
    """Tell whether two blocks are equal."""
    difference = np.uint64(0)
    for k in range(BLOCK_WORDS):
        difference |= words[first + k] ^ others[other + k]
    return bool(difference == 0)


@nb.njit((INTS, INTS, INTS, nb.int64), cache=True)
def build_table(pointer: Ints, start: Ints, stop: Ints, n_columns: int) -> tuple[Ints, Words]:
    """Write out the rows as numbers of distinct blocks of bits.

    Parameters
    ----------
    pointer, start, stop : int32 arrays
        Row r forbids the columns from ``start[k]`` to ``stop[k]`` for k from ``pointer[r]`` to ``pointer[r + 1]``.
    n_columns : int
        The columns; the last one is forbidden to every row.

    Returns
    -------
    blocks : int32 array of rows × ceil(n_columns / BLOCK) entries
        For each row and each block of columns the number of its bits.
    bits : uint64 array of BLOCK / 64 words a block
        Bit j of block b is bit j % 64 of word b * BLOCK / 64 + j // 64.
    """
    a_row = (n_columns + BLOCK - 1) // BLOCK
    blocks = np.empty((len(pointer) - 1) * a_row, np.int32)
    bits = np.zeros(1024 * BLOCK_WORDS, np.uint64)
    n_blocks = 1  # Block 0 is the empty one, which is not looked up.
    table = np.full(4096, -1, np.int32)
    row = np.empty(a_row * BLOCK_WORDS, np.uint64)
    full = ~np.uint64(0)
    for r in range(len(pointer) - 1):
        row[:] = 0
        for k in range(pointer[r], pointer[r + 1] + 1):
            low, high = n_columns - 1, n_columns
            if k < pointer[r + 1]:
                low, high = start[k], stop[k]
            head, tail = full << np.uint64(low & 63), full >> np.uint64(63 - ((high - 1) & 63))
            if low >> 6 == (high - 1) >> 6:
                row[low >> 6] |= head & tail
            else:
                row[low >> 6] |= head
                row[(low >> 6) + 1 : (high - 1) >> 6] = full
                row[(high - 1) >> 6] |= tail
        for block in range(a_row):
            first = block * BLOCK_WORDS
            if same_block(row, first, bits, 0):
                blocks[r * a_row + block] = 0
                continue
            place = block_key(row, first) & (len(table) - 1)
            while table[place] >= 0 and not same_block(row, first, bits, table[place] * BLOCK_WORDS):
                place = (place + 1) & (len(table) - 1)
            if table[place] < 0:
                if (n_blocks + 1) * BLOCK_WORDS > len(bits):
                    bits = np.concatenate((bits, np.zeros_like(bits)))
                bits[n_blocks * BLOCK_WORDS : (n_blocks + 1) * BLOCK_WORDS] = row[first : first + BLOCK_WORDS]
                table[place] = n_blocks
                n_blocks += 1
                if 2 * n_blocks > len(table):
                    table = np.full(2 * len(table), -1, np.int32)
                    for known in range(1, n_blocks):
                        place = block_key(bits, known * BLOCK_WORDS) & (len(table) - 1)
                        while table[place] >= 0:
                            place = (place + 1) & (len(table) - 1)
                        table[place] = known
                blocks[r * a_row + block] = n_blocks - 1
            else:
                blocks[r * a_row + block] = table[place]
    return blocks, bits[: n_blocks * BLOCK_WORDS].copy()


@nb.njit((INTS, LONGS, INTS, WORDS, nb.int64, FLAGS), cache=True)
def mark_by_table(ids: Ints, lookup: Longs, blocks: Ints, bits: Words, behind: int, forbidden: Flags) -> None:
    """Mark the ids that may not stand behind the id before them.

    Parameters
    ----------
    ids : int32 array
    lookup : int64 array, one entry an id
        The place in `blocks` where the id's row begins, times 2³², plus the id's column.
    blocks, bits : arrays
        The table, of :func:`build_table`.
    behind : int
        The entry of `lookup` for what precedes the ids; 0 at the beginning of a text.
    forbidden : bool array, as long as `ids`
        The result.
    """
    for i in range(len(ids)):
        entry = lookup[ids[i]]
        column = entry & 0xFFFFFFFF
        block = np.int64(blocks[(behind >> 32) + (column >> BLOCK_SHIFT)])
        word = bits[block * BLOCK_WORDS + ((column >> WORD_SHIFT) & (BLOCK_WORDS - 1))]
        forbidden[i] = (word >> np.uint64(column & 63)) & np.uint64(1) != 0
        behind = entry


@nb.njit((INTS, INTS, LONGS, INTS, INTS, INTS, INTS, nb.int64, FLAGS), cache=True)
def mark_by_walk(
    ids: Ints,
    tokens: Ints,
    pairs: Longs,
    made: Ints,
    birth: Ints,
    head: Ints,
    tail: Ints,
    behind: int,
    forbidden: Flags,
) -> None:
    """Mark the ids that may not stand behind the id before them; slower than the table, and needs none.

    Parameters
    ----------
    ids : int32 array
    tokens : int32 array, one entry an id
        Its live token; `CUT`, `NO_TOKEN` or `ALONE`.
    pairs, made, birth, head, tail : arrays
        As :func:`~tokdfa.kernels.fold.fold` returns them.
    behind : int
        The token that precedes the ids; `CUT` at the beginning of a text.
    forbidden : bool array, as long as `ids`
        The result.
    """
    for i in range(len(ids)):
        token = tokens[ids[i]]
        if token < 0 or behind < 0:
            forbidden[i] = token <= NO_TOKEN or behind == ALONE
        else:
            forbidden[i] = forbidding_state(pairs, made, birth, head, tail, behind, token, len(pairs)) > 0
        behind = token
