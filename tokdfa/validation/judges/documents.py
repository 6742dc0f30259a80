"""Judging streams of documents, each document separately."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from tokdfa.arrays import Int32Array, Int64Array, id_array
from tokdfa.errors import LimitExceededError, TokenStreamError
from tokdfa.validation.violation import Violation

if TYPE_CHECKING:
    from tokdfa.validation.judges.whole_walk import WholeWalk

__all__ = ["DocumentsJudge", "Judge", "checked_separator", "document_starts"]


_LAST = np.iinfo(np.int64).max


class Judge(Protocol):
    """The protocol of judges, which find violations in a stream."""

    @property
    def n_kept(self) -> int:
        """The number of ids kept."""
        ...

    @property
    def byte(self) -> int:
        """The byte offset of the end of a finished text."""
        ...

    def feed(self, ids: Int32Array) -> Iterator[Violation]:
        """Take more ids, and yield the violations that they make certain."""
        ...

    def finish(self) -> Iterator[Violation]:
        """End the text, and yield the remaining violations."""
        ...

    def finish_open(self) -> Iterator[Violation]:
        """End a stream that may go on, and yield what is not canonical however it goes on."""
        ...


class DocumentsJudge:
    """A judge of documents, each separately: no piece extends from one to the next.

    Parameters
    ----------
    begin : callable
        Returns a judge, given the index of its first token in the stream, and the byte offset of that token.
    starts : int64 array, optional
        The tokens that begin documents, ascending. Without it documents end at separators.
    separator_size : int
        The number of bytes of a separator.
    first, byte : int
        The index of the first id in the stream, and its byte offset.
    walk : WholeWalk, optional
        What decides at once which of many documents are canonical; those that are need no judge.
    """

    def __init__(
        self,
        begin: Callable[[int, int], Judge],
        starts: Int64Array | None = None,
        separator_size: int = 0,
        walk: WholeWalk | None = None,
        *,
        first: int = 0,
        byte: int = 0,
    ) -> None:
        self._walk = walk
        self._separator_size = separator_size
        self._begin = begin
        self._starts = starts
        self._first = first
        self._open(byte)

    @property
    def n_kept(self) -> int:
        """The number of ids kept."""
        return self._judge.n_kept

    def feed(
        self, ids: Int32Array, separators: Int64Array | None = None, starts: Int64Array | None = None
    ) -> Iterator[Violation]:
        """Take more ids, and yield the violations that they make certain.

        `separators` are the places of ids that are in no document, and `starts` the places at which documents begin, in
        addition to those given at first.
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
            size = self._walk.size_of(ids[begin:end]) - self._walk.size_of(ids[skipped])
        self._first += end - begin
        self._open(self._document_byte + size + len(skipped) * self._separator_size)
        return end

    def skip_one(self) -> Generator[Violation, None, int]:
        """End the text before the next id, which is in none and adds no bytes; return the byte offset of that id."""
        yield from self._judge.finish()
        byte = self._judge.byte
        self._first += 1
        self._open(byte)
        return byte

    def finish(self) -> Iterator[Violation]:
        """End the last document, and yield the remaining violations."""
        yield from self._judge.finish()

    def finish_open(self) -> Iterator[Violation]:
        """End the last document, which may go on."""
        yield from self._judge.finish_open()

    def _document(self, ids: Int32Array) -> Iterator[Violation]:
        yield from self._judge.feed(ids)
        self._first += len(ids)

    def _open(self, byte: int) -> None:
        """Begin a document with the next id, whose byte offset is given."""
        self._document_first, self._document_byte = self._first, byte
        self._judge = self._begin(self._first, byte)


def document_starts(starts: npt.ArrayLike) -> Int64Array:
    """Return the places where documents begin, checked.

    Raises
    ------
    TokenStreamError
        If they are not integers from 0 on in ascending order; the error says which.
    """
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
    """Return the id that separates documents; it need not be the id of a token, but must be one that streams can have.

    Raises
    ------
    TokenStreamError
        If it is a truth value, negative or of more than 63 bits.
    """
    if isinstance(separator, (bool, np.bool_)):
        raise TokenStreamError("documents must be given by an id or by their beginnings", value=separator)
    if not 0 <= separator <= _LAST:
        raise TokenStreamError("the id that separates documents must not be negative", value=int(separator))
    return int(separator)


def _document(where: str | None) -> str | None:
    return None if where is None else where.replace("token", "document")
