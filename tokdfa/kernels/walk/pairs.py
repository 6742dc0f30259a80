"""The pair test over streams of ids: by going back in time, or by a table of bits.

The table is the matrix of rows (states of the minimal token DFA) by columns (classes of tokens that no row tells
apart), a bit set where the row forbids the column. Most of its blocks of `BLOCK` bits are empty and most of the others
equal, so each row is a list of numbers of distinct blocks: some megabytes, where the matrix has hundreds.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tokdfa.kernels.library import Struct, lib, readable, writable
from tokdfa.kernels.types import Ints, Longs

__all__ = ["ALONE", "BLOCK", "CUT", "NO_TOKEN", "build_table", "mark_pairs", "pair_test"]

Words: TypeAlias = npt.NDArray[np.uint64]
Flags: TypeAlias = npt.NDArray[np.bool_]

BLOCK = 1 << 9
_WORDS = BLOCK >> 6

# What an id can be beside a live token: something that anything may precede and follow, or what nothing may precede.
CUT = -1
NO_TOKEN = -2
# A token that stands alone in its piece: nothing may precede or follow it there.
ALONE = -3

_NO_LOOKUP: Longs = np.zeros(0, dtype=np.int64)
_NO_BLOCKS: Ints = np.zeros(0, dtype=np.int32)
_NO_BITS: Words = np.zeros(0, dtype=np.uint64)


def build_table(pointer: Ints, start: Ints, stop: Ints, n_columns: int) -> tuple[Ints, Words]:
    """Write out the rows as numbers of distinct blocks of bits.

    Parameters
    ----------
    pointer, start, stop : int32 arrays
        Row r forbids the columns from ``start[k]`` to ``stop[k]``, not empty, for k from ``pointer[r]`` to
        ``pointer[r + 1]``.
    n_columns : int
        The columns; the last one is forbidden to every row.

    Returns
    -------
    blocks : int32 array of rows × ceil(n_columns / BLOCK) entries
        For each row and each block of columns the number of its bits.
    bits : uint64 array of BLOCK / 64 words a block
        Bit j of block b is bit j % 64 of word b * BLOCK / 64 + j // 64.
    """
    n_rows, a_row = len(pointer) - 1, -(-n_columns // BLOCK)
    blocks: Ints = np.empty(n_rows * a_row, dtype=np.int32)
    room = 1 << 12
    # Block 0 is the empty one.
    bits: Words = np.zeros(room * _WORDS, dtype=np.uint64)
    done, n_distinct = 0, 1
    while True:
        job = Struct(
            "tokdfa_pair_job", pointer=pointer, start=start, stop=stop, n_columns=n_columns, blocks=blocks, bits=bits,
            known=np.full(2 * room, -1, dtype=np.int32), row=np.empty(a_row * _WORDS, dtype=np.uint64), done=done,
            n_distinct=n_distinct,
        )  # fmt: skip
        done, n_distinct = lib.tokdfa_build_pair_table(job.pointer), job.pointer.n_distinct
        if done == n_rows:
            return blocks, bits[: n_distinct * _WORDS].copy()
        room *= 2
        bits = np.concatenate((bits, np.zeros_like(bits)))


def pair_test(
    tokens: Ints, history: Struct, lookup: Longs = _NO_LOOKUP, blocks: Ints = _NO_BLOCKS, bits: Words = _NO_BITS
) -> Struct:
    """Return the pair test over ids.

    Parameters
    ----------
    tokens : int32 array, one entry an id
        Its live token; `CUT`, `NO_TOKEN` or `ALONE`.
    history : Struct
        Of :func:`tokdfa.kernels.fold.folding.history`.
    lookup : int64 array, one entry an id; empty for no table
        The place in `blocks` where the id's row begins, times 2³², plus the id's column.
    blocks, bits : int32 and uint64 arrays
        The table, of :func:`build_table`.
    """
    return Struct("tokdfa_pair_test", lookup=lookup, blocks=blocks, bits=bits, tokens=tokens, folding=history)


def mark_pairs(test: Struct, ids: Ints, behind: int | None) -> Flags:
    """Tell for each id whether it may not follow the one before it.

    Parameters
    ----------
    test : Struct
        Of :func:`pair_test`.
    ids : int32 array
    behind : int or None
        The id that precedes them; None at the beginning of a text.
    """
    marks = np.empty(len(ids), dtype=np.bool_)
    lib.tokdfa_mark_pairs(
        test.pointer, readable(ids, np.int32), len(ids), -1 if behind is None else behind, writable(marks, np.bool_)
    )
    return marks
