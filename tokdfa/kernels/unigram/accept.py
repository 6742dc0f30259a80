"""Whether ids are the best segmentation of their text, word by word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tokdfa.arrays import Int32Array, Uint8Array, offsets_of
from tokdfa.kernels.library import Struct, lib, readable
from tokdfa.kernels.unigram.segmentation import BEGINNING, Before, Room, packed_trie

__all__ = ["BARE", "DOUBTFUL", "PLAIN", "SPACED", "SPECIAL", "Reader", "accept_ids", "piece_tables"]

PLAIN, SPACED, BARE, DOUBTFUL, SPECIAL = 1, 2, 4, 8, 16
"""What is known of an id: that its text is its piece; that this begins with a visible space, is one, or has the first
character of a special token, each together with the first; or that it is that of a special token found in texts."""

_AT_A_TIME = 1 << 20
_WORD = 1 << 12
_KNOWN = 1 << 16


def piece_tables(
    tables: Struct, pieces: Sequence[bytes], kinds: Uint8Array, specials: Sequence[bytes], *, keeps_spaces: bool
) -> Struct:
    """Return the tables of the pieces of all ids: O(their bytes).

    `tables` are those of :func:`tokdfa.kernels.unigram.segmentation.unigram_tables`, with `has_words`. A plain piece is
    not empty; the kind of each is `SPECIAL`, or the sum of `PLAIN`, `SPACED`, `BARE` and `DOUBTFUL`; 0 for ids that are
    none of these. Words that have one of the texts of `specials` are not accepted. If it `keeps_spaces`, a space alone
    is a word, but for the first of a text.
    """
    if len(kinds) != len(pieces):
        raise ValueError(f"{len(kinds)} kinds of {len(pieces)} pieces")
    return Struct(
        "tokdfa_unigram_pieces",
        model=tables,
        text=np.frombuffer(b"".join(pieces) + b"\0", dtype=np.uint8),
        bounds=offsets_of(pieces),
        kinds=kinds,
        specials=packed_trie(sorted({*specials}))[0],
        keeps_spaces=keeps_spaces,
    )


class Reader:
    """The words of ids that are known to be canonical. One thread uses it at a time, together with a `Room`."""

    __slots__ = ("_struct", "pointer")

    def __init__(self, n_ids: int) -> None:
        self._struct = Struct(
            "tokdfa_unigram_reader",
            word=np.empty(_WORD, dtype=np.uint8),
            known=np.full(2 * _KNOWN, np.iinfo(np.uint64).max, dtype=np.uint64),
            alone=np.zeros(n_ids, dtype=np.uint8),
            size=0,
            at=0,
            begins=0,
            at_a_time=_AT_A_TIME,
        )
        self.pointer: Any = self._struct.pointer


def accept_ids(
    tables: Struct, ids: Int32Array, reader: Reader, room: Room, before: Before | None = None
) -> tuple[int, int]:
    """Return the number of the first ids that certainly are the best segmentation of their text, and its bytes.

    `tables` are those of :func:`piece_tables`, and the reader is for as many ids. The text of the ids ends or is cut
    after the last one. They follow what is `before`, where the text is certainly cut, or begin a text. If it is not the
    number of ids, something may be wrong in the word from there on. Of the bytes each visible space is a real one.
    """
    room.begin(0, before or BEGINNING)
    here = reader.pointer
    here.at = here.size = 0
    here.begins = before is None
    n = room.run(lib.tokdfa_accept_ids, tables.pointer, readable(ids, np.int32), len(ids), here, room.pointer)
    if n < 0:
        raise ValueError(f"the kernel returned {n}")
    return int(n), int(here.size)
