"""One stream in one pass: whether it is canonical, and the report on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from tokdfa.base.arrays import Int64Array, IntegerArray
from tokdfa.jobs.shards.part import Options, Part, Reading, Wanted
from tokdfa.jobs.shards.report import Report
from tokdfa.jobs.validation.violations import Validation, Violations, validation
from tokdfa.stores.store import Chunk, Location, Store
from tokdfa.tokenizers.protocol import AnyTokenizer


class IdStream(Store):
    """Ids that come in chunks, once, with a name; their documents begin at `starts`, if these are given.

    They are added to the list `held`, if there is one.
    """

    def __init__(self, name: str, chunks: Iterator[IntegerArray], starts: Int64Array | None = None) -> None:
        self._chunks = chunks
        self.held: list[IntegerArray] | None = None
        self.given = starts
        super().__init__(Path(name), "ids", has_documents=starts is not None)

    def iter_chunks(self, begin: int = 0, end: int | None = None, *, size: int | None = None) -> Iterator[Chunk]:
        """Yield the ids; see :meth:`Store.iter_chunks`."""
        first = 0
        for ids in self._chunks:
            if self.held is not None:
                self.held.append(ids)
            if self.given is None:
                yield Chunk(ids)
                continue
            low, high = np.searchsorted(self.given, [first, first + len(ids)])
            yield Chunk(ids, self.given[low:high] - first, np.arange(low, high))
            first += len(ids)

    def location(self, number: int, token: int, index: int) -> Location:
        """Return where an id is, by its index."""
        return Location(str(self.path), "token", index, index)


def check_stream(
    tokenizer: AnyTokenizer,
    store: Store,
    options: Options,
    *,
    all: bool = False,
    seen: Callable[[Chunk], object] | None = None,
    advance: Callable[[int], object] | None = None,
) -> tuple[Validation, Report]:
    """Return the result of :func:`tokdfa.validate` for the ids of a store, and the report on it.

    Unlike in :func:`check_shard`, an error of the store is raised. `seen` is called with each chunk.
    """
    given = store.given if isinstance(store, IdStream) else None
    part = Part(tokenizer, options, has_documents=store.has_documents, wanted=Wanted(all, given))
    part.read(store, Reading(_watched(store.read(), seen)), advance)
    found = Violations(part.kept)
    return validation(part.n_read, found if all else found[:1]), part.report(store)


def _watched(chunks: Iterator[Chunk], seen: Callable[[Chunk], object] | None) -> Iterator[Chunk]:
    for chunk in chunks:
        if seen is not None:
            seen(chunk)
        yield chunk
