"""Walking ids through the machine of a pre-tokenizer and the pair test.

The machine is a table: a row for each state, a column for each class of ids with the same effect. Most boundaries of
tokens are always boundaries of pieces, or need no pair test; the table has a mark for the others, where the walk looks
more closely.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, IntegerArray
from tokdfa.kernels.library import Struct, ffi, lib

LANE = 1024

# The flags of an entry of the table, next to the row that it leads to, which is shifted by two bits. Row 0 is the end
# of every walk: nothing canonical continues like this or, with UNKNOWN, that is not computed yet. In an entry that
# leads to another row the same bit is CLOSELY: there is more to look at than whether the pair is allowed. Only a walk
# that guesses continues from row 0.
LOOK = 1
UNKNOWN = CLOSELY = 2

# The largest class of ids, and the largest number of bytes of an id.
MOST = (1 << 16) - 1

DONE = 0
ALARM = 1
UNSURE = 2
UNDECIDED = 5

# The roles of classes of ids: normalization may change the text of an id, or the text before it together with it; texts
# before and after an id are normalized separately.
JOINS = 1
PARTS = 2

# No more ids than these are looked back at to see whether their text is normalized.
MOST_IDS = 128

# The most ids before an index that `accepts` can look at again.
MOST_REACH = 1024

_IDS = ffi.typeof("uint32_t[]")
_NO_CURSOR = ffi.NULL


class Cursor:
    """How far a walk is: the next id, where the row of the state before it begins, the bytes of the ids walked over.

    The fields `at`, `row` and `size` of its pointer are read and written.
    """

    __slots__ = ("pointer",)

    def __init__(self) -> None:
        self.pointer: Any = ffi.new("tokdfa_place *")

    def walk(self, by: Struct, ids: Int32Array) -> int:
        """Continue the walk through ids, in range and contiguous, up to the first that may be wrong.

        DONE; ALARM at an id that is not canonical there, or ends the spelling of a special token or a doubtful
        sequence; UNSURE at an id that the table does not cover yet; UNDECIDED at an id if too much text up to its end
        would have to be checked for normalization.
        """
        status: int = lib.tokdfa_walk(by.pointer, ffi.from_buffer(_IDS, ids), len(ids), self.pointer)
        return status


def accepts(by: Struct, ids: IntegerArray, reach: int, cursor: Cursor | None = None) -> int:
    """Return DONE if a whole text is canonical; otherwise the status that stopped the walk, or another code.

    `ids` are an array of uint16, int32, uint32, int64 or uint64, contiguous and aligned; that they are in range is
    checked. The walk is over a copy of some of them at a time, so another thread may change them meanwhile. Up to
    `reach` ids before an id may be looked at again, at most `MOST_REACH`. `cursor` is where to continue, up to `ids` at
    most, and, afterwards, how far the text is canonical; by default the walk begins with the text. Bytes are not
    counted.
    """
    at = _NO_CURSOR if cursor is None else cursor.pointer
    status: int = lib.tokdfa_accepts(by.pointer, ffi.from_buffer(ids), ids.itemsize, len(ids), reach, at)
    return status


_FULL = 5
_LONG = 1 << 20


def cuts(certain: BoolArray, first_symbol: Int32Array, last_symbol: Int32Array) -> Struct:
    """Return where texts are always cut: between two symbols of classes for which `certain` is true.

    `first_symbol` and `last_symbol` have the classes of the first and the last symbol of each id.
    """
    flat = np.ascontiguousarray(certain).view(np.uint8).reshape(-1)
    return Struct(
        "tokdfa_cuts", first_symbol=first_symbol, last_symbol=last_symbol, certain=flat, n_classes=len(certain)
    )


def wrong_parts(
    walker: Callable[[], Struct],
    where_cut: Struct,
    ids: Int32Array,
    streams: tuple[Int64Array, Int64Array],
    *,
    looks_back: tuple[int, int],
    is_open: bool,
    initial: int,
    learn: Callable[[int, int], None],
) -> tuple[Int64Array, int | None]:
    """Return the parts of streams with violations; if there are none, also the number of bytes of all.

    `walker` returns the tables of the walk as they are now, and `learn` extends them, given where a row begins and an
    id. Of the `streams`, the begins and the ends, stream k has the ids, in range and contiguous, from ``begins[k]`` to
    ``ends[k]``; `initial` is where the row of the initial state begins. `looks_back` is a pair: the walk notices a
    violation at most so many ids after its piece, 1 or more, as a violation at the end of a stream is noticed after
    its last id; and a special token that the text spells begins at most so many ids before the one in which it ends.
    The last stream continues after its ids if it `is_open`.

    The parts, of shape (parts, 2), are pairs of the first id and the one after the last, in order and disjoint. Each
    begins and ends where its stream does, or where the text is always cut.
    """
    (begins, ends), (back, reach) = streams, looks_back
    if back < 1:
        raise ValueError("no part can begin after the last id")
    found: Int64Array = np.empty((max(64, len(ids) // 64), 2), dtype=np.int64)
    job = Struct(
        "tokdfa_wrong_job", begins=begins, ends=ends, n_begins=len(begins), back=back, reach=reach,
        n_closed=len(begins) - is_open, found=found.reshape(-1), room=len(found), count=0, stream=0, at=0, row=initial,
        step=_LONG, size=0,
    )  # fmt: skip
    state = job.pointer
    while True:
        # Another thread may extend the tables meanwhile, so these are kept by their name.
        by = walker()
        status = lib.tokdfa_wrong_parts(by.pointer, where_cut.pointer, ffi.from_buffer(_IDS, ids), state)
        if status == UNSURE:
            learn(int(state.row), int(ids[begins[state.stream] + state.at]))
        elif status == _FULL:
            found = np.concatenate((found, np.empty_like(found)))
            job.set("found", found.reshape(-1))
            state.room = len(found)
        else:
            return found[: state.count], None if state.count else int(state.size)
