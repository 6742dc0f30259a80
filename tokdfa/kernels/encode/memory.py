"""A memory of pieces and their ids, bounded in size and exact; see ``memory.h``."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int32Array, Uint64Array
from tokdfa.kernels.library import Struct, lib, writable
from tokdfa.kernels.pages import LARGE_PAGE, untouched, zeros

__all__ = ["ENTRY", "LONGEST_KEPT", "MANY_MISSED", "SET", "key_of", "make_room", "new_memory", "recall", "remember"]

LONGEST_KEPT = 512
"""The maximum length in bytes of a piece that is remembered."""

ENTRY = 4
_WAYS = 4
SET = ENTRY * _WAYS
"""The number of machine words of a set."""

_IDS_INSIDE = 3

_FIRST_SETS = LARGE_PAGE // (8 * SET)
"""The number of sets that a memory begins with."""

MANY_MISSED = 4096
"""The number of pieces that were not there after which it is time to ask whether more room would help."""

# Places for each piece that was seen, if there is to be more room: looking at more than the first two of a set is slow,
# and with fewer places too many pieces are among the others.
_ROOM_FOR_EACH = 4

# Bits of `seen` for each piece that there may be room for.
_BITS = 4


def new_memory(n_pieces: int, shelf: int | None = None) -> Struct:
    """Return an empty memory, which `make_room` lets grow; parts of it that are not used take no memory of the machine.

    Parameters
    ----------
    n_pieces : int
        The maximum number of pieces that are remembered, rounded up to a power of two. A piece takes 32 bytes.
    shelf : int, optional
        The number of machine words for long pieces and for many ids, at least LONGEST_KEPT; by default as many as the
        pieces take.
    """
    sets = min(_sets_for(n_pieces), _FIRST_SETS)
    size = max(SET * sets, 2 * LONGEST_KEPT) if shelf is None else max(shelf, LONGEST_KEPT)
    return Struct(
        "tokdfa_piece_memory", entries=zeros(SET * sets, np.uint64), shelf=untouched(size, np.uint64), used=0,
        seen=_none_seen(sets, n_pieces), n_distinct=0, n_missed=0, n_again=0,
    )  # fmt: skip


def _sets_for(n_pieces: int) -> int:
    return 1 << max(0, (n_pieces + _WAYS - 1) // _WAYS - 1).bit_length()


def _none_seen(sets: int, n_pieces: int) -> Uint64Array:
    """Return the bits of pieces that were seen before any was; none for a memory that can grow no more."""
    most = _sets_for(n_pieces)
    return np.zeros((_BITS * _WAYS * most + 63) // 64 if sets < most else 0, dtype=np.uint64)


def make_room(memory: Struct, n_pieces: int) -> None:
    """Let a memory grow, up to `n_pieces` as :func:`new_memory` takes them, if most pieces it lacks were there before.

    More room costs about what merging some thousands of pieces costs, so that many are waited for.
    """
    pointer = memory.pointer
    n_missed, n_again = pointer.n_missed, pointer.n_again
    if n_missed < MANY_MISSED:
        return
    pointer.n_missed = pointer.n_again = 0
    largest = _sets_for(n_pieces)
    if 4 * pointer.used > 3 * len(memory.fields["shelf"]):
        # When it is full, everything is forgotten. As long as it may be longer, that costs more than a longer one.
        _lengthen_shelf(memory, min(4 * len(memory.fields["shelf"]), SET * largest))
    n_distinct, sets = pointer.n_distinct, len(memory.fields["entries"]) // SET
    if n_distinct > n_pieces:
        # With more bits set, most pieces would seem to have been seen.
        memory.fields["seen"].fill(0)
        pointer.n_distinct = 0
    wanted = min(_sets_for(_ROOM_FOR_EACH * n_distinct), largest)
    if 2 * n_again < n_missed or wanted <= sets:
        return
    entries = zeros(SET * wanted, np.uint64)
    lib.tokdfa_move_pieces(pointer, writable(entries, np.uint64), len(entries))
    memory.set("entries", entries)
    _lengthen_shelf(memory, len(entries))
    if wanted == largest:
        memory.set("seen", _none_seen(wanted, n_pieces))
    else:
        # All that were seen, and are not there, come again before it can be said whether this was enough.
        pointer.n_missed = pointer.n_again = -n_distinct


def _lengthen_shelf(memory: Struct, size: int) -> None:
    old, used = memory.fields["shelf"], memory.pointer.used
    if len(old) < size:
        shelf = untouched(size, np.uint64)
        shelf[:used] = old[:used]
        memory.set("shelf", shelf)


def key_of(text: bytes, begin: int, end: int) -> tuple[int, int]:
    """Return the words by which the piece ``text[begin:end]`` is remembered: its packing, or for long ones a hash."""
    assert 0 <= begin <= end <= len(text)
    key = np.zeros(2, dtype=np.uint64)
    lib.tokdfa_key_of_piece(text, len(text), begin, end, writable(key, np.uint64))
    low, high = key.tolist()
    return low, high


def recall(memory: Struct, text: bytes, begin: int, end: int) -> Int32Array | None:
    """Return the ids of the piece ``text[begin:end]``, None if it is not remembered; it moves up in its set."""
    assert 0 <= begin < end <= len(text)
    out: Int32Array = np.zeros(LONGEST_KEPT + 2, dtype=np.int32)
    n = lib.tokdfa_recall_piece(memory.pointer, text, len(text), begin, end, writable(out, np.int32))
    return None if n < 0 else out[:n]


def remember(memory: Struct, text: bytes, begin: int, end: int, ids: Int32Array) -> None:
    """Remember the ids of the piece ``text[begin:end]``."""
    assert 0 <= begin < end <= len(text)
    room: Int32Array = np.zeros(max(len(ids), _IDS_INSIDE), dtype=np.int32)
    room[: len(ids)] = ids
    lib.tokdfa_remember_piece(memory.pointer, text, len(text), begin, end, writable(room, np.int32), len(ids))
