"""The validator of streams that come in chunks, document by document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import Int32Array, Int64Array, IntegerArray, id_array
from tokdfa.base.errors import TokenStreamError
from tokdfa.base.suggestions import SuggestsNames, expect
from tokdfa.jobs.validation.engine import engine_of
from tokdfa.jobs.validation.violation import Violation
from tokdfa.jobs.validation.window import DEFAULT, WHOLE, Block, Feed, Rest, Tuning
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["ValidationOptions", "Validator", "checked_separator", "document_starts"]


_LAST = np.iinfo(np.int64).max

_STEP = 1 << 8
"""The number of ids that are first judged one by one where what was before decides."""

_NONE: Int64Array = np.zeros(0, dtype=np.int64)


class ValidationOptions(TypedDict, total=False):
    """The options of :func:`tokdfa.validate` that say how a stream is result."""

    window: bool
    documents: int | npt.ArrayLike | None
    literal: bool


class Validator(SuggestsNames):
    """A validator for a stream that comes in chunks, in memory that does not grow with the stream.

    The answer does not depend on how the stream is cut into chunks. The end of the stream is kept, back to the last
    boundary where its text is always cut into pieces; an endless piece is kept as a whole.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    window, documents, literal
        See :func:`tokdfa.validate`.

    Attributes
    ----------
    tokens : int
        The number of ids fed so far.

    Raises
    ------
    ImproperDictionaryError
        If the dictionary is not proper and its format does not say how libraries merge with it.
    UnsupportedFeatureError
        If windows or documents of such a tokenizer cannot be judged.
    TokenStreamError
        If the documents do not begin in order, or are not given by ids.

    Notes
    -----
    A stream is canonical iff ``encode(decode(ids)) == ids``. By *Constructing a BPE Tokenization DFA*, Observation 2,
    that depends on pairs of neighbours within each piece, so only the wrong parts are encoded again. Tokenizers that
    drop text or insert spaces are the exception: their streams are decoded and encoded as a whole.

    Examples
    --------
    >>> validator = tokdfa.Validator(tokdfa.default_tokenizer())
    >>> found = validator.feed([64, 261]) + validator.feed([1193]) + validator.finish()
    >>> validator.tokens, [violation.index for violation in found]
    (3, [1])
    """

    def __init__(
        self,
        tokenizer: AnyTokenizer,
        *,
        window: bool = False,
        documents: int | npt.ArrayLike | None = None,
        literal: bool = False,
    ) -> None:
        expect(tokenizer, AnyTokenizer, "a tokenizer", "tokdfa.validate(tokenizer, ids)")
        options = (window, literal) if window or literal else ()
        self._engine = tokenizer.derived(engine_of, *options)
        self._tokenizer = tokenizer  # The tables of the engine do not hold it.
        self._decoder = tokenizer.decoder
        self._window = window
        self._starts: Int64Array | None = None
        self._separator: int | None = None
        self._separator_size = 0
        if isinstance(documents, (int, np.integer, np.bool_)):
            self._separator = separator = checked_separator(documents)
            if self._decoder.is_id(separator):
                self._separator_size = len(tokenizer.decode_bytes([separator]))
        elif documents is not None:
            self._starts = document_starts(documents)
        self._tune(DEFAULT)

    def _tune(self, tuning: Tuning) -> None:
        """Use other thresholds, before anything is fed."""
        self._tuning = tuning
        self._engine_from = self._engine.stream_engines(tuning)
        self._checks_blocks = tuning.at_once is not None and tuning.walks and self._engine.checks_blocks
        self._skip_to(WHOLE)

    def _skip_to(self, rest: Rest) -> None:
        """Begin with this part of the stream, before anything is fed, if the ids before it are judged."""
        self.tokens = self._first = self._document_first = rest.first
        self._open(rest)

    def _open(self, rest: Rest) -> None:
        """Check from here on, where a document begins, or a text continues after a boundary where it is always cut."""
        # Only engines that encode again ask whether a text begins.
        how: dict[str, Any] = {} if rest.begins else {"begins": False, "following": rest.following}
        self._stream = self._engine_from(rest.first, rest.byte, **how)

    def feed(
        self, ids: npt.ArrayLike, starts: Int64Array | None = None, separators: Int64Array | None = None
    ) -> list[Violation]:
        """Take more ids, and return the violations that they settle.

        Parameters
        ----------
        ids : array_like of int
        starts : int64 array, optional
            The indices among them at which documents begin, ascending, instead of the ones given at first. Only for a
            validator with `documents`, which may be ``()``.
        separators : int64 array, optional
            The indices among them of ids in no document, ascending; the values of these ids do not matter. Only for a
            validator with `documents`.

        Raises
        ------
        TokenStreamError
            If they are not integers.
        """
        return [*self.iter_feed(ids, starts, separators)]

    def iter_feed(
        self, ids: npt.ArrayLike, starts: Int64Array | None = None, separators: Int64Array | None = None
    ) -> Iterator[Violation]:
        """Yield the violations of :meth:`feed`; only as many ids are judged as the violations that are taken need.

        After a violation that is not taken, the stream cannot be continued.
        """
        for found in self.iter_parts(ids, starts, separators):
            yield from found

    def iter_checked(
        self,
        ids: Int32Array,
        starts: Int64Array | None = None,
        separators: Int64Array | None = None,
        unknown: tuple[Int64Array, IntegerArray] = (_NONE, _NONE),
    ) -> Iterator[Sequence[Violation]]:
        """Yield the violations of :meth:`feed` in parts, for ids that are checked, and that nobody else can change.

        The ids that the tokenizer does not have are at the indices `unknown`, with their values; others stand there.
        """
        feed = Feed(ids, self._begun(ids, starts), _NONE if separators is None else separators, *unknown)
        yield from self._feed(feed, is_last=False)

    def iter_parts(
        self,
        ids: npt.ArrayLike,
        starts: Int64Array | None = None,
        separators: Int64Array | None = None,
        *,
        is_last: bool = False,
    ) -> Iterator[Sequence[Violation]]:
        """Yield the violations of :meth:`feed` in parts; for the last ids, also those of :meth:`finish`."""
        array = id_array(ids)
        if self._separator is not None:
            separators = np.flatnonzero(array == self._separator)
        if separators is not None and not (self._separator is not None and self._decoder.is_id(self._separator)):
            array = array.copy()
            array[separators] = self._decoder.placeholder_id
        checked, unknown = self._decoder.check_known(array)
        begun = self._begun(array, starts)
        separators = _NONE if separators is None else separators
        yield from self._feed(Feed(checked, begun, separators, unknown, array[unknown]), is_last)

    @property
    def n_kept(self) -> int:
        """The number of ids kept because they may belong to a violation still to come."""
        return self._stream.n_kept

    def skip(self, ids: npt.ArrayLike) -> None:
        """Count more ids without judging them."""
        self.tokens += len(id_array(ids))

    def check_end(self) -> None:
        """Check, once all ids have been fed, that no document begins after the last of them.

        Raises
        ------
        TokenStreamError
            If one does; the error says which.
        """
        if self._starts is not None and len(self._starts) and self._starts[-1] > self.tokens:
            index = int(np.argmax(self._starts > self.tokens))
            raise TokenStreamError(
                "a document begins after the end of the stream",
                value=int(self._starts[index]),
                where=f"document {index}",
                hint=f"the stream has {self.tokens} tokens",
            )

    def finish(self) -> list[Violation]:
        """End the stream, and return the remaining violations.

        Raises
        ------
        TokenStreamError
            As :meth:`check_end` does.
        """
        return [*self.iter_finish()]

    def iter_finish(self) -> Iterator[Violation]:
        """Yield the violations of :meth:`finish`."""
        self.check_end()
        yield from self._stream.finish_open() if self._window else self._stream.finish()

    # Documents

    def _begun(self, ids: IntegerArray, starts: Int64Array | None) -> Int64Array:
        """Return where among the next ids documents begin."""
        if starts is not None or self._starts is None:
            return _NONE if starts is None else starts
        low, high = np.searchsorted(self._starts, [self._first, self._first + len(ids)])
        return self._starts[low:high] - self._first

    def _feed(self, feed: Feed, is_last: bool) -> Iterator[Sequence[Violation]]:
        """Take more ids, and yield in parts the violations that they settle; all, if they are the last ones."""
        n, at, step = len(feed.ids), 0, _STEP
        closes = is_last and not self._window
        self.tokens += n
        while self._checks_blocks and at < n and (is_last or n - at >= (self._tuning.at_once or 0)):
            end = min(at + self._tuning.chunk, n)
            is_end = closes and end == n
            part = feed.part(at, end)
            if not is_end and part.is_plain and self._stream.accept(part.ids):
                self._first += end - at
                at = end
                continue
            held = self._stream.unjudged()
            if held is None or len(held[1]) > end - at:
                # Earlier ids decide, or nothing has cut the text for long: the ids kept are not judged again.
                end = end if held is not None else min(at + step, n)
                step *= 2
                yield from self._one_by_one(feed.part(at, end))
            else:
                yield from self._at_once(part, *held, is_last=is_end)
                if is_end:
                    return
            at = end
        if at < n or not n:
            yield from self._one_by_one(feed.part(at, n))
        if is_last:
            yield [*self.iter_finish()]

    def _at_once(self, feed: Feed, rest: Rest, held: Int32Array, *, is_last: bool) -> Iterator[Sequence[Violation]]:
        """Take ids after the ones held since `rest`, and check all of them at once, if possible."""
        from tokdfa.jobs.validation.engines.blocks import check_block

        has_begun = self._first > self._document_first
        block = Block.of(feed.after(held), self._separator_size, rest, has_begun=has_begun, is_last=is_last)
        result = check_block(self._engine, block)
        if result is None:
            self._checks_blocks = False
            yield from self._one_by_one(feed)
            if is_last:
                yield [*self.iter_finish()]
            return
        yield from result.violations
        self._first += len(feed.ids)
        if len(block.texts) > 1:
            self._document_first = block.first + int(block.texts[-1, 0])
        if not is_last:
            # These ids may already show a violation.
            self._open(Rest(block.first + result.n_ids, result.byte, result.begins, result.following))
            yield from zip(self._stream.feed(block.ids[result.n_ids :]))

    def _one_by_one(self, feed: Feed) -> Iterator[Sequence[Violation]]:
        """Take more ids, and yield one by one the violations that they settle."""
        if feed.is_plain:
            yield from zip(self._stream.feed(feed.ids))
            self._first += len(feed.ids)
            return
        has_begun = self._first > self._document_first
        rest = Rest(self._first, 0)
        block = Block.of(feed, self._separator_size, rest, has_begun=has_begun, is_last=False)
        unknown = {*block.unknown.tolist()}
        texts = block.texts.tolist()
        for (begin, end), following in zip(texts, [*block.texts[1:, 0].tolist(), None], strict=True):
            yield from zip(self._stream.feed(feed.ids[begin:end]))
            if following is None:
                break
            yield from zip(self._stream.finish())
            byte = self._stream.byte
            # Where a document begins at the unknown id, the text before it and an empty one after it both end there.
            if end < following and end in unknown:
                yield [block.out_of_range(end, byte)]
            elif end < following:
                byte += self._separator_size
            self._document_first = block.first + following
            self._open(Rest(self._document_first, byte))
        self._first = block.first + len(feed.ids)


def document_starts(starts: npt.ArrayLike) -> Int64Array:
    """Return the indices where documents begin, checked: integers from 0 on in ascending order."""
    try:
        array = id_array(starts)
    except TokenStreamError as error:
        what = "the beginnings of documents must be integers in one dimension"
        where = None if error.where is None else error.where.replace("token", "document")
        raise TokenStreamError(what, value=error.value, where=where, hint=error.hint) from None
    if array.dtype.kind == "u" and array.max(initial=0) > _LAST:
        index = int(np.argmax(array > _LAST))
        raise TokenStreamError(
            "the beginning has more than 63 bits", value=int(array[index]), where=f"document {index}"
        )
    begins = array.astype(np.int64)
    wrong = np.flatnonzero(np.diff(begins, prepend=0) < 0)
    if len(wrong):
        index = int(wrong[0])
        raise TokenStreamError(
            "the beginnings of documents must ascend", value=int(begins[index]), where=f"document {index}"
        )
    return begins


def checked_separator(separator: int | np.integer[Any] | np.bool_) -> int:
    """Return the id that separates documents, checked: not a truth value, nor negative, nor of more than 63 bits."""
    if isinstance(separator, (bool, np.bool_)):
        raise TokenStreamError("documents must be given by an id or by their beginnings", value=separator)
    if not 0 <= separator <= _LAST:
        raise TokenStreamError("the id that separates documents must not be negative", value=int(separator))
    return int(separator)
