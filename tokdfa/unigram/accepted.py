"""Streams whose text is that of their pieces, judged word by word in the compiled loop."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tokdfa.arrays import Int32Array, Uint8Array
from tokdfa.kernels.unigram.accept import SPACED, Reader, accept_ids, piece_tables
from tokdfa.unigram.segmenter import Before

if TYPE_CHECKING:
    from tokdfa.unigram.segmenter import Segmenter

__all__ = ["Acceptor"]


class Acceptor:
    """Finds out whether ids are the best segmentation of their text, without the text. Threads may share it.

    Parameters
    ----------
    segmenter : Segmenter
        That of a model whose pieces have no visible space but at the beginning.
    pieces : sequence of bytes
        The piece of each id.
    kinds : uint8 array, one entry an id
        What is known of each; see :mod:`tokdfa.kernels.unigram.accept`.
    specials : sequence of bytes
        The texts of special tokens that are found in texts.
    drops_first : bool
        Whether the space of the first id of a text is not in the text.
    keeps_spaces : bool
        Whether several spaces in a row are several words.
    """

    def __init__(
        self,
        segmenter: Segmenter,
        pieces: Sequence[bytes],
        kinds: Uint8Array,
        specials: Sequence[bytes],
        *,
        drops_first: bool,
        keeps_spaces: bool,
    ) -> None:
        self._segmenter = segmenter
        self._kinds = kinds
        self._drops_first = drops_first
        self._n_ids = len(pieces)
        self._tables = piece_tables(segmenter.tables, pieces, kinds, specials, keeps_spaces=keeps_spaces)
        self._own = threading.local()

    def accept(self, ids: Int32Array, before: Before | None = None) -> tuple[int, int, Before]:
        """Return the number of the first ids that are certainly right, the bytes of their text, and what follows it.

        Parameters
        ----------
        ids : int32 array
            Valid ids, up to the end of the text or a place where it is certainly cut.
        before : Before, optional
            What is before them, if they follow such a place; otherwise they begin a text.
        """
        reader: Reader | None = getattr(self._own, "reader", None)
        if reader is None:
            reader = self._own.reader = Reader(self._n_ids)
        room = self._segmenter.room
        n, size = accept_ids(self._tables, ids, reader, room, before)
        is_dropped = n > 0 and before is None and self._drops_first and bool(self._kinds[ids[0]] & SPACED)
        return n, size - is_dropped, room.after
