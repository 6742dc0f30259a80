"""Texts to ids: SentencePiece's normalization and the segmentation in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array, Uint64Array
from tokdfa.kernels.library import Struct, lib, readable, writable
from tokdfa.kernels.unigram.segmentation import ROOM, SHORT, Room, packed_trie

__all__ = ["OTHERWISE", "Writer", "segment_text", "segment_texts", "text_tables"]

OTHERWISE = -5
"""Returned for a text that is to be normalized before it is segmented."""

_FULL = -4
_WORD = 1 << 12


def text_tables(
    tables: Struct,
    rules: Mapping[str, str],
    kept: Sequence[str],
    touched: Uint64Array,
    *,
    puts_space: bool,
    trims_spaces: bool,
) -> Struct:
    """Return the tables of a normalization and a segmentation: O(bytes of the rules).

    Parameters
    ----------
    tables : Struct
        Those of :func:`tokdfa.kernels.unigram.segmentation.unigram_tables`, with `single` and `has_words`.
    rules : mapping of str to str
        What replaces each word, the longest at each place. No word has a space, and no word or replacement U+2581.
    kept : sequence of str
        The words that are found before rules apply, the longest at each place; without spaces and U+2581.
    touched : uint64 array
        A bit for each code point: whether it is U+2581, or a rule may apply at a character or at one that follows it.
    puts_space, trims_spaces : bool
        Whether a space is put before a text; whether spaces at its ends are dropped, and runs of them become one.
    """
    words = sorted((word.encode("utf-8"), replacement.encode("utf-8")) for word, replacement in rules.items())
    cells, rule_of = packed_trie([word for word, _ in words])
    kept_cells, _ = packed_trie(sorted(piece.encode("utf-8") for piece in kept))
    bounds = np.zeros(len(words) + 1, dtype=np.int64)
    np.cumsum(np.fromiter((len(text) for _, text in words), dtype=np.int64, count=len(words)), out=bounds[1:])
    blank = np.zeros(256, dtype=np.uint8)
    inner = {character for word in (*rules, *kept) if len(word) > 1 or word in kept for character in word}
    alone = [word for word in rules if len(word) == 1 and word.isascii() and word not in inner]
    blank[[ord(word) for word in alone if rules[word] == " "]] = True
    blank[ord(" ")] = True
    is_plain = not any(int(touched[code >> 6]) >> (code & 63) & 1 for code in range(0x21, 0x7F))
    return Struct(
        "tokdfa_unigram_texts",
        model=tables,
        rules=cells,
        rule_of=rule_of,
        replacements=np.frombuffer(b"".join(text for _, text in words) + b"\0", dtype=np.uint8),
        bounds=bounds,
        kept=kept_cells,
        blank=blank,
        touched=touched,
        plain_ascii=is_plain,
        has_kept=bool(kept),
        puts_space=puts_space,
        trims_spaces=trims_spaces,
    )


class Writer:
    """The room for a word, and where texts have got to. One thread uses it at a time, together with a `Room`."""

    __slots__ = ("_struct", "pointer")

    def __init__(self) -> None:
        self._struct = Struct(
            "tokdfa_unigram_writer",
            word=np.empty(_WORD, dtype=np.uint8),
            text=0,
            continues=0,
            is_begun=0,
            has_space=0,
            has_text=0,
            at=0,
            n=0,
            unknown_from=-1,
            score=0.0,
        )
        self.pointer: Any = self._struct.pointer

    def grow(self) -> None:
        """Make room for a longer word."""
        self._struct.set("word", np.empty(2 * int(self.pointer.n_word), dtype=np.uint8))


def segment_text(
    tables: Struct,
    data: bytes,
    writer: Writer,
    room: Room,
    *,
    continues: bool = False,
    score: float = 0.0,
    after_unknown: bool = False,
) -> Int32Array | None:
    """Return the ids of a text as it is given; None if it must be normalized first.

    Parameters
    ----------
    tables : Struct
        Those of :func:`text_tables`.
    data : bytes
        Valid UTF-8.
    writer : Writer
    room : Room
    continues : bool
        Whether the text goes on from another one that does not end with a space; it then begins with one.
    score, after_unknown
        What is before it, if it goes on; see :func:`tokdfa.kernels.unigram.segmentation.segment`.
    """
    here, size = writer.pointer, len(data)
    if size <= SHORT and not continues:
        n = lib.tokdfa_segment_text(tables.pointer, data, size, here, room.pointer)
        if n >= 0:
            return room.take(n)
        here.is_begun = 0
    room.begin(size, score, after_unknown)
    here.continues = continues
    arguments = tables.pointer, data, size, here, room.pointer
    try:
        while (n := lib.tokdfa_segment_text(*arguments)) < 0:
            if not _go_on(n, writer, room):
                return None
    finally:
        here.continues = here.is_begun = 0
    return room.take(n)


def segment_texts(
    tables: Struct, data: bytes, ends: Int64Array, first: int, writer: Writer, room: Room
) -> tuple[Int32Array, Int64Array]:
    """Return the ids of texts that come one after the other, and where those of each end.

    Parameters
    ----------
    tables, writer, room
        As for :func:`segment_text`.
    data : bytes
        Valid UTF-8.
    ends : int64 array
        The end of each text, ascending; the last is the end of the data.
    first : int
        The number of the first text that is wanted.

    Returns
    -------
    ids : int32 array
    id_ends : int64 array
        For each text from the first one on. If they are fewer than the texts, the next one must be normalized first.
    """
    if len(ends) and int(ends[-1]) != len(data):
        raise ValueError(f"the texts end at {ends[-1]}, not at {len(data)}")
    room.begin(len(data), 0.0, False)
    here = writer.pointer
    here.text = first
    id_ends: Int64Array = np.zeros(len(ends), dtype=np.int64)
    arguments = (
        *(tables.pointer, data, readable(ends, np.int64), len(ends)),
        *(writable(id_ends, np.int64), here, room.pointer),
    )
    try:
        while (n := lib.tokdfa_segment_texts(*arguments)) < 0:
            if not _go_on(n, writer, room):
                n = int(id_ends[here.text - 1]) if here.text > first else 0
                break
    finally:
        here.is_begun = 0
    return room.take(n), id_ends[first : int(here.text)]


def _go_on(reason: int, writer: Writer, room: Room) -> bool:
    """Make room where a call has stopped, and return whether it goes on. Between the calls signals are heeded."""
    if reason == ROOM:
        room.grow()
    elif reason == _FULL:
        room.grow_ids()
        writer.grow()
    return reason not in (OTHERWISE, _UNKNOWN)


_UNKNOWN = -3
