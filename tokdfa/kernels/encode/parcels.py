"""Texts that several threads encode, each the next parcel of them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.kernels.encode.utf8 import FoundTexts
from tokdfa.kernels.library import ffi, readable, writable
from tokdfa.kernels.pages import empty

__all__ = ["Parcels"]

_PARCELS = ffi.typeof("tokdfa_parcels *")


class Parcels:
    """Texts in parcels, and their ids, which threads write where they belong.

    Parameters
    ----------
    texts : FoundTexts
        Nobody may change the list of strings meanwhile.
    bounds : list of int
        The first text of each parcel, ascending from 0, and last the number of texts.

    Attributes
    ----------
    pointer
        The fields of ``tokdfa_parcels``, which explains them. It is no :class:`Struct`, as every call needs a new one
        and a Struct takes longer to make.
    bounds : list of int
    id_offsets : int64 array
        Where the ids of each text begin, and where the last ones end; within its parcel until that has its place.
    largest, most : int
        The most bytes, and the most texts, that a parcel has.

    Raises
    ------
    ValueError
        If these are not bounds of parcels.
    """

    __slots__ = ("_ids", "_kept", "_texts", "bounds", "id_offsets", "largest", "most", "pointer")

    def __init__(self, texts: FoundTexts, bounds: list[int]) -> None:
        n, steps = len(texts.offsets) - 1, [end - begin for begin, end in pairwise(bounds)]
        if not steps or bounds[0] != 0 or bounds[-1] != n or min(steps) < 0:
            raise ValueError(f"{bounds} are no bounds of parcels of {n} texts")
        at = texts.offsets[bounds].tolist()
        self.bounds = bounds
        self.largest = max(end - begin for begin, end in pairwise(at))
        self.most = max(steps)
        self._texts = texts  # which keeps the strings alive
        self._ids: Int32Array = empty(at[-1], np.int32)
        self.id_offsets: Int64Array = np.zeros(n + 1, dtype=np.int64)
        unknown = [-1] * len(steps)
        self._kept: list[Any] = [
            *(readable(texts.places, np.uint64), readable(texts.offsets, np.int64)),
            readable(np.array(bounds, dtype=np.int64), np.int64),
            *(writable(self._ids, np.int32), writable(self.id_offsets, np.int64)),
            *(writable(np.array(each, dtype=np.int64), np.int64) for each in ([0, *unknown], unknown)),
        ]
        places, offsets, edges, ids, id_offsets, starts, counts = self._kept
        self.pointer: Any = ffi.new(
            _PARCELS, (places, offsets, edges, ids, id_offsets, 0, 0, starts, counts, len(steps))
        )

    def __len__(self) -> int:
        """Return the number of parcels."""
        return len(self.bounds) - 1

    def refuse(self) -> None:
        """Let all threads stop before their next parcel, as the result is not wanted any more."""
        self.pointer.is_refused = 1

    def result(self) -> tuple[Int32Array, Int64Array]:
        """Return the ids of all texts, and where those of each begin and the last ones end; all threads have ended."""
        self._kept.clear()
        self._ids.resize(int(self.id_offsets[-1]), refcheck=False)
        return self._ids, self.id_offsets
