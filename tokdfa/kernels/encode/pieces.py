"""Encoding pieces, with a memory of the pieces seen before."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array, Uint64Array
from tokdfa.kernels.encode.memory import make_room, new_memory
from tokdfa.kernels.library import Struct, check_memory, ffi, lib, readable, writable

LongTables: TypeAlias = Struct | Callable[[], Struct | None] | None

__all__ = ["AT_A_TIME", "DONE", "FOREIGN", "ROOM", "TOO_LONG", "LongTables", "PieceRun"]

DONE, FOREIGN, TOO_LONG, _PAUSED = 0, -1, -2, -7
"""How an encoding of pieces ends: after all of them, before one with a symbol that is not in the alphabet, or before
one that is too long to be merged."""

ROOM = 4
"""The maximum number of places that are written after the last id."""

_FIRST_ROOM = 1 << 14

AT_A_TIME = 1 << 18
"""Bytes after which a call comes back, so that signals are heeded: a few milliseconds."""


class PieceRun:
    """An encoder of pieces, with its working memory. It must not be used by two threads at the same time.

    Parameters
    ----------
    tables : Struct
        The dictionary, ``tokdfa_token_tables``.
    whole : Struct
        The tokens that a piece becomes without merging if it is spelled like one of them.
    memory : int
        The largest number of pieces that are remembered; see :func:`~tokdfa.kernels.encode.memory.new_memory`.
    one_pass : Struct or callable, optional
        The tables by which pieces that are too long to be merged are tokenized in one pass, or a function that returns
        them, or None, when the first such piece comes. Without them such pieces are left to the caller.
    characters : Struct, optional
        The dictionary over characters, ``tokdfa_characters``, by which unknown pieces are encoded instead.

    Attributes
    ----------
    struct : Struct
        The ``tokdfa_piece_encoder`` that is passed to C.
    longest : int
        The length in bytes of the longest text that there is room for.
    """

    def __init__(
        self, tables: Struct, whole: Struct, memory: int, one_pass: LongTables, characters: Struct | None = None
    ) -> None:
        self.longest = _FIRST_ROOM
        self._most_remembered = memory
        self._memory = new_memory(memory)
        self._one_pass = one_pass
        known = None if callable(one_pass) else one_pass
        pause = Struct("tokdfa_pause", is_on=0, n=0, place=0, token=0, furthest=0, returned=0)
        self.struct = Struct(
            "tokdfa_piece_encoder", tables=tables, whole=whole, memory=self._memory, characters=characters,
            one_pass=known, left=_bits(self.longest), next=0, n=0, at_a_time=AT_A_TIME, pause=pause,
        )  # fmt: skip

    def make_room(self, longest: int) -> None:
        """Make room for texts of this number of bytes."""
        self.struct.set("left", _bits(longest))
        self.longest = longest

    def make_room_to_remember(self) -> None:
        """Let the memory grow if it is crowded."""
        make_room(self._memory, self._most_remembered)

    def learn_long(self) -> bool:
        """Get the tables for long pieces, if there are any that are not known yet; return whether there are."""
        known, self._one_pass = self._one_pass, None
        tables = known() if callable(known) else None
        if tables is not None:
            self.struct.set("one_pass", tables)
        return tables is not None

    @property
    def next(self) -> int:
        """The piece that comes next."""
        return int(self.struct.pointer.next)

    @property
    def n(self) -> int:
        """The number of ids so far."""
        return int(self.struct.pointer.n)

    def go_on(self, next: int, n: int) -> None:
        """Continue with another piece, and from this number of ids on."""
        pointer = self.struct.pointer
        pointer.next, pointer.n = next, n
        if pointer.pause.is_on:
            # An interrupted call has left its room as it was.
            pointer.pause.is_on = 0
            self.struct.fields["left"].fill(0)

    def encode(self, text: bytes, begun: Int64Array, out: Int32Array, ends: Int64Array) -> int:
        """Encode pieces from `next` on.

        Parameters
        ----------
        text : bytes
            Not longer than `longest`.
        begun : int64 array
            Where pieces and text that is left out begin, ascending within the text: ``offset << EVENT_BITS | event``,
            and last the end. Each ends where the next one begins. No piece is empty. The caller checks all that.
        out : int32 array
            Gets the ids; has room for one a byte and ROOM more.
        ends : int64 array, one entry a piece
            Gets where the ids of each piece end.

        Returns
        -------
        int
            DONE, or FOREIGN or TOO_LONG, before the piece `next`. TOO_LONG is not returned if `learn_long` helps.
        """
        assert len(text) <= self.longest
        assert len(out) >= len(text) + ROOM
        assert len(ends) >= len(begun) - 1
        pointers = writable(out, np.int32), writable(ends, np.int64) if len(ends) else ffi.NULL
        given = self.struct.pointer, text, len(text), readable(begun, np.int64), len(begun) - 1, *pointers
        status = _PAUSED
        # Between the calls signals are heeded, such as Ctrl-C.
        self.make_room_to_remember()
        while status == _PAUSED or (status == TOO_LONG and self.learn_long()):
            status = check_memory(int(lib.tokdfa_encode_pieces(*given)))
            self.make_room_to_remember()
        return status


def _bits(size: int) -> Uint64Array:
    """Return zeros, a bit for each place of a text and one more."""
    return np.zeros((size >> 6) + 1, dtype=np.uint64)
