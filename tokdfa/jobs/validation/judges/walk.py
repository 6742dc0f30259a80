"""Judging streams by one walk over their ids, with a closer look only where something is wrong."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from itertools import chain

import numpy as np

from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import LimitExceededError
from tokdfa.jobs.validation.judges.accepting import NEAR, Rest
from tokdfa.jobs.validation.judges.beginning import Beginning
from tokdfa.jobs.validation.judges.encoding import EncodingJudge
from tokdfa.jobs.validation.kind import ViolationKind
from tokdfa.jobs.validation.model import Model
from tokdfa.jobs.validation.table import CONTEXT, Table
from tokdfa.jobs.validation.tuning import DEFAULT, Tuning
from tokdfa.jobs.validation.violation import Cause, Violation
from tokdfa.kernels.walk import walk as kernels

LONGEST_PATIENCE = 1 << 18
"""The most ids to take before a certain cut is looked for again."""


class WalkJudge:
    """A judge that finds violations in a stream, with a few look-ups per id where there are none.

    Where the walk ends, :class:`EncodingJudge` judges, starting from a boundary where the text is always cut, so the
    findings are the same: by the pieces of the text, or by encoding it again where it is brought into a normalization
    form before it is split. After that the walk starts again.

    In a window, the ids up to the first boundary where the text is always cut must be possible after some text; see
    :class:`Beginning`.

    The model's tokenizer has a pre-tokenizer and a dictionary over bytes. The model has a table if the stream is a
    window. `first` is the index of the first token fed in the stream, and `byte` the offset of its first byte.
    """

    def __init__(
        self, model: Model, first: int = 0, byte: int = 0, *, window: bool = False, tuning: Tuning = DEFAULT
    ) -> None:
        self._model = model
        self._tuning = tuning
        self._judge: EncodingJudge | None = None
        self._is_sure = True
        self._until = -1
        self._beginning = Beginning(model) if window else None
        self._begin(first, byte)

    def _begin(self, first: int, byte: int) -> None:
        """Begin to walk with the token `first`, if there is a table."""
        self._first, self._byte = first, byte
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
        # The ids since a boundary where the text is always cut, and the index of that boundary in the stream.
        self._past: list[Int32Array] = []
        self._n_past = 0
        # The number of these parts in which no such boundary was found.
        self._n_searched = 0
        self._patience = self._tuning.patience

    def _closely(self, first: int, byte: int, size: int | None = None) -> EncodingJudge:
        """Return a judge that looks closely from a token of the stream on, in windows of `size` ids."""
        return closely(self._model, first, byte, size, self._tuning)

    @property
    def n_kept(self) -> int:
        """The number of ids kept."""
        return self._n_past if self._judge is None else self._judge.n_kept

    @property
    def byte(self) -> int:
        """The byte offset of the end of a finished text."""
        if self._beginning is not None:
            return self._byte
        return self._byte + int(self._here.size) if self._judge is None else self._judge.byte

    def unjudged(self) -> tuple[Rest, Int32Array] | None:
        """Return where the ids that are kept begin, and them, if nothing before them matters; None if it does."""
        if self._beginning is not None or self._judge is not None:
            return None
        return Rest(self._first, self._byte), np.concatenate((np.zeros(0, dtype=np.int32), *self._past))

    def accept(self, ids: Int32Array) -> bool:
        """Take more ids if one walk shows that nothing is wrong up to their end; return whether it does."""
        if self._beginning is not None or self._judge is not None:
            return False
        row, size = self._here.row, self._here.size
        if self._walk(ids) < len(ids):
            self._here.row, self._here.size = row, size
            return False
        self._remember(ids)
        return True

    def feed(self, ids: Int32Array) -> Iterator[Violation]:
        """Take more ids, and yield the violations that they settle."""
        if self._beginning is not None:
            ids = yield from self._feed_beginning(self._beginning, ids)
            if self._beginning is not None:
                return
        while True:
            if self._judge is not None:
                yield from self._judge.feed(ids, self._until)
                buffer = self._judge.buffer
                if buffer.first <= self._until or self._judge.drops_text:
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
        if self._beginning is not None:
            if not self._beginning.may_end():
                yield self._impossible(Cause(kind=ViolationKind.IN_NO_TEXT), self._beginning.last)
            return
        if self._judge is None and not self._table.is_final(self._state):
            yield from self.feed(self._look_closely(0))
        if self._judge is not None:
            yield from self._judge.finish()

    def finish_open(self) -> Iterator[Violation]:
        """End a stream that may continue, and yield the violations that hold whatever comes next."""
        while self._beginning is None and self._judge is not None and not self._judge.drops_text:
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

    def _feed_beginning(self, beginning: Beginning, ids: Int32Array) -> Generator[Violation, None, Int32Array]:
        """Judge ids up to the first boundary where the text is always cut, and return the rest."""
        for place, id in enumerate(map(int, ids)):
            if beginning.is_cut_before(id):
                self._beginning = None
                self._begin(self._first, self._byte)
                return ids[place:]
            last = beginning.last
            if not beginning.take(id):
                pair = None if last is None else (last, id)
                cause = self._model.cause(ViolationKind.IN_NO_TEXT, id, pair=pair)
                if self._model.dead[id]:
                    cause = self._model.cause(ViolationKind.DEAD_TOKEN, id)
                yield self._impossible(cause, last, id)
            self._first += 1
            self._byte += int(self._model.lengths[id])
        return ids[:0]

    def _impossible(self, cause: Cause, last: int | None, *ids: int) -> Violation:
        """Return the violation that no text has an id, or its end, after the last one, if that is known."""
        known = ids if last is None else (last, *ids)
        return cause.at(
            index=self._first,
            detected_at=self._first,
            byte_offset=self._byte,
            start=self._first - (last is not None),
            ids=np.array(known, dtype=np.int32),
            canonical_ids=None,
        )

    def _look_closely(self, place: int) -> Int32Array:
        """Judge the ids up to `place`, counted from their end, closely; return the ids to judge."""
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
        # The last ids that were walked over, which may be looked at again.
        before = _last(self._past, self._table.reach + 1)
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
        pairs = self._table.pairs.struct_for(len(ids) - place)
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

    def _remember(self, ids: Int32Array) -> None:
        """Keep the ids walked over with which a violation may begin that is found later."""
        self._past.append(ids)
        self._n_past += len(ids)
        if self._n_past < self._patience:
            return
        margin = self._table.margin
        # Usually a boundary is near, and nothing else needs to be looked at.
        part = ids[-NEAR:]
        begin = self._table.last_certain(part, len(part) - margin)
        if not begin:
            # The parts that were searched before have no such boundary, except at their end.
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


def closely(model: Model, first: int, byte: int, size: int | None = None, tuning: Tuning = DEFAULT) -> EncodingJudge:
    """Return a judge that looks closely from a token of a stream on, in windows of `size` ids."""
    if model.trip is not None:
        return EncodingJudge(model.trip, first, byte, size=size, tuning=tuning)
    return EncodingJudge(model.tokenizer.round_trip, first, byte, pieces=model, size=size, tuning=tuning)


def _last(parts: list[Int32Array], n: int) -> list[Int32Array]:
    """Return the last n ids of parts, or all if there are fewer, in parts."""
    last: list[Int32Array] = []
    for part in reversed(parts):
        if n <= 0:
            break
        last.insert(0, part[-n:])
        n -= len(part)
    return last
