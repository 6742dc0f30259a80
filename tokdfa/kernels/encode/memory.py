"""A memory of pieces and their ids, bounded in size and exact; see ``memory.h``."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int32Array
from tokdfa.kernels.library import Struct, lib, writable
from tokdfa.kernels.pages import LARGE_PAGE, zeros

__all__ = ["ENTRY", "LONGEST_KEPT", "SET", "key_of", "make_room", "new_memory", "recall", "remember"]

LONGEST_KEPT = 512
"""The maximum length in bytes of a piece that is remembered."""

ENTRY = 4
_WAYS = 4
SET = ENTRY * _WAYS
"""The number of machine words of a set."""

_IDS_INSIDE = 3


_GROWTH = 4
_FIRST_SETS = LARGE_PAGE // (8 * SET)
"""The number of sets that a memory begins with."""


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
    entries, room = zeros(SET * sets, np.uint64), zeros(size, np.uint64)
    most = _most_kept(sets, n_pieces)
    return Struct("tokdfa_piece_memory", entries=entries, shelf=room, used=0, n_kept=0, most_kept=most)


def _sets_for(n_pieces: int) -> int:
    return 1 << max(0, (n_pieces + _WAYS - 1) // _WAYS - 1).bit_length()


def _most_kept(sets: int, n_pieces: int) -> int:
    """Return the number of pieces above which a memory grows: half of the entries, unless it is at its end."""
    return _WAYS * sets // 2 if sets < _sets_for(n_pieces) else np.iinfo(np.int64).max


def make_room(memory: Struct, n_pieces: int) -> None:
    """Let a memory grow if it is crowded, up to `n_pieces`, as :func:`new_memory` takes them."""
    pointer = memory.pointer
    if pointer.n_kept <= pointer.most_kept:
        return
    sets = min(_GROWTH * len(memory.fields["entries"]) // SET, _sets_for(n_pieces))
    entries = zeros(SET * sets, np.uint64)
    lib.tokdfa_move_pieces(pointer, writable(entries, np.uint64), len(entries))
    shelf = zeros(max(len(entries), len(memory.fields["shelf"])), np.uint64)
    shelf[: pointer.used] = memory.fields["shelf"][: pointer.used]
    memory.set("entries", entries)
    memory.set("shelf", shelf)
    pointer.most_kept = _most_kept(sets, n_pieces)


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
