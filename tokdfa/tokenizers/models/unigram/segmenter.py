"""The best segmentation of texts, and whether ids are one: the compiled loops with the tables of a model."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, Uint8Array
from tokdfa.base.errors import AlphabetError, LimitExceededError
from tokdfa.kernels.unigram.accept import SHOWN, Reader, WrongWords, accept_ids, find_wrong_words, piece_tables
from tokdfa.kernels.unigram.segmentation import (
    BEGINNING,
    LARGEST_TRIE,
    NO_UNKNOWN,
    Before,
    Buffers,
    Recording,
    record,
    segment,
    unigram_tables,
)
from tokdfa.tokenizers.models.unigram.model import UnigramModel

if TYPE_CHECKING:
    from tokdfa.kernels.unigram.texts import Writer
    from tokdfa.tokenizers.models.unigram.texts import TextSegmenter

__all__ = ["BEGINNING", "Acceptor", "Before", "Segmenter", "WrongWords"]


class Segmenter:
    """The segmentation of texts with a model. Threads may share it; each has buffers of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from tokdfa.tokenizers.models.unigram.model import UnigramModel
    >>> scores = np.array([0.0, -1.0, -1.0, -1.5])
    >>> model = UnigramModel(("?", "a", "b", "ab"), scores, np.array([False, True, True, True]), 0, -11.5, "tokenizers")
    >>> Segmenter(model).encode_on(b"abbx", np.array([2, 4]), BEGINNING)[0].tolist()
    [3, 2, 0]
    """

    def __init__(self, model: UnigramModel) -> None:
        self.model = model
        text, offsets, gap, ids = model.found_words
        size = len(text) - gap * len(ids)
        if size > LARGEST_TRIE:
            raise LimitExceededError(f"the pieces have more than {LARGEST_TRIE} bytes", value=size)
        self.tables = unigram_tables(
            (text, offsets, gap),
            model.scores[ids],
            ids,
            unknown=(NO_UNKNOWN if model.unknown is None else model.unknown, model.unknown_score),
            byte_ids=None if model.byte_ids is None else np.array(model.byte_ids, dtype=np.int32),
            single=model.is_single,
            rounded_late=model.is_rounded_late,
            restarts=not model.is_single,
            has_words=not model.is_single or not model.has_inner_spaces,
        )
        self._own = threading.local()

    @cached_property
    def id_of(self) -> dict[str, int]:
        """The id of each piece that is found in texts."""
        pieces = self.model.pieces
        return {pieces[id]: id for id in np.flatnonzero(self.model.is_found).tolist()}

    @cached_property
    def longest(self) -> int:
        """The number of characters of the longest piece that is found in texts, at least 1."""
        return max(map(len, self.id_of), default=1)

    def encode_on(self, data: bytes, ends: Int64Array, before: Before) -> tuple[Int32Array, Before]:
        """Return the ids of sentences that come one after the other, and the state before the next one.

        The data are valid UTF-8. `ends` are the ends of the sentences, ascending; the last is the end of the data.
        """
        buffers = self.buffers
        ids = segment(self.tables, data, ends, buffers, before)
        if ids is None:
            raise _unknown(data, buffers)
        return ids, buffers.after

    def record_on(self, data: bytes, ends: Int64Array, before: Before) -> tuple[Recording, Before]:
        """Return the sums, starts and marks in sentences, and the state before the next one; see `encode_on`.

        The cache of words is not used, so this is slower.
        """
        buffers = self.buffers
        found = record(self.tables, data, ends, buffers, before)
        if found is None:
            raise _unknown(data, buffers)
        return found, buffers.after

    @property
    def buffers(self) -> Buffers:
        """The buffers that the calls of a thread write to."""
        buffers: Buffers | None = getattr(self._own, "buffers", None)
        if buffers is None:
            buffers = self._own.buffers = Buffers()
        return buffers


def _unknown(data: bytes, buffers: Buffers) -> AlphabetError:
    """Return the error for the character at which the loop has stopped."""
    character = data[buffers.at : buffers.at + 4].decode("utf-8", "ignore")[:1]
    what = "a character that is no piece, and there is no unknown piece"
    return AlphabetError(what, value=character, where=f"byte {buffers.at} of the normalized text")


class Acceptor:
    """Finds out whether ids are the best segmentation of their text, without the text. Threads may share it.

    Pieces have a visible space at the beginning or not at all. `kinds` has the known facts of each id, and `drops`
    tells which spaces are not in the text at its beginning; see :mod:`tokdfa.kernels.unigram.accept`. The special
    tokens with the texts `specials` are found in texts. With `keeps_spaces`, several spaces in a row are several words.
    `texts` normalizes texts that are not made of words, if that takes one pass. `sizes` (int64) has the number of bytes
    that each id adds to a text that has begun; -1 if that depends on others.
    """

    def __init__(
        self,
        segmenter: Segmenter,
        texts: TextSegmenter | None,
        pieces: Sequence[bytes],
        shown: Sequence[bytes],
        kinds: Uint8Array,
        specials: Sequence[bytes],
        *,
        drops: int,
        keeps_spaces: bool,
    ) -> None:
        self._segmenter = segmenter
        self._texts = texts
        self._n_ids = len(pieces)
        self.sizes = np.fromiter(map(len, shown), dtype=np.int64, count=len(shown))
        self.sizes[kinds & SHOWN == 0] = -1
        self._tables = piece_tables(
            segmenter.tables, pieces, shown, kinds, specials, keeps_spaces=keeps_spaces, drops=drops
        )
        self._own = threading.local()

    def accept(self, ids: Int32Array, before: Before | None = None) -> tuple[int, int, Before]:
        """Return how many of the first ids are proven canonical, the bytes of their text, and the state after it.

        The ids are valid, and end with the text or where it is always cut. `before` is the state before them, if they
        follow such a cut; otherwise they begin a text.
        """
        buffers = self._segmenter.buffers
        n, size = accept_ids(self._tables, ids, self._reader, buffers, before, self._writer)
        return n, size, buffers.after

    def wrong_words(self, ids: Int32Array, before: Before | None = None) -> tuple[int, int, Before, WrongWords]:
        """Return how many of the first ids are judged, the bytes of their text, the state after it, and wrong words.

        The parameters are as for `accept`.
        """
        buffers = self._segmenter.buffers
        n, size, wrong = find_wrong_words(self._tables, ids, self._reader, buffers, before, self._writer)
        return n, size, buffers.after, wrong

    @property
    def _reader(self) -> Reader:
        reader: Reader | None = getattr(self._own, "reader", None)
        if reader is None:
            reader = self._own.reader = Reader(self._n_ids)
        return reader

    @property
    def _writer(self) -> Writer | None:
        return None if self._texts is None else self._texts.writer
