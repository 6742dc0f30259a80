"""Whole streams that one call to the kernels shows to be canonical, so that nothing else has to check them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokdfa.base.arrays import IntegerArray
from tokdfa.base.errors import LimitExceededError
from tokdfa.kernels.walk import walk as kernels

if TYPE_CHECKING:
    from tokdfa.jobs.validation.table import Table
    from tokdfa.tokenizers.models.unigram.segmenter import Acceptor
    from tokdfa.tokenizers.round_trip import RoundTrip

NEAR = 1 << 12
"""The number of ids among which a certain cut usually is."""

SHORT = 1 << 12
"""A stream of fewer ids is walked over in one call, with nothing to continue from if it is stopped."""

CHUNK = 1 << 16
"""The bytes of so many ids are counted at a time."""

MOST = 1 << 18
"""The most ids that are copied to be judged word by word."""


class Rest(NamedTuple):
    """The part of a stream that is left to check: it begins with the id `first`, at the offset `byte`.

    Its text is always cut there, unless it is the whole stream; a text begins there, or continues. `following` is the
    round trip of its text, if something of the text before counts.
    """

    first: int
    byte: int
    begins: bool = True
    following: RoundTrip | None = None


WHOLE = Rest(0, 0)


def unjudged_by_walk(table: Table, ids: IntegerArray) -> Rest | None:
    """Return the part of a stream that walking over it does not show to be canonical; None if all of it is.

    The ids are contiguous and aligned, of 16, 32 or 64 bits, but otherwise unchecked.
    """
    pairs = table.pairs.struct_for(len(ids))
    reach = table.reach + 1
    if reach > kernels.MOST_REACH:
        return WHOLE
    if len(ids) < SHORT:
        status = kernels.accepts(table.walker(pairs), ids, reach)
        return None if status == kernels.DONE else WHOLE
    cursor = kernels.Cursor()
    here = cursor.pointer
    here.row = table.initial * table.width
    while True:
        status = kernels.accepts(table.walker(pairs), ids, reach, cursor)
        if status == kernels.DONE:
            return None
        if status != kernels.UNSURE or not _has_learned(table, int(here.row), int(ids[here.at])):
            return _rest(table, ids, int(here.at))


def _has_learned(table: Table, row: int, id: int) -> bool:
    """Extend a table, if it has capacity and the id was not changed meanwhile; return whether that was done."""
    if not 0 <= id < len(table.lengths):
        return False
    try:
        table.learn(row // table.width, id)
    except LimitExceededError:
        return False
    return True


def _rest(table: Table, ids: IntegerArray, end: int) -> Rest:
    """Return the part of a stream to check, given how far it is known to be canonical."""
    begin, n_ids = max(end - NEAR, 0), len(table.lengths)
    part = np.minimum(ids[begin:end].astype(np.uint64), np.uint64(n_ids)).astype(np.int32)
    if part.max(initial=0) == n_ids:
        return WHOLE
    cut = table.last_certain(part, len(part) - table.margin)
    if cut <= 0:
        return WHOLE
    first = begin + cut
    # Before 2.2, numpy takes nothing at uint64 indices.
    blocks = (ids[at : min(at + CHUNK, first)].astype(np.int64, copy=False) for at in range(0, first, CHUNK))
    return Rest(first, sum(int(table.lengths.take(block, mode="clip").sum()) for block in blocks))


def unjudged_by_words(acceptor: Acceptor, n_ids: int, ids: IntegerArray) -> Rest | None:
    """Return all of a stream, or None if its words show it to be canonical; ids are any integers."""
    if not 0 < len(ids) <= MOST or ids.min() < 0 or ids.max() >= np.uint64(n_ids):
        return WHOLE
    own = ids.astype(np.int32)
    return None if acceptor.accept(own)[0] == len(own) else WHOLE
