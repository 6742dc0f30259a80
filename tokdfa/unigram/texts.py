"""The segmentation of texts as they are given, by SentencePiece's normalization in the compiled loop."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array, Uint64Array
from tokdfa.kernels.unigram.texts import Writer, segment_text, segment_texts, text_tables
from tokdfa.unigram.segmenter import BEGINNING, Before

if TYPE_CHECKING:
    from tokdfa.kernels.unigram.segmentation import Room
    from tokdfa.unigram.segmenter import Segmenter

__all__ = ["TextSegmenter", "code_point_bits"]


class TextSegmenter:
    """The normalization and segmentation of texts in one pass. Threads may share it.

    Parameters
    ----------
    segmenter : Segmenter
        That of a model whose sums go on over a whole text, and whose pieces have no visible space but at the beginning.
    rules : mapping of str to str
        What replaces each word, the longest at each place; no word has a space, and no replacement a visible one.
    kept : sequence of str
        The words that are found before the rules apply, without spaces.
    touched : iterable of str
        The characters without any of which no rule applies to a text.
    puts_space, trims_spaces : bool
        Whether a space is put before a text; whether spaces at its ends are dropped, and runs of them become one.

    Examples
    --------
    >>> import numpy as np
    >>> from tokdfa.unigram.model import UnigramModel
    >>> from tokdfa.unigram.segmenter import Segmenter
    >>> pieces, found = ("?", "\u2581", "\u2581a", "b"), np.array([False, True, True, True])
    >>> model = UnigramModel(pieces, np.array([0.0, -2.0, -1.0, -1.5]), found, 0, -12.0, "sentencepiece")
    >>> texts = TextSegmenter(Segmenter(model), {"B": "b"}, (), "B", puts_space=True, trims_spaces=True)
    >>> texts.encode(b"aB  a")[0].tolist()
    [2, 3, 2]
    """

    def __init__(
        self,
        segmenter: Segmenter,
        rules: Mapping[str, str],
        kept: Sequence[str],
        touched: Iterable[str],
        *,
        puts_space: bool,
        trims_spaces: bool,
    ) -> None:
        self._segmenter = segmenter
        bits = code_point_bits([*touched, "\u2581"])
        self._tables = text_tables(
            segmenter.tables, rules, kept, bits, puts_space=puts_space, trims_spaces=trims_spaces
        )
        self._own = threading.local()

    def encode(
        self, data: bytes, before: Before = BEGINNING, *, begins: bool = True
    ) -> tuple[Int32Array, Before] | None:
        """Return the ids of a text, and what is before the next one; None if it must be normalized first.

        Parameters
        ----------
        data : bytes
            Valid UTF-8.
        before : Before
        begins : bool
            Whether a text begins here; otherwise it goes on with a space, at a place where it is certainly cut.
        """
        writer, room = self._rooms
        ids = segment_text(
            self._tables,
            data,
            writer,
            room,
            continues=not begins,
            score=0.0 if begins else before.score,
            after_unknown=not begins and before.is_unknown,
        )
        return None if ids is None else (ids, Before(room.score, room.after_unknown))

    def encode_whole(self, data: bytes) -> Int32Array | None:
        """Return the ids of a whole text; None if it must be normalized first."""
        return segment_text(self._tables, data, *self._rooms)

    def encode_texts(self, texts: Sequence[bytes], first: int = 0) -> tuple[Int32Array, Int64Array]:
        """Return the ids of texts from the first one wanted on, and the end of those of each.

        If they are fewer than the texts, the next one must be normalized first.
        """
        ends: Int64Array = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
        return segment_texts(self._tables, b"".join(texts), ends, first, *self._rooms)

    @property
    def _rooms(self) -> tuple[Writer, Room]:
        """What the calls of a thread write."""
        try:
            rooms: tuple[Writer, Room] = self._own.rooms
        except AttributeError:
            rooms = self._own.rooms = Writer(), self._segmenter.room
        return rooms


def code_point_bits(characters: Iterable[str]) -> Uint64Array:
    """Return a bit for each code point: whether it is that of one of some characters."""
    codes = np.fromiter(map(ord, characters), dtype=np.int64)
    marks = np.zeros((sys.maxunicode + 1 + 63) // 64 * 64, dtype=np.uint8)
    marks[codes] = 1
    return np.packbits(marks, bitorder="little").view("<u8").astype(np.uint64)
