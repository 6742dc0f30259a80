"""Whether ids are the best segmentation of their text, word by word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Float64Array, Int32Array, Int64Array, Uint8Array, offsets_of, running_sum
from tokdfa.kernels.library import Struct, ffi, lib, readable
from tokdfa.kernels.unigram.segmentation import BEGINNING, GROWTH, Before, Buffers, packed_trie
from tokdfa.kernels.unigram.texts import Writer

PLAIN, SPACED, BARE, DOUBTFUL, SPECIAL, SHOWN, ENDS, BEGINS = (1 << bit for bit in range(8))
"""The properties of an id: its text is its piece; this begins with a visible space, is one, or has the first character
of a special token, each together with the first; it is the id of a special token found in texts; it always adds its
shown bytes to a text that has begun; a text is cut between an id that `ENDS` and one that `BEGINS`."""

DROPS_NOTHING, DROPS_FIRST, DROPS_ALL = range(3)
"""The leading spaces that decoding drops: none, the first, or the spaces of all pieces before anything else."""

OTHER, SAME, ASKED = range(3)
"""Whether the right ids have the text of the wrong ones: no; yes; or the decoder tells, as if only spaces differ."""

_AT_A_TIME = 1 << 20
_WORD = 1 << 12
_KNOWN = 1 << 16
_WRONG, _FIELDS, _MORE_WRONG = 1 << 6, 6, -8


def piece_tables(
    tables: Struct,
    pieces: Sequence[bytes],
    shown: Sequence[bytes],
    kinds: Uint8Array,
    specials: Sequence[bytes],
    *,
    keeps_spaces: bool,
    drops: int,
) -> Struct:
    """Return the tables of the pieces of all ids: O(their bytes).

    `tables` come from :func:`tokdfa.kernels.unigram.segmentation.unigram_tables`, with `has_words`. A plain piece is
    not empty; the kind of each is `SPECIAL`, or the sum of `PLAIN`, `SPACED`, `BARE`, `DOUBTFUL`, `SHOWN`, `ENDS` and
    `BEGINS`; 0 for ids that are none of these. `shown` has the bytes that each id adds to a text, with real spaces, and
    `drops` is `DROPS_NOTHING`, `DROPS_FIRST` or `DROPS_ALL`. Words that have one of the texts of `specials` are not
    accepted. If it `keeps_spaces`, a space alone is a word, but for the first of a text.
    """
    if not len(kinds) == len(pieces) == len(shown):
        raise ValueError(f"{len(kinds)} kinds of {len(pieces)} pieces, of which {len(shown)} are shown")
    return Struct(
        "tokdfa_unigram_pieces", model=tables, text=np.frombuffer(b"".join(pieces) + b"\0", dtype=np.uint8),
        bounds=offsets_of(pieces), kinds=kinds, specials=packed_trie(sorted({*specials}))[0],
        shown=np.frombuffer(b"".join(shown) + b"\0", dtype=np.uint8), shown_bounds=offsets_of(shown),
        keeps_spaces=keeps_spaces, drops=drops,
    )  # fmt: skip


class Reader:
    """The words of ids that are known to be canonical. One thread uses it at a time, with its `Buffers`."""

    __slots__ = ("_struct", "_writer", "pointer")

    def __init__(self, n_ids: int) -> None:
        self._struct = Struct(
            "tokdfa_unigram_reader", word=np.empty(_WORD, dtype=np.uint8),
            known=np.full(2 * _KNOWN, np.iinfo(np.uint64).max, dtype=np.uint64), alone=np.zeros(n_ids, dtype=np.uint8),
            size=0, at=0, begins=0, at_a_time=_AT_A_TIME, goes_on=0, writer=None,
            wrong=np.empty(_FIELDS * _WRONG, dtype=np.int64), sums=np.empty(_WRONG, dtype=np.float64),
            right=np.empty(_WRONG, dtype=np.int32), n_words=0, n_ids=0,
        )  # fmt: skip
        self.pointer: Any = self._struct.pointer
        self._writer: Writer | None = None

    def begin(self, writer: Writer | None, *, begins: bool, goes_on: bool) -> None:
        """Get ready for ids with which a text begins or not; the writer has the same buffers."""
        here = self.pointer
        if writer is not self._writer:
            self._writer = writer
            here.writer = ffi.NULL if writer is None else writer.pointer
        here.at = here.size = here.n_words = here.n_ids = 0
        here.begins, here.goes_on = begins, goes_on

    def grow(self) -> None:
        """Enlarge the buffers for wrong words."""
        for name, n in (("wrong", _FIELDS * self.pointer.n_words), ("sums", self.pointer.n_words)):
            self._enlarge(name, int(n))
        self._enlarge("right", int(self.pointer.n_ids))

    def _enlarge(self, name: str, n: int) -> None:
        old = self._struct.fields[name]
        new = np.empty(GROWTH * len(old), dtype=old.dtype)
        new[:n] = old[:n]
        self._struct.set(name, new)

    @property
    def wrong(self) -> WrongWords:
        """The wrong words that were found, in arrays of their own."""
        n, fields = int(self.pointer.n_words), self._struct.fields
        rows = fields["wrong"][: _FIELDS * n].reshape(n, _FIELDS)
        return WrongWords(
            rows[:, :2].copy(),
            fields["right"][: int(self.pointer.n_ids)].copy(),
            np.append(0, rows[:, 2]),
            rows[:, 3].copy(),
            fields["sums"][:n].copy(),
            rows[:, 4] != 0,
            rows[:, 5].copy(),
        )


class WrongWords(NamedTuple):
    """Words that are not the best segmentation of their text.

    Word k has the ids from ``bounds[k, 0]`` to ``bounds[k, 1]``, and its best segmentation is ``right[right_bounds[k] :
    right_bounds[k + 1]]``. `byte` and `sums` have the number of bytes and the sum of scores before it, and `is_unknown`
    whether an unknown character is. `text` is `SAME` if both have the same text, `OTHER` if not, `ASKED` if the decoder
    tells.
    """

    bounds: Int64Array
    right: Int32Array
    right_bounds: Int64Array
    byte: Int64Array
    sums: Float64Array
    is_unknown: BoolArray
    text: Int64Array

    def moved(self, n_ids: int, n_bytes: int) -> WrongWords:
        """Return the words of the same ids after so many others."""
        return self._replace(bounds=self.bounds + n_ids, byte=self.byte + n_bytes)

    def before(self, word: int) -> Before:
        """Return the state before a word."""
        return Before(float(self.sums[word]), bool(self.is_unknown[word]))

    def chosen(self, keep: BoolArray) -> WrongWords:
        """Return some of the words."""
        sizes = np.diff(self.right_bounds)
        right = self.right[np.repeat(keep, sizes)]
        sides = (self.byte[keep], self.sums[keep], self.is_unknown[keep], self.text[keep])
        return WrongWords(self.bounds[keep], right, running_sum(sizes[keep]), *sides)

    @classmethod
    def joined(cls, parts: Sequence[WrongWords]) -> WrongWords:
        """Return all words of some parts."""
        if len(parts) == 1:
            return parts[0]
        sizes = np.concatenate([np.diff(part.right_bounds) for part in parts])
        bounds, right = (np.concatenate([part[at] for part in parts]) for at in range(2))
        byte, sums, is_unknown, text = (np.concatenate([part[at] for part in parts]) for at in range(3, 7))
        return cls(bounds, right, running_sum(sizes), byte, sums, is_unknown, text)


def accept_ids(
    tables: Struct,
    ids: Int32Array,
    reader: Reader,
    buffers: Buffers,
    before: Before | None = None,
    writer: Writer | None = None,
) -> tuple[int, int]:
    """Return the number of the first ids proven to be the best segmentation of their text, and its bytes.

    `tables` come from :func:`piece_tables`, and the reader is for as many ids. The text of the ids ends or is cut after
    the last one. They follow `before`, where the text is known to be cut, or begin a text. If it is not the number of
    ids, something may be wrong in the word from there on. The writer normalizes text that is not made of words.
    """
    reader.begin(writer, begins=before is None, goes_on=False)
    return _run(tables, ids, reader, buffers, before), int(reader.pointer.size)


def find_wrong_words(
    tables: Struct,
    ids: Int32Array,
    reader: Reader,
    buffers: Buffers,
    before: Before | None = None,
    writer: Writer | None = None,
) -> tuple[int, int, WrongWords]:
    """Return the results of :func:`accept_ids`, where wrong words count, too, and these words.

    If the first is not the number of ids, something is in the word from there on that this does not decide.
    """
    reader.begin(writer, begins=before is None, goes_on=True)
    n = _run(tables, ids, reader, buffers, before)
    return n, int(reader.pointer.size), reader.wrong


def _run(tables: Struct, ids: Int32Array, reader: Reader, buffers: Buffers, before: Before | None) -> int:
    buffers.begin(0, before or BEGINNING)
    arguments = tables.pointer, readable(ids, np.int32), len(ids), reader.pointer, buffers.pointer
    while (n := buffers.run(lib.tokdfa_accept_ids, *arguments)) == _MORE_WRONG:
        reader.grow()
    if n < 0:
        raise ValueError(f"the kernel returned {n}")
    return int(n)
