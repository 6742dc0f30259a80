"""Judging streams of tokenizers that cut text into pieces."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.splitting.pretokenizer import PreTokenizer
from tokdfa.tokenizers.boundaries.pairs import CONTEXT
from tokdfa.validation.buffer import Buffer
from tokdfa.validation.items import NOT_SPECIAL, Items
from tokdfa.validation.judges.encoding import EncodingJudge
from tokdfa.validation.model import Model
from tokdfa.validation.tuning import DEFAULT, Tuning
from tokdfa.validation.violation import Violation, common_prefix
from tokdfa.validation.window import FoundSpecial, Window

__all__ = ["PieceJudge"]


class _TextIsDroppedError(Exception):
    """The pre-tokenizer drops text, so ids and pieces do not run in parallel."""


class PieceJudge:
    """A judge that finds violations in a stream, window by window.

    A window ends at a place where the text is certainly cut and a token ends; it grows until there is such a place.
    Within it the pieces must begin and end with tokens. What merging gives is decided by pairs of neighbours, or by
    encoding the pieces again if the dictionary is not proper.

    Parameters
    ----------
    model : Model
        That of a tokenizer with a pre-tokenizer and a dictionary over bytes.
    buffer : Buffer, optional
        An empty one, which knows where the stream goes on and how large windows are.
    tuning : Tuning, optional
        The number of ids that are judged at once if no buffer is given, and the maximum number that are kept.

    Attributes
    ----------
    buffer : Buffer
        The ids that have not been judged yet.
    """

    def __init__(self, model: Model, buffer: Buffer | None = None, *, tuning: Tuning = DEFAULT) -> None:
        assert model.tokenizer.pretokenizer is not None
        self._model = model
        self._split: PreTokenizer = model.tokenizer.pretokenizer
        self._borders = model.borders
        self.buffer = Buffer(size=tuning.window) if buffer is None else buffer
        self._tuning = tuning
        self._by_encoding: EncodingJudge | None = None

    @property
    def n_kept(self) -> int:
        """The number of ids kept."""
        return len(self.buffer) + (0 if self._by_encoding is None else self._by_encoding.n_kept)

    @property
    def byte(self) -> int:
        """The byte offset of the end of a finished text."""
        return self.buffer.byte if self._by_encoding is None else self._by_encoding.byte

    def feed(self, ids: Int32Array, until: int | None = None) -> Iterator[Violation]:
        """Take more ids, and yield the violations that they make certain.

        With `until`, judging stops once token `until` of the stream has been judged.
        """
        self.buffer.append(ids)
        while self._by_encoding is None and self.buffer.is_full() and (until is None or self.buffer.first <= until):
            yield from self._judge(final=False)
        if self._by_encoding is not None:
            yield from self._by_encoding.feed(self.buffer.take_all())

    def finish(self) -> Iterator[Violation]:
        """End the stream, and yield the remaining violations."""
        while self._by_encoding is None and len(self.buffer):
            yield from self._judge(final=self.buffer.is_last)
        if self._by_encoding is not None:
            yield from self._by_encoding.finish()

    def _judge(self, final: bool) -> Iterator[Violation]:
        buffer = self.buffer
        window = Window(self._model, buffer.window, buffer.first, buffer.byte, final)
        try:
            violations, stop = self._judge_window(window)
        except _TextIsDroppedError:
            self._by_encoding = EncodingJudge(
                self._model.tokenizer.round_trip, buffer.first, buffer.byte, tuning=self._tuning
            )
            yield from self._by_encoding.feed(buffer.take_all())
            return
        buffer.drop(stop, int(window.starts[stop] if stop < len(window.starts) else window.ends[-1]))
        yield from violations

    def _judge_window(self, window: Window) -> tuple[Iterator[Violation], int]:
        """Return the violations of a window, and the first token of the next window."""
        text = window.text
        specials = window.specials()
        intruder = specials.intruder
        closed = window.final and intruder is None and window.bad is None
        end = intruder.start if intruder is not None else specials.decided
        spans: list[Int64Array] = []
        ids: list[Int32Array] = []
        begin = 0
        for special in specials.found:
            spans.append(self._pieces(text[begin : special.start], begin, special.start))
            ids.append(np.full(len(spans[-1]), NOT_SPECIAL, dtype=np.int32))
            spans.append(np.array([[special.start, special.end]]))
            ids.append(np.array([special.id], dtype=np.int32))
            begin = special.end
        cut = len(text) if closed else self._certain_border(window, begin, end - CONTEXT)
        spans.append(self._pieces(text[begin:] if closed else text[begin : cut + CONTEXT], begin, cut))
        ids.append(np.full(len(spans[-1]), NOT_SPECIAL, dtype=np.int32))
        stop = len(window.ids) if closed else window.token_from(int(window.byte_at[cut]))
        violations = Items(window, np.concatenate(spans), np.concatenate(ids), stop).violations()
        if closed:
            return violations, stop
        if intruder is not None:
            return self._then_intruder(violations, window, cut, intruder)
        if window.bad is not None:
            violation, stop = window.not_utf8()
            return _then(violations, violation), stop
        return violations, stop

    def _pieces(self, text: str, begin: int, cut: int) -> Int64Array:
        """Return the pieces up to character `cut` of a text that begins at character `begin`, as pairs of offsets."""
        spans = begin + np.array(self._split.spans(text), dtype=np.int64).reshape(-1, 2)
        spans = spans[spans[:, 1] <= cut]
        bounds = np.concatenate(([begin], spans[:, 1]))
        if bounds[-1] != cut or not np.array_equal(bounds[:-1], spans[:, 0]):
            raise _TextIsDroppedError
        return spans

    def _certain_border(self, window: Window, begin: int, end: int) -> int:
        """Return the last place up to `end` where both the text and the ids are certainly cut; or `begin`."""
        place = end
        while (place := self._borders.last(window.text, begin, place)) > begin and not window.is_border(place):
            place -= 1
        return max(place, begin)

    def _then_intruder(
        self, violations: Iterator[Violation], window: Window, cut: int, intruder: FoundSpecial
    ) -> tuple[Iterator[Violation], int]:
        start = window.token_from(int(window.byte_at[cut]))
        end = int(window.byte_at[intruder.end])
        stop = window.token_from(end)
        pieces = self._split.split(window.text[cut : intruder.start])
        canonical = np.append(self._model.tokenizer.encode_pieces(pieces).ids, np.int32(intruder.id))
        prefix = common_prefix(window.ids[start:stop], canonical)
        behind = window.data[end : window.ends[stop - 1]].decode("utf-8", "ignore")
        canonical = np.append(canonical, self._model.tokenizer.encode_pieces(self._split.split(behind)).ids)
        violation = window.violation(
            start, stop, prefix, canonical, window.token_at(end - 1), window.spelling(intruder)
        )
        return _then(violations, violation), stop


def _then(violations: Iterator[Violation], last: Violation) -> Iterator[Violation]:
    yield from violations
    yield last
