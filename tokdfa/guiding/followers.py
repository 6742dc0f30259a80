"""Which ids may follow a token within a piece, as rows of intervals."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int32Array, Uint32Array
from tokdfa.kernels.guiding import product as kernels
from tokdfa.tokenizers.neighbours import Neighbours

__all__ = ["ALL", "NONE", "Followers"]


NONE = 0
"""The row that forbids no id: that of the beginning of a text, and of special tokens."""

ALL = 1
"""The row that forbids every id: that of tokens that are given only for whole pieces."""

_N_OTHERS = 2


class Followers:
    """The sets of ids that may not follow a token within a piece; tokens with the same set share a row.

    Parameters
    ----------
    of : Neighbours
        The live tokens of a tokenizer and their rows.
    n_ids : int
    alone : int32 array
        The ids of the tokens that are given only for whole pieces.

    Attributes
    ----------
    row_of : int32 array, one entry an id
        The row of each id; `NONE` for special tokens and ids without a token.
    position : int32 array, one entry an id
        The position of each id in the intervals; -1 for ids that no row forbids.
    id_at : int32 array
        The id at each position; -1 where there is none.
    pointer, start, stop : int32 arrays
        Row r forbids the ids at the positions ``start[i]`` to ``stop[i]`` for i from ``pointer[r]`` to
        ``pointer[r + 1]``. The intervals of a row ascend and do not overlap.
    struct : Struct
        What the kernels read.
    """

    def __init__(self, of: Neighbours, n_ids: int, alone: Int32Array) -> None:
        live = of.live[of.ids[of.live] >= 0]
        ids = of.ids[live]
        n_positions = int(of.position.max(initial=-1)) + 1
        self.row_of: Int32Array = np.full(n_ids, NONE, dtype=np.int32)
        self.row_of[ids] = of.rows.of_token[live] + np.int32(_N_OTHERS)
        self.row_of[alone] = ALL
        self.position: Int32Array = np.full(n_ids, -1, dtype=np.int32)
        self.position[ids] = of.position[live]
        self.id_at: Int32Array = np.full(n_positions, -1, dtype=np.int32)
        self.id_at[of.position[live]] = ids
        pointer, start, stop = _apart(of.rows.pointer, of.rows.start, of.rows.stop)
        self.pointer: Int32Array = np.concatenate(([0, 0], pointer + 1)).astype(np.int32)
        self.start: Int32Array = np.concatenate(([0], start)).astype(np.int32)
        self.stop: Int32Array = np.concatenate(([n_positions], stop)).astype(np.int32)
        self.struct = kernels.followers_of(self.pointer, self.start, self.stop, self.id_at)

    def take_out(self, row: int, fragile: Uint32Array, mask: Uint32Array) -> None:
        """Take the ids of `fragile` that a row forbids out of `mask`; both have one bit an id."""
        kernels.forbid(self.struct, row, fragile, mask)


def _apart(pointer: Int32Array, start: Int32Array, stop: Int32Array) -> tuple[Int32Array, Int32Array, Int32Array]:
    """Return the intervals of rows, whose starts ascend, with those joined that overlap."""
    row = np.repeat(np.arange(len(pointer) - 1), np.diff(pointer))
    # A row's positions follow those of the row before it.
    room = int(stop.max(initial=0)) + 1
    reached = np.maximum.accumulate(stop + row * room) if len(stop) else stop
    is_new = np.ones(len(start), dtype=np.bool_)
    is_new[1:] = (start + row * room)[1:] > reached[:-1]
    if is_new.all():
        return pointer, start, stop
    begins = np.flatnonzero(is_new)
    counts = np.bincount(row[begins], minlength=len(pointer) - 1)
    ends = np.append(begins[1:], len(stop)) - 1
    return np.append(0, np.cumsum(counts)), start[begins], (reached - row * room)[ends]
