"""Judging streams of documents, each document separately."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tokdfa.arrays import Int32Array, Int64Array, id_array
from tokdfa.errors import TokenStreamError
from tokdfa.validation.violation import Violation

__all__ = ["DocumentsJudge", "Judge", "checked_separator", "document_starts"]


_LAST = np.iinfo(np.int64).max


class Judge(Protocol):
    """The protocol of judges, which find violations in a stream."""

    @property
    def n_kept(self) -> int:
        """The number of ids kept."""
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
    lengths : int64 array, optional
        The number of bytes of each id. Without it every judge counts bytes itself, in `byte`.
    starts : int64 array, optional
        The tokens that begin documents, ascending. Without it documents end at separators.
    separator_size : int
        The number of bytes of a separator.
    """

    def __init__(
        self,
        begin: Callable[[int, int], Judge],
        lengths: Int64Array | None,
        starts: Int64Array | None = None,
        separator_size: int = 0,
    ) -> None:
        self._separator_size = separator_size
        self._begin = begin
        self._lengths = lengths
        self._starts = starts
        self._first = self._byte = self._document_first = 0
        self._judge = begin(0, 0)

    @property
    def n_kept(self) -> int:
        """The number of ids kept."""
        return self._judge.n_kept

    def feed(self, ids: Int32Array, separators: Int64Array | None = None) -> Iterator[Violation]:
        """Take more ids, and yield the violations that they make certain.

        `separators` are the places of ids that are in no document.
        """
        begin, first = 0, self._first
        if separators is not None:
            for place in separators.tolist():
                yield from self._document(ids[begin:place])
                yield from self._judge.finish()
                begin = place + 1
                self._open(1, self._separator_size)
        elif self._starts is not None:
            low, high = np.searchsorted(self._starts, [first, first + len(ids)])
            for place in (self._starts[low:high] - first).tolist():
                yield from self._document(ids[begin:place])
                begin = place
                if self._first > self._document_first:
                    yield from self._judge.finish()
                    self._open(0, 0)
        yield from self._document(ids[begin:])

    def finish(self) -> Iterator[Violation]:
        """End the last document, and yield the remaining violations."""
        yield from self._judge.finish()

    def finish_open(self) -> Iterator[Violation]:
        """End the last document, which may go on."""
        yield from self._judge.finish_open()

    def _document(self, ids: Int32Array) -> Iterator[Violation]:
        yield from self._judge.feed(ids)
        self._first += len(ids)
        if self._lengths is not None:
            self._byte += int(self._lengths[ids].sum())

    def _open(self, skipped: int, size: int) -> None:
        """Begin a document after `skipped` ids that are in none and have `size` bytes."""
        self._first += skipped
        self._byte = getattr(self._judge, "byte", self._byte) if self._lengths is None else self._byte
        self._byte += size
        self._document_first = self._first
        self._judge = self._begin(self._first, self._byte)


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
