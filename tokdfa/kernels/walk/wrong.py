"""Walking over many streams, and on after what is wrong in them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.kernels.library import Struct, ffi, lib
from tokdfa.kernels.walk.walk import UNSURE

__all__ = ["cuts", "wrong_parts"]

_NO_ROOM = 5
_LONG = 1 << 20
_IDS = ffi.typeof("uint32_t[]")


def cuts(certain: BoolArray, first_symbol: Int32Array, last_symbol: Int32Array) -> Struct:
    """Return where texts are certainly cut.

    Parameters
    ----------
    certain : bool array of shape (classes, classes)
        Whether a text is certainly cut between two symbols of these classes.
    first_symbol, last_symbol : int32 arrays, one entry an id
        The classes of its first and its last symbol.
    """
    flat = np.ascontiguousarray(certain).view(np.uint8).reshape(-1)
    return Struct(
        "tokdfa_cuts", first_symbol=first_symbol, last_symbol=last_symbol, certain=flat, n_classes=len(certain)
    )


def wrong_parts(
    walker: Callable[[], Struct],
    where_cut: Struct,
    ids: Int32Array,
    begins: Int64Array,
    ends: Int64Array,
    *,
    back: int,
    reach: int,
    initial: int,
    learn: Callable[[int, int], None],
) -> tuple[Int64Array, int | None]:
    """Return the parts of streams that something wrong is in, and the number of bytes of all streams.

    Parameters
    ----------
    walker : callable
        Returns what streams are walked over by, a struct of :func:`tokdfa.kernels.walk.walk.walker`, as it is now.
    where_cut : Struct
        Of :func:`cuts`.
    ids : int32 array
        In range and contiguous.
    begins, ends : int64 arrays
        Stream k has the ids from ``begins[k]`` to ``ends[k]``, which are places in `ids`.
    back : int
        The walk notices what is wrong at most this number of ids after the piece that it is in; 1 or more, for what is
        wrong with the end of a stream is noticed after its last id.
    reach : int
        A special token that the text spells begins at most this number of ids before the one in which it ends.
    initial : int
        Where the row of the initial state begins.
    learn : callable
        Extends the table, given where a row begins and an id.

    Returns
    -------
    parts : int64 array of shape (parts, 2)
        Pairs of the first id and the one after the last, in order and disjoint. Each begins and ends where its stream
        does, or where the text is certainly cut.
    size : int or None
        The number of bytes of all streams; None if something is wrong, for some ids are not walked over then.
    """
    if back < 1:
        raise ValueError("no part can begin after the last id")
    found: Int64Array = np.empty((max(64, len(ids) // 64), 2), dtype=np.int64)
    job = Struct(
        "tokdfa_wrong_job", begins=begins, ends=ends, n_begins=len(begins), back=back, reach=reach,
        found=found.reshape(-1), room=len(found), count=0, stream=0, at=0, row=initial, step=_LONG, size=0,
    )  # fmt: skip
    state = job.pointer
    while True:
        status = lib.tokdfa_wrong_parts(walker().pointer, where_cut.pointer, ffi.from_buffer(_IDS, ids), state)
        if status == UNSURE:
            learn(int(state.row), int(ids[begins[state.stream] + state.at]))
        elif status == _NO_ROOM:
            found = np.concatenate((found, np.empty_like(found)))
            job.set("found", found.reshape(-1))
            state.room = len(found)
        else:
            return found[: state.count], None if state.count else int(state.size)
