"""How often each of some words occurs: matches, documents and files.

Of the words "man" and "single", the documents "a single man" and "man to man" have ``{b"man": [3, 2, 1], b"single": [1,
1, 1]}``: three matches of "man" in two documents of one file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from tokdfa.base.arrays import Int64Array, IntegerArray
from tokdfa.jobs.searching.api import Searcher
from tokdfa.stores.store import Chunk

Counts = dict[bytes | str, list[int]]
"""By word or name: the number of matches, of documents with one, and of files with one."""


def count_words(searcher: Searcher, chunks: Iterable[Chunk], advance: Callable[[int], object]) -> Counts:
    """Return how often each word, or match of a name, occurs in a file; a file without documents is one."""
    found: Counts = {}
    last: dict[bytes | str, int] = {}  # The last document with the word.
    reader = _Reader(chunks, advance)
    for matches, texts, names in searcher.iter_spelled(reader.ids()):
        ends = matches.rows[:, 3] - 1
        documents = np.searchsorted(reader.starts(), ends, side="right").tolist()
        for text, name, document in zip(texts, names, documents, strict=True):
            word = text if name is None else name
            row = found.setdefault(word, [0, 0, 1])
            row[0] += 1
            row[1] += last.get(word) != document
            last[word] = document
    return found


def add_counts(total: Counts, other: Counts) -> Counts:
    """Add the counts of another file to a total, and return it."""
    for word, row in other.items():
        mine = total.setdefault(word, [0, 0, 0])
        mine[:] = (one + two for one, two in zip(mine, row, strict=True))
    return total


class _Reader:
    """The ids of chunks that are read, and where documents begin in those that have been."""

    def __init__(self, chunks: Iterable[Chunk], advance: Callable[[int], object]) -> None:
        self._chunks = chunks
        self._advance = advance
        self._starts: Int64Array = np.zeros(1 << 10, dtype=np.int64)
        self._n_starts = 0

    def ids(self) -> Iterator[IntegerArray]:
        """Yield the ids of the chunks."""
        n = 0
        for chunk in self._chunks:
            if chunk.starts is not None:
                first, self._n_starts = self._n_starts, self._n_starts + len(chunk.starts)
                if self._n_starts > len(self._starts):
                    self._starts = np.resize(self._starts, 2 * self._n_starts)
                self._starts[first : self._n_starts] = chunk.starts + n
            n += len(chunk.ids)
            if len(chunk.ids):
                yield chunk.ids
                self._advance(len(chunk.ids))

    def starts(self) -> Int64Array:
        """Return the ids with which the documents read so far begin."""
        return self._starts[: self._n_starts]
