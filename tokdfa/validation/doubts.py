"""Sequences of ids that pass the pair test and yet call for a closer look."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array

__all__ = ["Doubts", "doubts"]


class Doubts(NamedTuple):
    """A hash table, with open addressing, of sequences by their last two ids.

    Attributes
    ----------
    keys : int64 array
        ``left << 32 | right``, or -1; empty if there are no sequences.
    range : int32 array
        The sequences of slot i are those from ``range[2 * i]`` to ``range[2 * i + 1]``.
    bounds, ids : int32 arrays
        Sequence k has the ids ``ids[bounds[k]:bounds[k + 1]]`` before the last two.
    """

    keys: Int64Array
    range: Int32Array
    bounds: Int32Array
    ids: Int32Array


def doubts(sequences: Iterable[tuple[int, ...]]) -> Doubts:
    """Return the table of the sequences, each of two ids or more."""
    known = sorted(set(sequences), key=lambda sequence: (sequence[-2:], sequence))
    if not known:
        nothing = np.zeros(0, dtype=np.int32)
        return Doubts(np.zeros(0, dtype=np.int64), nothing, nothing, nothing)
    from tokdfa.kernels.merging.merging import pair_table

    ends = np.array([sequence[-2:] for sequence in known], dtype=np.int32)
    begins = np.flatnonzero(np.append(True, (ends[1:] != ends[:-1]).any(axis=1))).astype(np.int32)
    stops = np.append(begins[1:], len(known)).astype(np.int32)
    # The entry of a pair is the range of its sequences.
    pairs = np.ascontiguousarray(ends[begins].T)
    table = pair_table(pairs[0], pairs[1], begins, stops).fields
    bounds = np.cumsum([0, *(len(sequence) - 2 for sequence in known)]).astype(np.int32)
    ids = np.array([id for sequence in known for id in sequence[:-2]], dtype=np.int32)
    range_ = np.column_stack((table["priority"], table["product"])).reshape(-1)
    return Doubts(table["keys"], range_, bounds, ids)
