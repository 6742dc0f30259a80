"""The pair walk: one walk over the ids of a stream, with a closer look only where something is wrong."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from itertools import chain

import numpy as np

from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import LimitExceededError
from tokdfa.jobs.validation.engines.reencoding import TextComparison
from tokdfa.jobs.validation.model import Model
from tokdfa.jobs.validation.table import CONTEXT, Table
from tokdfa.jobs.validation.violation import Cause, Violation, ViolationKind
from tokdfa.jobs.validation.window import DEFAULT, NEAR, Rest, Tuning
from tokdfa.kernels.walk import walk as kernels
from tokdfa.regex.unicode.quick_check import boundaries, is_normal
from tokdfa.tokenizers.pretokenizers.token_lift import LiftState, TokenParts

LONGEST_PATIENCE = 1 << 18
"""The most ids to take before a certain cut is looked for again."""


class PairWalk:
    """The engine that finds violations in a stream with a few look-ups per id where there are none.

    Where the walk ends, :class:`TextComparison` takes over from a boundary where the text is always cut, so the
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
        self._closer: TextComparison | None = None
        self._is_sure = True
        self._until = -1
        self._beginning = Beginning(model) if window else None
        self._begin(first, byte)

    def _begin(self, first: int, byte: int) -> None:
        """Begin to walk with the token `first`, if there is a table."""
        self._first, self._byte = first, byte
        if self._model.table is None:
            self._closer, self._until = self._closely(first, byte), sys.maxsize
            return
        if not self._tuning.walks:
            # As if something were wrong at the end of the longest stream.
            self._closer, self._until = self._closely(first, byte), sys.maxsize - 1
            return
        self._closer = None
        self._table: Table = self._model.table
        self._cursor = kernels.Cursor()
        self._here = self._cursor.pointer
        self._here.row = self._table.initial * self._table.width
        # The ids since a boundary where the text is always cut, and the index of that boundary in the stream.
        self._past: list[Int32Array] = []
        self._n_past = 0
        # The number of these parts in which no such boundary was found.
        self._n_searched = 0
        self._patience = self._tuning.patience

    def _closely(self, first: int, byte: int, size: int | None = None) -> TextComparison:
        """Return the engine that looks closely from a token of the stream on, in windows of `size` ids."""
        return closely(self._model, first, byte, size, self._tuning)

    @property
    def n_kept(self) -> int:
        """The number of ids kept."""
        return self._n_past if self._closer is None else self._closer.n_kept

    @property
    def byte(self) -> int:
        """The byte offset of the end of a finished text."""
        if self._beginning is not None:
            return self._byte
        return self._byte + int(self._here.size) if self._closer is None else self._closer.byte

    def unjudged(self) -> tuple[Rest, Int32Array] | None:
        """Return where the ids that are kept begin, and them, if nothing before them matters; None if it does."""
        if self._beginning is not None or self._closer is not None:
            return None
        return Rest(self._first, self._byte), np.concatenate((np.zeros(0, dtype=np.int32), *self._past))

    def accept(self, ids: Int32Array) -> bool:
        """Take more ids if one walk shows that nothing is wrong up to their end; return whether it does."""
        if self._beginning is not None or self._closer is not None:
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
            if self._closer is not None:
                yield from self._closer.feed(ids, self._until)
                buffer = self._closer.buffer
                if buffer.first <= self._until or self._closer.drops_text:
                    return
                ids = buffer.take_all()
                self._begin(buffer.first, buffer.byte)
                if self._closer is not None:
                    continue
            index = self._walk(ids)
            if index == len(ids):
                self._remember(ids)
                return
            self._past.append(ids)
            ids = self._look_closely(index - len(ids))

    def finish(self) -> Iterator[Violation]:
        """End the stream, and yield the remaining violations."""
        if self._beginning is not None:
            if not self._beginning.may_end():
                yield self._impossible(Cause(kind=ViolationKind.IN_NO_TEXT), self._beginning.last)
            return
        if self._closer is None and not self._table.is_final(self._state):
            yield from self.feed(self._look_closely(0))
        if self._closer is not None:
            yield from self._closer.finish()

    def finish_open(self) -> Iterator[Violation]:
        """End a stream that may continue, and yield the violations that hold whatever comes next."""
        while self._beginning is None and self._closer is not None and not self._closer.drops_text:
            # Nothing canonical begins like this. The violation may look different when more follows.
            buffer = self._closer.buffer
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
        """Check ids up to the first boundary where the text is always cut, and return the rest."""
        for index, id in enumerate(map(int, ids)):
            if beginning.is_cut_before(id):
                self._beginning = None
                self._begin(self._first, self._byte)
                return ids[index:]
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
        known = np.array(ids if last is None else (last, *ids), dtype=np.int32)
        return cause.at(self._first - (last is not None), self._byte, known, index=self._first)

    def _look_closely(self, index: int) -> Int32Array:
        """Look closely up to `index`, counted from the end of the ids; return the ids to check."""
        ids: Int32Array = np.concatenate((np.zeros(0, dtype=np.int32), *self._past))
        index += len(ids)
        # No special token that the text spells goes from before this to after `index`.
        begin = self._table.last_certain(ids, index - CONTEXT - self._table.reach)
        byte = self._byte + int(self._model.lengths[ids[:begin]].sum())
        self._closer = self._closely(self._first + begin, byte, self._tuning.close_window)
        self._until = max(self._until, self._first + index)
        return ids[begin:]

    def _walk(self, ids: Int32Array) -> int:
        """Walk over ids; return the first one that is not canonical in its place, or their number if there is none."""
        # The last ids that were walked over, which may be looked at again.
        before = _last(self._past, self._table.reach + 1)
        head = min(len(ids), max(self._tuning.head, self._table.reach + 1)) if before else 0
        if head:
            n_before = sum(map(len, before))
            index = self._walk_on(np.concatenate((*before, ids[:head])), n_before) - n_before
            if index < head:
                return index
        return self._walk_on(ids, head)

    def _walk_on(self, ids: Int32Array, index: int) -> int:
        """Walk over ids from `index` on; see :meth:`_walk`."""
        here = self._here
        here.at = index
        pairs = self._table.pairs.struct_for(len(ids) - index)
        while True:
            status = self._cursor.walk(self._table.walker(pairs), ids)
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


