"""Walking over whole streams: which of them the table alone shows to be canonical."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array, IntegerArray
from tokdfa.errors import LimitExceededError
from tokdfa.kernels.walk import walk as kernels
from tokdfa.validation.judges.rest import WHOLE, Rest
from tokdfa.validation.model import Model
from tokdfa.validation.table import CONTEXT, Table

__all__ = ["NEAR", "WholeWalk"]


NEAR = 1 << 12
"""The number of ids among which a certain cut usually is."""

SHORT = 1 << 12
"""A stream of fewer ids is walked over in one call, with nothing to continue from if it is stopped."""

CHUNK = 1 << 16
"""The number of ids whose bytes are counted at a time."""


class WholeWalk:
    """A walk over whole streams.

    Parameters
    ----------
    model : Model
        One with a table.
    """

    def __init__(self, model: Model) -> None:
        assert model.table is not None
        self._table: Table = model.table
        self._pairs = model.walked_pairs
        self._lengths = model.lengths
        self._reach = model.table.reach + 1

    def unjudged(self, ids: IntegerArray) -> Rest | None:
        """Return the part of a stream that is not known to be canonical; None if all of it is.

        Parameters
        ----------
        ids : uint16, int32, uint32, int64 or uint64 array
            Contiguous and aligned, but otherwise unchecked.
        """
        pairs = self._pairs.struct_for(len(ids))
        if self._reach > kernels.MOST_REACH:
            return WHOLE
        if len(ids) < SHORT:
            status = kernels.accepts(self._table.walker(pairs), ids, self._reach)
            return None if status == kernels.DONE else WHOLE
        place = kernels.Place()
        here = place.pointer
        here.row = self._table.initial * self._table.width
        while True:
            status = kernels.accepts(self._table.walker(pairs), ids, self._reach, place)
            if status == kernels.DONE:
                return None
            if status != kernels.UNSURE or not self._has_learned(int(here.row), int(ids[here.at])):
                return self._rest(ids, int(here.at))

    def _has_learned(self, row: int, id: int) -> bool:
        """Extend the table, if it has room and the id was not changed meanwhile; return whether that was done."""
        if not 0 <= id < len(self._lengths):
            return False
        try:
            self._table.learn(row // self._table.width, id)
        except LimitExceededError:
            return False
        return True

    def _rest(self, ids: IntegerArray, end: int) -> Rest:
        """Return the part of a stream to judge, given how far it is known to be canonical."""
        begin = max(end - NEAR, 0)
        part = np.minimum(ids[begin:end].astype(np.uint64), np.uint64(len(self._lengths))).astype(np.int32)
        if part.max(initial=0) == len(self._lengths):
            return WHOLE
        cut = self._table.last_certain(part, len(part) - self._reach - CONTEXT)
        if cut <= 0:
            return WHOLE
        first = begin + cut
        # Before 2.2, numpy takes nothing at uint64 indices.
        blocks = (ids[at : min(at + CHUNK, first)].astype(np.int64, copy=False) for at in range(0, first, CHUNK))
        return Rest(first, sum(int(self._lengths.take(block, mode="clip").sum()) for block in blocks))

    def wrong_parts(self, ids: Int32Array, begins: Int64Array, ends: Int64Array) -> tuple[Int64Array, int | None]:
        """Return the parts of streams that something wrong is in, and the number of bytes of all streams if none is.

        See :meth:`Table.wrong_parts`.
        """
        return self._table.wrong_parts(self._pairs.struct_for(len(ids)), ids, begins, ends)

    def size_of(self, ids: Int32Array) -> int:
        """Return the number of bytes that ids spell."""
        return int(self._lengths[ids].sum())
