"""Judging streams by one walk over their ids, with a closer look only where something is wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from tokdfa.arrays import Int32Array
from tokdfa.errors import LimitExceededError
from tokdfa.kernels.walk import walk as kernels
from tokdfa.validation.buffer import Buffer
from tokdfa.validation.judges.encoding import EncodingJudge
from tokdfa.validation.judges.pieces import PieceJudge
from tokdfa.validation.judges.whole_walk import NEAR
from tokdfa.validation.model import Model
from tokdfa.validation.table import CONTEXT, Table
from tokdfa.validation.tuning import DEFAULT, Tuning
from tokdfa.validation.violation import Violation

__all__ = ["WalkJudge"]


LONGEST_PATIENCE = 1 << 18
"""The most ids to take before a certain cut is looked for again."""


class WalkJudge:
    """A judge that finds violations in a stream, with a few look-ups per id where there are none.

    Where the walk ends, the pieces are judged by :class:`PieceJudge`, starting from a place where the text is certainly
    cut, so the findings are the same. After them the walk starts again. Where texts are brought into a normalization
    form before they are split, the walk looks at what may change, and :class:`EncodingJudge` judges where it ends.

    Parameters
    ----------
    model : Model
        Of a tokenizer with a pre-tokenizer, whose dictionary is over bytes.
    first, byte : int
        The index of the first token fed in the stream, and the offset of its first byte.
    tuning : Tuning, optional
        The numbers of ids that are walked over, looked at closely and kept at a time.
    """

    def __init__(self, model: Model, first: int = 0, byte: int = 0, *, tuning: Tuning = DEFAULT) -> None:
        self._model = model
        self._tuning = tuning
        self._judge: PieceJudge | EncodingJudge | None = None
        self._is_sure = True
        self._until = -1
        self._begin(first, byte)

    def _begin(self, first: int, byte: int) -> None:
        """Begin to walk with the token `first`, if there is a table."""
        if self._model.table is None:
            self._judge, self._until = self._closely(first, byte), sys.maxsize
            return
        if not self._tuning.walks:
            # As if something were wrong at the end of the longest stream.
            self._judge, self._until = self._closely(first, byte), sys.maxsize - 1
            return
        self._judge = None
        self._table: Table = self._model.table
        self._place = kernels.Place()
        self._here = self._place.pointer
        self._here.row = self._table.initial * self._table.width
        # The ids since a place where the text is certainly cut, and the position of that place in the stream.
        self._past: list[Int32Array] = []
        self._first, self._byte, self._n_past = first, byte, 0
        # The number of those parts in which no such place was found.
        self._n_searched = 0
        self._patience = self._tuning.patience

    def _closely(self, first: int, byte: int, window: int | None = None) -> PieceJudge | EncodingJudge:
        """Return what judges piece by piece from a token of the stream on."""
        size = self._tuning.window if window is None else window
        if self._model.trip is not None:
            return EncodingJudge(self._model.trip, first, byte, tuning=replace(self._tuning, window=size))
        return PieceJudge(self._model, Buffer(first, byte, size), tuning=self._tuning)

    @property
    def n_kept(self) -> int:
        """The number of ids kept."""
        return self._n_past if self._judge is None else self._judge.n_kept

    @property
    def byte(self) -> int:
        """The byte offset of the end of a finished text."""
        return self._byte + int(self._here.size) if self._judge is None else self._judge.byte

    def feed(self, ids: Int32Array) -> Iterator[Violation]:
        """Take more ids, and yield the violations that they make certain."""
        while True:
            if self._judge is not None:
                yield from self._judge.feed(ids, self._until)
                buffer = self._judge.buffer
                if buffer.first <= self._until:
                    return
                ids = buffer.take_all()
                self._begin(buffer.first, buffer.byte)
                if self._judge is not None:
                    continue
            place = self._walk(ids)
            if place == len(ids):
                self._remember(ids)
                return
            self._past.append(ids)
            ids = self._look_closely(place - len(ids))

    def finish(self) -> Iterator[Violation]:
        """End the stream, and yield the remaining violations."""
        if self._judge is None and not self._table.is_final(self._state):
            yield from self.feed(self._look_closely(0))
        if self._judge is not None:
            yield from self._judge.finish()

    def finish_open(self) -> Iterator[Violation]:
        """End a stream that may go on, and yield what is not canonical however it goes on."""
        while self._judge is not None:
            # Nothing canonical begins like this. The violation may look different when more follows.
            buffer = self._judge.buffer
            first, byte, ids = buffer.first, buffer.byte, buffer.take_all()
            closed = self._closely(first, byte)
            is_wrong = self._until < sys.maxsize and self._is_sure
            found = chain(closed.feed(ids), closed.finish()) if is_wrong else iter(())
            violation = next(found, None)
            if violation is None:
                return
            yield violation
            stop = violation.start - first + max(len(violation.ids), 1)
            self._begin(first + stop, byte + int(self._model.lengths[ids[:stop]].sum()))
            yield from self.feed(ids[stop:])

    def _look_closely(self, place: int) -> Int32Array:
        """Judge the ids up to `place`, counted from their end, piece by piece; return those to judge."""
        ids: Int32Array = np.concatenate((np.zeros(0, dtype=np.int32), *self._past))
        place += len(ids)
        # No special token that the text spells goes from before this to after `place`.
        begin = self._table.last_certain(ids, place - CONTEXT - self._table.reach)
        byte = self._byte + int(self._model.lengths[ids[:begin]].sum())
        self._judge = self._closely(self._first + begin, byte, self._tuning.close_window)
        self._until = max(self._until, self._first + place)
        return ids[begin:]

    def _walk(self, ids: Int32Array) -> int:
        """Walk over ids; return the first one that is not canonical in its place, or their number if there is none."""
        before = self._before()
        head = min(len(ids), max(self._tuning.head, self._table.reach + 1)) if before else 0
        if head:
            n_before = sum(map(len, before))
            place = self._walk_on(np.concatenate((*before, ids[:head])), n_before) - n_before
            if place < head:
                return place
        return self._walk_on(ids, head)

    def _walk_on(self, ids: Int32Array, place: int) -> int:
        """Walk over ids from `place` on; see :meth:`_walk`."""
        here = self._here
        here.at = place
        pairs = self._model.walked_pairs.struct_for(len(ids) - place)
        while True:
            status = self._place.walk(self._table.walker(pairs), ids)
            if status != kernels.UNSURE:
                self._is_sure = status != kernels.UNDECIDED
                return int(here.at)
            try:
                self._table.learn(self._state, int(ids[here.at]))
            except LimitExceededError:
                self._until = sys.maxsize
                return int(here.at)

    @property
    def _state(self) -> int:
        """The state before the next id."""
        return int(self._here.row) // self._table.width

    def _before(self) -> list[Int32Array]:
        """Return the last ids that were walked over and may be looked at again."""
        return _last(self._past, self._table.reach + 1)

    def _remember(self, ids: Int32Array) -> None:
        """Keep of the ids walked over those with which something wrong after them may begin."""
        self._past.append(ids)
        self._n_past += len(ids)
        if self._n_past < self._patience:
            return
        margin = 1 + CONTEXT + self._table.reach
        # Usually such a place is near, and nothing else needs to be looked at.
        part = ids[-NEAR:]
        begin = self._table.last_certain(part, len(part) - margin)
        if not begin:
            # No such place is in the parts that were searched before, but for their end.
            searched, new = self._past[: self._n_searched], self._past[self._n_searched :]
            part = np.concatenate((*_last(searched, margin + 1), *new))
            begin = self._table.last_certain(part, len(part) - margin)
            if not begin:
                n_new = sum(map(len, new))
                self._past = [*searched, part[len(part) - n_new :]]
        if begin:
            kept = part[begin:].copy()
            end = self._byte + self._here.size
            self._first += self._n_past - len(kept)
            self._here.size = int(self._model.lengths[kept].sum())
            self._byte = end - self._here.size
            self._past, self._n_past = [kept], len(kept)
        self._n_searched = len(self._past)
        self._patience = self._n_past + min(max(self._tuning.patience, self._n_past), LONGEST_PATIENCE)


def _last(parts: list[Int32Array], n: int) -> list[Int32Array]:
    """Return the last n ids of parts, or all if there are fewer, in parts."""
    last: list[Int32Array] = []
    for part in reversed(parts):
        if n <= 0:
            break
        last.insert(0, part[-n:])
        n -= len(part)
    return last
