"""Walking ids through the machine of a pre-tokenizer and the pair test.

The machine is a table: a row for each state, a column for each class of ids with the same effect. Most boundaries of
tokens are always boundaries of pieces, or need no pair test; the table has a mark for the others, where the walk looks
more closely.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, IntegerArray, Uint8Array, Uint16Array, Uint32Array
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
_NO_PLACE = ffi.NULL


def walker(
    class_of: Uint16Array,
    length_of: Uint16Array,
    allowed: Uint32Array,
    other: Uint32Array,
    is_final: Uint8Array,
    width: int,
    initial: int,
    trigger: Int32Array,
    node_at: Int32Array,
    children: Int32Array,
    text: Uint8Array,
    offsets: Int64Array,
    doubt_keys: Int64Array,
    doubt_range: Int32Array,
    doubt_bounds: Int32Array,
    doubt_ids: Int32Array,
    pairs: Struct,
    role: Uint8Array,
    form: Struct,
) -> Struct:
    """Return the tables for walking over streams.

    Of each id, `class_of` and `length_of` have the class and the number of bytes, ``text[offsets[i]:offsets[i + 1]]``.
    For row r and class c ``allowed[r + c]`` and ``other[r + c]`` are the entries if the pair is allowed, and if it is
    not. Row i begins at ``i * width``, the row of the initial state at `initial`; `is_final` says of each row whether a
    text may end there.

    Class c has the nodes ``node_at[trigger[c]:trigger[c + 1]]`` of the reversed trie of all special tokens. The child
    of node n on byte b is ``children[256 * n + b]``: 0 for none, -1 for a whole special token. `doubt_keys` and the
    other three are the sequences of ids that call for a closer look; see :class:`tokdfa.jobs.validation.model.Doubts`.
    `pairs` is of :func:`tokdfa.kernels.walk.pairs.pair_test`. The `role` of each class is 0, or JOINS and PARTS as
    bits: entries of a class with JOINS or with nodes that lead to a row have the marks LOOK and CLOSELY. `form` is of
    :func:`tokdfa.kernels.normalization.quick_check.form_struct`; it has boundaries if a class has JOINS.
    """
    return Struct(
        "tokdfa_walker", class_of=class_of, length_of=length_of, allowed=allowed, other=other, is_final=is_final,
        width=width, initial=initial, trigger=trigger, node_at=node_at, children=children, text=text, offsets=offsets,
        doubt_keys=doubt_keys, doubt_range=doubt_range, doubt_bounds=doubt_bounds, doubt_ids=doubt_ids, pairs=pairs,
        role=role, form=form,
    )  # fmt: skip


class Place:
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


def accepts(by: Struct, ids: IntegerArray, reach: int, place: Place | None = None) -> int:
    """Return DONE if a whole text is canonical; otherwise the status that stopped the walk, or another code.

    `ids` are an array of uint16, int32, uint32, int64 or uint64, contiguous and aligned; that they are in range is
    checked. The walk is over a copy of some of them at a time, so another thread may change them meanwhile. Up to
    `reach` ids before an id may be looked at again, at most `MOST_REACH`. `place` is where to continue, up to `ids` at
    most, and, afterwards, how far the text is canonical; by default the walk begins with the text. Bytes are not
    counted.
    """
    status: int = lib.tokdfa_accepts(
        by.pointer, ffi.from_buffer(ids), ids.itemsize, len(ids), reach, _NO_PLACE if place is None else place.pointer
    )
    return status


_NO_ROOM = 5
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
    begins: Int64Array,
    ends: Int64Array,
    *,
    back: int,
    reach: int,
    is_open: bool,
    initial: int,
    learn: Callable[[int, int], None],
) -> tuple[Int64Array, int | None]:
    """Return the parts of streams with violations; if there are none, also the number of bytes of all.

    `walker` returns the tables of :func:`walker` as they are now, and `learn` extends them, given where a row begins
    and an id. Stream k has the ids, in range and contiguous, from ``begins[k]`` to ``ends[k]``; `initial` is where the
    row of the initial state begins. The walk notices a violation at most `back` ids after its piece; 1 or more, as a
    violation at the end of a stream is noticed after its last id. A special token that the text spells begins at most
    `reach` ids before the one in which it ends. The last stream continues after its ids if it `is_open`.

    The parts, of shape (parts, 2), are pairs of the first id and the one after the last, in order and disjoint. Each
    begins and ends where its stream does, or where the text is always cut.
    """
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
        status = lib.tokdfa_wrong_parts(walker().pointer, where_cut.pointer, ffi.from_buffer(_IDS, ids), state)
        if status == UNSURE:
            learn(int(state.row), int(ids[begins[state.stream] + state.at]))
        elif status == _NO_ROOM:
            found = np.concatenate((found, np.empty_like(found)))
            job.set("found", found.reshape(-1))
            state.room = len(found)
        else:
            return found[: state.count], None if state.count else int(state.size)
