"""Which ids may follow a token within a piece, as rows of intervals."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Uint32Array
from tokdfa.kernels.guiding import masks as kernels
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
        ``pointer[r + 1]``. The intervals of a row ascend and may overlap.
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
        self.pointer: Int32Array = np.concatenate(([0, 0], of.rows.pointer + 1)).astype(np.int32)
        self.start: Int32Array = np.concatenate(([0], of.rows.start)).astype(np.int32)
        self.stop: Int32Array = np.concatenate(([n_positions], of.rows.stop)).astype(np.int32)
        self._struct = kernels.followers_of(self.pointer, self.start, self.stop, self.id_at)
        self._spans: dict[int, tuple[list[int], list[int]]] = {}

    def is_forbidden(self, row: int, id: int) -> bool:
        """Return whether a row forbids an id."""
        spans = self._spans.get(row)
        if spans is None:
            spans = self._spans[row] = self._apart(row)
        starts, stops = spans
        position = int(self.position[id])
        place = bisect_right(starts, position) - 1
        return place >= 0 and position < stops[place]

    def forbidding(self, rows: Int32Array, id: int) -> BoolArray:
        """Return for each row whether it forbids an id."""
        return kernels.forbidding(self._struct, rows, int(self.position[id]))

    def take_out(self, row: int, fragile: Uint32Array, mask: Uint32Array) -> None:
        """Take the ids of `fragile` that a row forbids out of `mask`; both have one bit an id."""
        kernels.forbid(self._struct, row, fragile, mask)

    def _apart(self, row: int) -> tuple[list[int], list[int]]:
        """Return the intervals of a row, ascending and apart from each other."""
        begin, end = int(self.pointer[row]), int(self.pointer[row + 1])
        starts: list[int] = []
        stops: list[int] = []
        for start, stop in sorted(zip(self.start[begin:end].tolist(), self.stop[begin:end].tolist(), strict=True)):
            if stops and start <= stops[-1]:
                stops[-1] = max(stops[-1], stop)
            else:
                starts.append(start)
                stops.append(stop)
        return starts, stops
