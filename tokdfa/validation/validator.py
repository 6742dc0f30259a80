"""The validator of streams that come in chunks, document by document."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import numpy.typing as npt

from tokdfa.arguments import wrong_argument
from tokdfa.arrays import Int32Array, Int64Array, id_array
from tokdfa.errors import LimitExceededError, TokenStreamError
from tokdfa.guesses import Guided
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.validation.engine import engine_of
from tokdfa.validation.tuning import DEFAULT, Tuning

if TYPE_CHECKING:
    from tokdfa.validation.violation import Violation

__all__ = ["ValidationOptions", "Validator", "checked_separator", "document_starts"]


_LAST = np.iinfo(np.int64).max


class ValidationOptions(TypedDict, total=False):
    """The options of :func:`tokdfa.validate` that say how a stream is judged."""

    window: bool
    documents: int | npt.ArrayLike | None
    literal: bool


class Validator(Guided):
    """A validator for a stream that comes in chunks, in memory that does not grow with the stream.

    The answer does not depend on how the stream is cut into chunks. The end of the stream is kept, back to the
    last place where its text is certainly cut into pieces; an endless piece is kept as a whole.

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
        If the dictionary is not proper and its format does not say what a library makes of it.
    UnsupportedFeatureError
        If windows or documents of such a tokenizer cannot be judged.
    TokenStreamError
        If the documents do not begin in order, or are not given by ids.

    Notes
    -----
    A stream is canonical iff ``encode(decode(ids)) == ids``. By *Constructing a BPE Tokenization DFA*, Observation 2,
    that depends on pairs of neighbours within each piece, so only what is wrong is encoded again. Tokenizers that drop
    text or insert spaces are the exception: their streams are decoded and encoded as a whole.

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
        if not isinstance(tokenizer, AnyTokenizer):
            raise wrong_argument(tokenizer, "a tokenizer", "tokdfa.validate(tokenizer, ids)")
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
        self._judge_from = self._engine.judges(tuning)
        self._walk = self._engine.walk if tuning.walks else None
        self._skip_to(0, 0)

    def _skip_to(self, first: int, byte: int) -> None:
        """Begin a text with the id `first` of the stream, at an offset in bytes.

        Only before anything is fed, if the ids before are judged.
        """
        self.tokens = self._first = first
        self._open(byte)

    def _go_on_from(self, first: int, byte: int) -> None:
        """Do the same where a text goes on after a place where it is always cut."""
        self._skip_to(first, byte)
        self._judge = self._judge_from(first, byte, begins=False)

    def feed(
        self, ids: npt.ArrayLike, starts: Int64Array | None = None, separators: Int64Array | None = None
    ) -> list[Violation]:
        """Take more ids, and return the violations that they make certain.

        Parameters
        ----------
        ids : array_like of int
        starts : int64 array, optional
            The places among them at which documents begin, ascending, in place of those given at first. Only for a
            validator with `documents`, which may be ``()``.
        separators : int64 array, optional
            The places among them of ids in no document, ascending; what these ids are does not matter. Only for a
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
        """Yield what :meth:`feed` returns; only as many ids are judged as the violations that are taken need.

        After a violation that is not taken, the stream cannot be continued.
        """
        first, array = self.tokens, id_array(ids)
        if self._separator is not None:
            separators = np.flatnonzero(array == self._separator)
        if separators is not None and not (self._separator is not None and self._decoder.is_id(self._separator)):
            array = array.copy()
            array[separators] = self._decoder.placeholder_id
        checked, unknown = self._decoder.check_known(array)
        self.tokens += len(checked)
        if not len(unknown):
            yield from self._feed(checked, separators, starts)
            return
        from tokdfa.validation.violation import out_of_range

        at = 0
        for index in unknown.tolist():
            yield from self._feed(checked[at:index], _within(separators, at, index), _within(starts, at, index))
            byte = yield from self._skip_one()
            yield out_of_range(int(array[index]), first + index, byte)
            at = index + 1
        end = len(checked)
        yield from self._feed(checked[at:], _within(separators, at, end), _within(starts, at, end))

    def iter_checked(
        self, ids: Int32Array, starts: Int64Array | None = None, separators: Int64Array | None = None
    ) -> Iterator[Violation]:
        """Yield what :meth:`feed` returns for ids that are checked, and that nobody else can change."""
        self.tokens += len(ids)
        yield from self._feed(ids, separators, starts)

    @property
    def n_kept(self) -> int:
        """The number of ids kept because they may belong to a violation still to come."""
        return self._judge.n_kept

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
            place = int(np.argmax(self._starts > self.tokens))
            raise TokenStreamError(
                "a document begins after the end of the stream",
                value=int(self._starts[place]),
                where=f"document {place}",
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
        """Yield what :meth:`finish` returns."""
        self.check_end()
        yield from self._judge.finish_open() if self._window else self._judge.finish()

    # Documents

    def _feed(self, ids: Int32Array, separators: Int64Array | None, starts: Int64Array | None) -> Iterator[Violation]:
        """Take more ids, and yield the violations that they make certain.

        `separators` are the places of ids that are in no document, and `starts` the places at which documents begin.
        """
        if separators is None and starts is None and self._starts is None:
            yield from self._document(ids)
            return
        begin, first = 0, self._first
        none = np.empty(0, dtype=np.int64)
        if self._starts is not None:
            low, high = np.searchsorted(self._starts, [first, first + len(ids)])
            starts = self._starts[low:high] - first if starts is None else starts
        separators = none if separators is None else separators
        # Where documents begin, and after each separator.
        cuts = np.union1d(none if starts is None else starts[starts < len(ids)], separators + 1)
        is_separator = np.isin(cuts - 1, separators, assume_unique=True).tolist()
        # The documents before cuts that are to be judged one by one, and those between them all at once.
        doubtful, size = self._doubtful(ids, cuts, is_separator)
        done = 0
        for number in [*doubtful, len(cuts)]:
            if number > done:
                begin = self._pass(ids, begin, int(cuts[number - 1]), separators, size)
            if number == len(cuts):
                break
            cut, is_after = int(cuts[number]), is_separator[number]
            yield from self._document(ids[begin : cut - is_after])
            if is_after or self._first > self._document_first:
                yield from self._judge.finish()
                self._first += is_after
                self._open(self._judge.byte + self._separator_size * is_after)
            begin, done = cut, number + 1
        yield from self._document(ids[begin:])

    def _doubtful(self, ids: Int32Array, cuts: Int64Array, is_separator: list[bool]) -> tuple[list[int], int | None]:
        """Return the documents, by the cuts after them, that are not known to be whole here and canonical.

        Also return the number of bytes of the documents after the first one if they all are; None if it is not known.
        """
        n = len(cuts)
        if self._walk is None or n < 2:
            return [*range(n)], None
        # The first one may have begun before.
        begins, ends = cuts[:-1], cuts[1:] - np.array(is_separator[1:], dtype=np.int64)
        try:
            wrong, size = self._walk.wrong_parts(ids, begins, ends)
        except LimitExceededError:
            return [*range(n)], None
        return [0, *np.unique(np.searchsorted(begins, wrong[:, 0], side="right")).tolist()], size

    def _pass(self, ids: Int32Array, begin: int, end: int, separators: Int64Array, size: int | None) -> int:
        """Pass over whole documents that are canonical and have `size` bytes, and return their end."""
        assert self._walk is not None
        skipped = separators[slice(*np.searchsorted(separators, [begin, end]))]
        if size is None:
            lengths = self._walk.lengths
            size = int(lengths[ids[begin:end]].sum() - lengths[ids[skipped]].sum())
        self._first += end - begin
        self._open(self._document_byte + size + len(skipped) * self._separator_size)
        return end

    def _skip_one(self) -> Generator[Violation, None, int]:
        """End the text before the next id, which is in none and adds no bytes; return the byte offset of that id."""
        yield from self._judge.finish()
        byte = self._judge.byte
        self._first += 1
        self._open(byte)
        return byte

    def _document(self, ids: Int32Array) -> Iterator[Violation]:
        yield from self._judge.feed(ids)
        self._first += len(ids)

    def _open(self, byte: int) -> None:
        """Begin a document with the next id, whose byte offset is given."""
        self._document_first, self._document_byte = self._first, byte
        self._judge = self._judge_from(self._first, byte)


def _within(indices: Int64Array | None, begin: int, end: int) -> Int64Array | None:
    """Return those of some ascending indices from `begin` to before `end`, counted from `begin`."""
    return None if indices is None else indices[slice(*np.searchsorted(indices, [begin, end]))] - begin


def document_starts(starts: npt.ArrayLike) -> Int64Array:
    """Return the places where documents begin, checked: integers from 0 on in ascending order."""
    try:
        array = id_array(starts)
    except TokenStreamError as error:
        what = "the beginnings of documents must be integers in one dimension"
        raise TokenStreamError(what, value=error.value, where=_document(error.where), hint=error.hint) from None
    if array.dtype.kind == "u" and array.max(initial=0) > _LAST:
        place = int(np.argmax(array > _LAST))
        raise TokenStreamError(
            "the beginning has more than 63 bits", value=int(array[place]), where=f"document {place}"
        )
    places = array.astype(np.int64)
    wrong = np.flatnonzero(np.diff(places, prepend=0) < 0)
    if len(wrong):
        place = int(wrong[0])
        raise TokenStreamError(
            "the beginnings of documents must ascend", value=int(places[place]), where=f"document {place}"
        )
    return places


def checked_separator(separator: int | np.integer[Any] | np.bool_) -> int:
    """Return the id that separates documents, checked: not a truth value, nor negative, nor of more than 63 bits."""
    if isinstance(separator, (bool, np.bool_)):
        raise TokenStreamError("documents must be given by an id or by their beginnings", value=separator)
    if not 0 <= separator <= _LAST:
        raise TokenStreamError("the id that separates documents must not be negative", value=int(separator))
    return int(separator)


def _document(where: str | None) -> str | None:
    return None if where is None else where.replace("token", "document")
