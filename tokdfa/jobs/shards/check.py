"""Checking one shard, or rows in memory as clusters hand them out: the counts, and where the ids are not canonical."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.base.errors import TokdfaError, TokenStreamError
from tokdfa.base.suggestions import expect
from tokdfa.jobs.shards.part import Options, Part, Reading
from tokdfa.jobs.shards.report import Broken, Report, WrongDocument, total
from tokdfa.jobs.validation.engine import engine_of
from tokdfa.jobs.validation.groups import CONTEXT
from tokdfa.stores.columns import documents_of, lists_of
from tokdfa.stores.opening import open_shard
from tokdfa.stores.parts import Shared, iter_parts
from tokdfa.stores.store import CHUNK, Chunk, Location, Problem, Store, ids_field
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["Options", "bounds_of", "check_shard", "check_store"]

AFTER = 64
"""The number of ids after a part that are judged with it: how text is split may depend on two symbols."""

_BEFORE = 1 << 12
_NONE: Int64Array = np.zeros(0, dtype=np.int64)
_CLOSE = 16


def check_shard(
    tokenizer: AnyTokenizer,
    path: str | Path,
    *,
    dtype: str | None = None,
    field: str | None = None,
    documents: int | str | None = None,
    literal: bool = False,
    end: int | None = None,
    window: bool = False,
    threads: int = 1,
    advance: Callable[[int], object] | None = None,
) -> Report:
    """Check whether a shard of a corpus is canonical, document by document, and count its ids and documents.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    path : str or Path
        A store of ids; see :func:`tokdfa.open_store`. Of the folder of a dataset, all files.
    dtype, field : str, optional
        See :func:`tokdfa.open_store`. A shard that records its type, or has no records, is read without.
    documents : int or "none", optional
        The id between documents, which is in none of them. By default the store says where documents begin; with
        ``none`` it is one stream, as are the samples of a corpus that was cut into equal lengths.
    literal : bool
        See :func:`tokdfa.validate`.
    end : int, optional
        The id with which documents should end; by default any special token.
    window : bool
        Whether the shard was cut out of a longer stream; see :func:`tokdfa.validate`.
    threads : int
        The number of threads; they judge parts of the shard that begin with documents, or where the text is always cut.
        The report is the same. One thread judges a window.
    advance : callable, optional
        Called with the number of ids that were judged, again and again.

    Returns
    -------
    Report
        A shard that cannot be opened, is inconsistent, or is damaged further on, is in `broken`, with the place;
        everything read of it before is counted. The ids before and after an id out of range are judged separately.

    Raises
    ------
    ImproperDictionaryError, UnsupportedFeatureError
        As :func:`tokdfa.validate` does.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/ids.npy", [64, 261, 1193])
    ...     report = tokdfa.check_shard(tokdfa.default_tokenizer(), f"{folder}/ids.npy")
    >>> report.ids, report.wrong_documents, report.first[0].canonical_ids
    (3, 1, (2513,))
    """
    expect(tokenizer, AnyTokenizer, "a tokenizer", "tokdfa.check_shard(tokenizer, path)")
    options = Options(dtype, field, documents, literal, end, window)
    tokenizer.derived(_check, options)
    try:
        store = open_shard(path, dtype=dtype, field=field)
    except (TokdfaError, OSError) as error:
        return Report(shards=1, broken=(_broken(path, Problem.of(error, path)),))
    return check_store(tokenizer, store, options, threads, advance)


def check_store(
    tokenizer: AnyTokenizer,
    store: Store,
    options: Options,
    threads: int = 1,
    advance: Callable[[int], object] | None = None,
    *,
    least: int = 1 << 20,
) -> Report:
    """Return the report on a store that is open; a thread judges parts of at least so many ids; see `check_shard`."""
    if store.members:
        own = [problem for problem in store.problems if not any(problem in each.problems for each in store.members)]
        lost = Report(shards=len(own), broken=tuple(_broken(store.path, problem) for problem in own))
        reports = (check_store(tokenizer, member, options, threads, advance, least=least) for member in store.members)
        return total(chain([lost], reports))
    if store.problems:
        return Report(shards=1, broken=(_broken(store.path, store.problems[0]),))
    parts = _parts(tokenizer, store, options, 4 * threads, least) if threads > 1 and not options.window else None
    if parts is not None:
        # The ids read before the damage are known only if the store is read in order.
        with suppress(TokdfaError, OSError):
            found = _by_threads(tokenizer, store, options, threads, advance, parts)
            store.check_unchanged()
            return found
    part = Part(tokenizer, options, has_documents=store.has_documents)
    try:
        part.read(store, Reading(store.read()), advance)
    except (TokdfaError, OSError) as error:
        return replace(part.report(store), broken=(_broken(store.path, Problem.of(error, store.path)),))
    return part.report(store)


def _parts(
    tokenizer: AnyTokenizer, store: Store, options: Options, wanted: int, least: int
) -> Iterator[Reading] | None:
    """Yield parts of a store that are judged separately, about `wanted` or of `least` ids; None if it has only one."""
    has_documents = store.has_documents and options.documents is None
    separators = np.array([options.documents]) if isinstance(options.documents, int) else None
    # Steps may be few, and large.
    if separators is not None or (has_documents and store.n_ids != store.n_steps):
        return (Reading(part.chunks, part.first) for part in iter_parts(store, least, separators))
    if store.n_ids != store.n_steps or store.has_documents != has_documents:
        return None
    return _between_bounds(tokenizer, store, min(wanted, store.n_ids // least))


def _check(tokenizer: AnyTokenizer, options: Options) -> None:
    """Raise the errors of the tokenizer and the options, not of a shard."""
    Part(tokenizer, options, has_documents=True)


def _between_bounds(tokenizer: AnyTokenizer, store: Store, wanted: int) -> Iterator[Reading]:
    """Yield parts of a store in which every step is an id."""
    is_one = not store.has_documents
    for begin, end in pairwise(bounds_of(tokenizer, store, max(wanted, 1))):
        is_last = not is_one or end == store.n_steps
        last = end if is_last else min(end + AFTER, store.n_steps)
        before = [chunk.ids for chunk in store.iter_chunks(max(begin - CONTEXT, 0), begin)] if is_one and begin else []
        stop = None if is_last else end - begin
        yield Reading(store.iter_chunks(begin, last), begin, stop, np.concatenate([_NONE, *before]))


def _by_threads(
    tokenizer: AnyTokenizer,
    store: Store,
    options: Options,
    threads: int,
    advance: Callable[[int], object] | None,
    parts: Iterator[Reading],
) -> Report:
    """Return the report on the parts of a store, which several threads judge."""
    shared = Shared(parts)

    def work(_: int) -> Report:
        part_of_thread = Part(tokenizer, options, has_documents=store.has_documents)
        for part in shared:
            part_of_thread.read(store, part, advance)
        return part_of_thread.report(store)

    with ThreadPoolExecutor(threads) as pool:
        found = replace(total(pool.map(work, range(threads))), shards=1)
    if store.has_documents or isinstance(options.documents, int) or not found.violations:
        return found
    # It is one document, and each part is a piece of it.
    where = store.location(0, 0, 0)
    worst = (WrongDocument(found.violations, where.file, where.unit, where.number),)
    return replace(found, wrong_documents=1, worst=worst)


def bounds_of(tokenizer: AnyTokenizer, store: Store, parts: int) -> list[int]:
    """Return the steps at which so many parts of a store begin, or fewer, ascending, and its end.

    Parts begin with documents, if the store has any. Otherwise the text is always cut where they begin, and no special
    token that it spells crosses. A store that cannot be read there is a TokenStreamError or an OSError.
    """
    wanted = [store.n_steps * part // parts for part in range(1, parts)]
    if store.has_documents:
        found = [store.boundary(step) for step in wanted]
    elif store.n_ids == store.n_steps and tokenizer.derived(engine_of).walk is not None:
        found = [_safe(tokenizer, store, step) for step in wanted]
    else:
        found = []
    return [*sorted({0, *found}), store.n_steps]


def _safe(tokenizer: AnyTokenizer, store: Store, step: int) -> int:
    """Return the last safe cut before an id; 0 if there is none near."""
    first = max(step - _BEFORE, 0)
    chunks = [chunk.ids for chunk in store.iter_chunks(first, step + AFTER)]
    try:
        ids = tokenizer.decoder.check(np.concatenate(chunks))
    except TokdfaError:
        return 0
    cut = step - first
    while cut > 0:
        cut = tokenizer.boundaries.last_in_ids(ids, cut, begins=not first)
        if cut and not _is_spelled_near(tokenizer, ids[cut : cut + AFTER]):
            return first + cut
        cut -= 1
    return 0


def _is_spelled_near(tokenizer: AnyTokenizer, ids: Int32Array) -> bool:
    """Return whether ids spell a special token that begins so early that it is reported from before them on."""
    if not tokenizer.found_specials:
        return False
    data = tokenizer.decode_bytes(ids)
    contents = (special.content.encode() for special in tokenizer.found_specials)
    return any(data.find(content, 0, _CLOSE + len(content)) >= 0 for content in contents)


def _broken(path: object, problem: Problem) -> Broken:
    return Broken(str(path), problem.where, problem.what)


_NAME = "rows"


def check_rows(
    tokenizer: AnyTokenizer,
    rows: Any,
    field: str | None = None,
    *,
    key: str | None = None,
    literal: bool = False,
    end: int | None = None,
) -> Report:
    """Check whether rows with ids are canonical, each a document, and count their ids.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    rows : pyarrow.Table or pyarrow.RecordBatch
    field : str, optional
        The column of lists of ids; by default one with a usual name, or the only one of lists of integers.
    key : str, optional
        A column with names of the documents. By default they are named by the numbers of their rows.
    literal : bool
        See :func:`tokdfa.validate`.
    end : int, optional
        See :func:`tokdfa.check_shard`.

    Returns
    -------
    Report
        On 0 shards, so that only files are counted as such where reports are added up. If a row has no ids or one of
        its ids is null, that is in `broken`, and the rows from the batch of that row on are not judged.

    Examples
    --------
    >>> import pyarrow, tokdfa
    >>> table = pyarrow.table({"id": ["a", "b"], "input_ids": [[64, 2513, 462], [64, 261, 1193]]})
    >>> report = check_rows(tokdfa.default_tokenizer(), table, key="id")
    >>> report.documents, report.wrong_documents, report.first[0].file
    (2, 1, 'b')
    """
    store = _Rows(rows, field, key)
    return replace(check_store(tokenizer, store, Options(literal=literal, end=end)), shards=0)


class _Rows(Store):
    """Rows in memory as a store."""

    def __init__(self, rows: Any, field: str | None, key: str | None) -> None:
        import pyarrow

        names = rows.schema.names
        fitting = [each.name for each in rows.schema if lists_of(pyarrow.nulls(0, each.type)) is not None]
        self._field = ids_field(names, field, _NAME, fitting)
        if self._field not in fitting:
            kind = str(rows.schema.field(self._field).type) if self._field in names else self._field
            raise TokenStreamError("the column must have lists of integers", value=kind, where=_NAME)
        if key is not None and key not in names:
            raise TokenStreamError("the column with the names of documents is missing", value=key, where=_NAME)
        self._rows = rows
        self._names = None if key is None else rows.column(key)
        super().__init__(Path(_NAME), _NAME, n_documents=rows.num_rows, has_documents=True, unit="row")

    def iter_chunks(self, begin: int = 0, end: int | None = None, *, size: int | None = None) -> Iterator[Chunk]:
        """Yield the ids of some rows at a time; see :meth:`Store.iter_chunks`."""
        rows = self._rows.select([self._field])
        # Eight bytes an id at most; the ids of a chunk should stay in the cache.
        n_rows = max(1, 8 * CHUNK * rows.num_rows // max(rows.nbytes, 1))
        row = 0
        for first in range(0, rows.num_rows, n_rows):
            part = rows.slice(first, n_rows)
            for batch in part.to_batches() if hasattr(part, "to_batches") else [part]:
                yield documents_of(batch.column(0), row, _NAME)
                row += batch.num_rows

    def location(self, number: int, token: int, index: int) -> Location:
        """Return where an id is: by the name of its document, if documents have names."""
        name = _NAME if self._names is None else str(self._names[number])
        return Location(name, self.unit, number, token)
