"""Parts of one store, which several threads read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from threading import Lock
from typing import NamedTuple, TypeVar

import numpy as np

from tokdfa.base.arrays import IntegerArray
from tokdfa.stores.store import Chunk, Store

T = TypeVar("T")

_MOST = 1 << 24
"""The most ids of a part that are kept in memory."""


class StorePart(NamedTuple):
    """Some chunks of a store, and the index of their first id."""

    first: int
    chunks: Iterable[Chunk]


def iter_parts(store: Store, least: int, separators: IntegerArray | None = None) -> Iterator[StorePart]:
    """Yield parts of at least `least` ids, which begin with documents, or after one of the ids `separators`.

    A part without such a beginning is not divided, however long it is.
    """
    chunks = store.iter_chunks()
    waiting: list[Chunk] = []
    first = n = 0
    for chunk in chunks:
        cut = _first_beginning(chunk, separators) if n + len(chunk.ids) > least else len(chunk.ids)
        if n + cut >= least and cut < len(chunk.ids):
            yield StorePart(first, [*waiting, chunk.part(0, cut)] if cut else waiting)
            first, n, waiting = first + n + cut, 0, []
            chunk = chunk.part(cut, len(chunk.ids))
        waiting.append(chunk)
        n += len(chunk.ids)
        if n > _MOST:
            # A document that is not kept in memory as a whole.
            yield StorePart(first, chain(waiting, chunks))
            return
    yield StorePart(first, waiting)


def _first_beginning(chunk: Chunk, separators: IntegerArray | None) -> int:
    """Return the first index at which a part may begin; the number of ids if there is none."""
    if separators is None:
        starts = chunk.starts
    else:
        is_separator = np.isin(chunk.ids, separators)
        starts = np.array([is_separator.argmax() + 1]) if is_separator.any() else None
    return int(starts[0]) if starts is not None and len(starts) else len(chunk.ids)


class Shared(Iterator[T]):
    """An iterator from which several threads take."""

    def __init__(self, items: Iterator[T]) -> None:
        self._items, self._lock = items, Lock()

    def __next__(self) -> T:
        """Return the next item, which no other thread takes."""
        with self._lock:
            return next(self._items)