def closely(model: Model, first: int, byte: int, size: int | None = None, tuning: Tuning = DEFAULT) -> TextComparison:
    """Return the engine that looks closely from a token of a stream on, in windows of `size` ids."""
    if model.trip is not None:
        return TextComparison(model.trip, first, byte, size=size, tuning=tuning)
    return TextComparison(model.tokenizer.round_trip, first, byte, pieces=model, size=size, tuning=tuning)


def _last(parts: list[Int32Array], n: int) -> list[Int32Array]:
    """Return the last n ids of parts, or all if there are fewer, in parts."""
    last: list[Int32Array] = []
    for part in reversed(parts):
        if n <= 0:
            break
        last.insert(0, part[-n:])
        n -= len(part)
    return last


_MOST_CONTINUATIONS = 3
_CONTINUATIONS = bytes(range(0x80, 0xC0))


class Beginning:
    """The possible states of the walk in a text with an unknown beginning: those that any text before leads to.

    The model has a table. `last` is the last id; None if nothing is known of the ids before the next one.

    Notes
    -----
    An id that is found impossible is so after any text. The reverse is not promised: a state may be possible, yet only
    after texts with a last token that may not precede the first one here.

    :meth:`~tokdfa.tokenizers.tokenizer.Tokenizer.safe_cuts` also knows where the text is always cut, sometimes earlier,
    since it considers the following ids. That would change no verdict: up to a safe cut the states that remain are
    followed here, and at such a cut all of them agree. It would only read the ids twice.
    """

    def __init__(self, model: Model) -> None:
        assert model.table is not None
        self._model = model
        self._table: Table = model.table
        self.last: int | None = None
        self._state = self._table.anywhere
        self._continuations = 0
        self._unnormalized = b""  # The text from the last offset on before which normalization changes nothing.

    def is_cut_before(self, id: int) -> bool:
        """Return whether the text is always cut before the next id, so that nothing depends on the ids before."""
        return self.last is not None and self._table.is_cut_between(self.last, id)

    def may_end(self) -> bool:
        """Return whether a text may end here."""
        return self._table.token_lift.is_final(self._state)

    def take(self, id: int) -> bool:
        """Take the next id, and return whether it is possible; after one that is not, nothing is known."""
        parts = self._table.parts_of(id)
        target: LiftState | None = None
        if parts == "special":
            target = self._table.token_lift.initial if self.may_end() else None
        elif isinstance(parts, TokenParts):
            target = self._following(id, parts)
        is_possible = target is not None and self._is_in_form(id)
        if target is None or not is_possible:
            self._unnormalized = b""
            self._state, self.last = self._table.anywhere, None
        else:
            self._state, self.last = target, id
        return is_possible

    def _is_in_form(self, id: int) -> bool:
        """Return whether normalization leaves the text so far as it is, after any text."""
        form = self._model.form
        if form is None:
            return True
        if self._model.parts[id]:
            self._unnormalized = b""
            return True
        # The stream may begin within a symbol.
        data = (self._unnormalized + self._model.bytes_of(id)).lstrip(_CONTINUATIONS)
        text = data.decode("utf-8", "ignore")
        steady = boundaries(form)
        index = next((n for n in range(len(text) - 1, 0, -1) if steady[ord(text[n])]), 0)
        self._unnormalized = data[len(text[:index].encode()) :] if index else data
        return is_normal(text.encode("utf-8"), form)

    def _following(self, id: int, parts: TokenParts) -> LiftState | None:
        if self.last is None and parts.head:
            # The end of a symbol that began earlier.
            self._continuations = len(parts.head)
            return LiftState(self._table.anywhere.states, parts.tail)
        if self._continuations and parts.head and not self._state.cut:
            self._continuations += len(parts.head)
            if self._continuations > _MOST_CONTINUATIONS:
                return None
            return LiftState(self._table.anywhere.states, parts.tail)
        self._continuations = 0
        may_continue = self.last is None or self._model.may_be_walked(self.last, id)
        return self._table.token_lift.step(self._state, parts, may_continue)
