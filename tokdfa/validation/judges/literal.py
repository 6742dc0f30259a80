"""Judging by the definition: decoding everything, and encoding it again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from tokdfa.arrays import Int32Array
from tokdfa.errors import AlphabetError, LimitExceededError
from tokdfa.validation.model import Model
from tokdfa.validation.violation import Violation, common_prefix, encode_again
from tokdfa.validation.window import Window

__all__ = ["LiteralJudge"]


MAX_IDS = 1 << 26


class LiteralJudge:
    """Compares a stream with the encoding of its text.

    It is for tokenizers whose pieces do not run in parallel with their text (some is dropped, or spaces are put in),
    and keeps the whole stream in memory.

    Parameters
    ----------
    model : Model
    first, byte : int
        Which token of the stream is the first one fed, and where its bytes begin.
    cuts : bool
        Whether special tokens cut the stream that are not found in texts.
    """

    def __init__(self, model: Model, first: int = 0, byte: int = 0, *, cuts: bool = True) -> None:
        self._model = model
        self._cuts = cuts and not model.tokenizer.finds_specials
        self._first = first
        self._byte = byte
        self._chunks: list[Int32Array] = []
        self._length = 0

    @property
    def n_kept(self) -> int:
        """How many ids are kept."""
        return self._length

    def feed(self, ids: Int32Array) -> Iterator[Violation]:
        """Take more ids; nothing is certain before the end."""
        self._length += len(ids)
        if self._length > MAX_IDS:
            raise LimitExceededError(
                "the stream is too long to be judged as a whole",
                where=f"token {self._first + MAX_IDS}",
                hint="this tokenizer drops or adds text; validate parts of the stream",
            )
        self._chunks.append(ids)
        return iter(())

    def finish_open(self) -> Iterator[Violation]:
        """Take the end of what may go on, of which nothing is certain."""
        return iter(())

    def finish(self) -> Iterator[Violation]:
        """Take the end of the stream; yield the violations."""
        ids = np.concatenate((np.zeros(0, dtype=np.int32), *self._chunks))
        bounds = [0, len(ids)]
        if self._cuts:
            # The text of special tokens is not looked at.
            specials = np.flatnonzero(self._model.special[ids])
            bounds = np.unique(np.concatenate(([0], specials, specials + 1, [len(ids)]))).tolist()
        for start, stop in pairwise(bounds):
            is_cut = self._cuts and stop == start + 1 and self._model.special[ids[start]]
            if stop > start and not is_cut:
                yield from self._stretch(ids[start:stop])
            size = int(self._model.lengths[ids[start:stop]].sum())
            self._first += stop - start
            self._byte += size

    def _stretch(self, ids: Int32Array) -> Iterator[Violation]:
        window = Window(self._model, ids, self._first, self._byte, final=True)
        if window.bad is not None:
            yield window.not_utf8()[0]
            return
        try:
            canonical = encode_again(self._model.tokenizer, window.text)
        except AlphabetError as error:
            # A token may be what cannot be encoded, or what the tokenizer itself puts in or appends.
            places = (place for place, id in enumerate(ids.tolist()) if not self._can_be_encoded(id))
            place = next(places, 0)
            yield window.violation(place, place + 1, 0, None, place, f"their text cannot be encoded: {error}")
            return
        if np.array_equal(ids, canonical):
            return
        for (start, stop), (low, high) in _differences(self._model, ids, canonical):
            part = canonical[low:high]
            prefix = common_prefix(ids[start:stop], part)
            yield window.violation(start, stop, prefix, part, start + prefix, "the text is encoded otherwise")

    def _can_be_encoded(self, id: int) -> bool:
        try:
            encode_again(self._model.tokenizer, self._model.bytes_of(id).decode("utf-8", "replace"))
        except AlphabetError:
            return False
        return True


def _differences(
    model: Model, ids: Int32Array, canonical: Int32Array
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield where two tokenizations differ, as parts of each that have the same bytes.

    Where the bytes differ as well, it is everything between what they begin and what they end with.
    """
    ends, other_ends = np.cumsum(model.lengths[ids]), np.cumsum(model.lengths[canonical])
    if len(ids) and len(canonical) and ends[-1] == other_ends[-1]:
        _, left, right = np.intersect1d(ends, other_ends, return_indices=True)
        start = low = 0
        for stop, high in zip((left + 1).tolist(), (right + 1).tolist(), strict=True):
            if not np.array_equal(ids[start:stop], canonical[low:high]):
                yield (start, stop), (low, high)
            start, low = stop, high
        return
    begin = common_prefix(ids, canonical)
    rest = min(len(ids), len(canonical)) - begin
    end = common_prefix(ids[::-1][:rest], canonical[::-1][:rest])
    yield (begin, len(ids) - end), (begin, len(canonical) - end)
