"""Judging parts cut out of a stream: only what is wrong in any context is reported."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tokdfa.arrays import Int32Array
from tokdfa.errors import UnsupportedFeatureError
from tokdfa.splitting.lifted import LiftedState, TokenParts
from tokdfa.unicode.quick_check import borders, is_normal
from tokdfa.validation.judges.walk import WalkJudge
from tokdfa.validation.kind import ViolationKind
from tokdfa.validation.model import Model
from tokdfa.validation.table import Table
from tokdfa.validation.tuning import DEFAULT, Tuning
from tokdfa.validation.violation import Cause, Violation

__all__ = ["OpenJudge"]


_MOST_CONTINUATIONS = 3
_CONTINUATIONS = bytes(range(0x80, 0xC0))


class OpenJudge:
    """A judge that finds what is not canonical whatever comes before the ids and, unless the text ends, after them.

    Up to the first place where the text is certainly cut, the ids must be possible after some beginning of a text;
    every hypothesis that any text leads to is tried, and the text must be in the normalization form, if there is one.
    From there on nothing depends on what came before.

    Parameters
    ----------
    model : Model
    first, byte : int
        The index of the first token fed in the stream, and the offset of its first byte.
    tuning : Tuning, optional
        That of the walk from the first place on where the text is certainly cut.

    Raises
    ------
    UnsupportedFeatureError
        If the streams of the tokenizer cannot be walked.

    Notes
    -----
    What is found is not canonical in any context. The reverse is not promised: a hypothesis may be possible, yet only
    after texts whose last token may not be followed by the first one here.

    :meth:`~tokdfa.tokenizers.tokenizer.Tokenizer.safe_cuts` also knows where the text is certainly cut, sometimes
    earlier, since it considers what follows. That would change no verdict: up to a safe place the hypotheses that
    remain are followed here, and at such a place all of them agree. It would only read the ids twice.
    """

    def __init__(self, model: Model, first: int = 0, byte: int = 0, *, tuning: Tuning = DEFAULT) -> None:
        if model.tokenizer.pretokenizer is None:
            raise UnsupportedFeatureError(
                "a window can be judged only if a pre-tokenizer cuts the text, and this tokenizer has none",
                hint="name the pre-tokenizer that it is used with",
            )
        if model.table is None or not model.by_pairs or len(model.doubts.keys):
            why = "its text is not split by an automaton over bytes"
            if model.table is not None:
                why = "pairs of neighbouring tokens do not decide what merging gives"
            raise UnsupportedFeatureError(
                f"a window cannot be judged for this tokenizer: {why}", hint="validate whole streams or documents"
            )
        self._model = model
        self._tuning = tuning
        self._table: Table = model.table
        self._first, self._byte = first, byte
        self._before: int | None = None
        self._state = self._table.anywhere
        self._continuations = 0
        self._unnormalized = b""  # The text from the last place on before which normalization changes nothing.
        self._walk: WalkJudge | None = None

    @property
    def n_kept(self) -> int:
        """The number of ids kept."""
        return 0 if self._walk is None else self._walk.n_kept

    @property
    def byte(self) -> int:
        """The byte offset of the end of a finished text."""
        return self._byte if self._walk is None else self._walk.byte

    def feed(self, ids: Int32Array) -> Iterator[Violation]:
        """Take more ids, and yield the violations that they make certain."""
        for place, id in enumerate(ids.tolist()) if self._walk is None else ():
            if self._before is not None and self._table.is_cut_between(self._before, id):
                self._walk = WalkJudge(self._model, self._first, self._byte, tuning=self._tuning)
                ids = ids[place:]
                break
            yield from self._step(id)
            self._first += 1
            self._byte += int(self._model.lengths[id])
        if self._walk is not None:
            yield from self._walk.feed(ids)

    def finish(self) -> Iterator[Violation]:
        """End the text, and yield the remaining violations."""
        if self._walk is not None:
            yield from self._walk.finish()
        elif not self._table.lifted.is_final(self._state):
            yield self._violation(Cause(kind=ViolationKind.IN_NO_TEXT))

    def finish_open(self) -> Iterator[Violation]:
        """End a stream that may go on, and yield what is not canonical however it goes on."""
        if self._walk is not None:
            yield from self._walk.finish_open()

    def _step(self, id: int) -> Iterator[Violation]:
        parts = self._table.parts_of(id)
        target: LiftedState | None = None
        if parts == "special":
            target = self._table.lifted.initial if self._table.lifted.is_final(self._state) else None
        elif isinstance(parts, TokenParts):
            target = self._following(id, parts)
        if target is None or not self._is_in_form(id):
            target, self._unnormalized = None, b""
            yield self._violation(self._cause(id), id)
        self._state = self._table.anywhere if target is None else target
        self._before = None if target is None else id

    def _is_in_form(self, id: int) -> bool:
        """Return whether normalization leaves the text so far as it is, whatever precedes it."""
        form = self._model.form
        if form is None:
            return True
        if self._model.parts[id]:
            self._unnormalized = b""
            return True
        # The stream may begin within a symbol.
        data = (self._unnormalized + self._model.bytes_of(id)).lstrip(_CONTINUATIONS)
        text = data.decode("utf-8", "ignore")
        steady = borders(form)
        place = next((n for n in range(len(text) - 1, 0, -1) if steady[ord(text[n])]), 0)
        self._unnormalized = data[len(text[:place].encode()) :] if place else data
        return is_normal(text.encode("utf-8"), form)

    def _following(self, id: int, parts: TokenParts) -> LiftedState | None:
        if self._before is None and parts.head:
            # The end of a symbol that began earlier.
            self._continuations = len(parts.head)
            return LiftedState(self._table.anywhere.hypotheses, parts.tail)
        if self._continuations and parts.head and not self._state.cut:
            self._continuations += len(parts.head)
            if self._continuations > _MOST_CONTINUATIONS:
                return None
            return LiftedState(self._table.anywhere.hypotheses, parts.tail)
        self._continuations = 0
        may_continue = self._before is None or self._model.may_be_walked(self._before, id)
        return self._table.lifted.step(self._state, parts, may_continue)

    def _cause(self, id: int) -> Cause:
        if self._model.dead[id]:
            return self._model.cause(ViolationKind.DEAD_TOKEN, id)
        pair = None if self._before is None else (self._before, id)
        return self._model.cause(ViolationKind.IN_NO_TEXT, id, pair=pair)

    def _violation(self, cause: Cause, id: int | None = None) -> Violation:
        ids = [known for known in (self._before, id) if known is not None]
        return cause.at(
            index=self._first,
            detected_at=self._first,
            byte_offset=self._byte,
            start=self._first - (self._before is not None),
            ids=np.array(ids, dtype=np.int32),
            canonical_ids=None,
        )
