"""Checking one shard: what it has, and where it is not canonical."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, IntegerArray
from tokdfa.base.errors import TokdfaError
from tokdfa.base.suggestions import wrong_argument
from tokdfa.jobs.shards.parts import AFTER, bounds_of
from tokdfa.jobs.shards.report import FIRST, WORST, Broken, Finding, Report, WrongDocument, first_of, worst_of
from tokdfa.jobs.shards.tables import DEAD, FALLBACK, UNKNOWN, ends_documents, flags_of
from tokdfa.jobs.validation.validator import Validator
from tokdfa.jobs.validation.violation import Violation, out_of_range
from tokdfa.stores.opening import open_store
from tokdfa.stores.store import Chunk, Place, Problem, Store
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["Options", "check_shard", "check_store"]

_SHOWN = 16
_NONE: Int64Array = np.empty(0, dtype=np.int64)


class Options(NamedTuple):
    """How shards are read and judged; see :func:`check_shard`."""

    dtype: str | None = None
    field: str | None = None
    documents: int | str | None = None
    literal: bool = False
    end: int | None = None


def check_shard(
    tokenizer: AnyTokenizer,
    path: str | Path,
    *,
    dtype: str | None = None,
    field: str | None = None,
    documents: int | str | None = None,
    literal: bool = False,
    end: int | None = None,
    threads: int = 1,
    advance: Callable[[int], object] | None = None,
) -> Report:
    """Check whether a shard of a corpus is canonical, document by document, and count what is in it.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    path : str or Path
        A store of ids; see :func:`tokdfa.open_store`. Of the folder of a dataset, all files.
    dtype, field : str, optional
        See :func:`tokdfa.open_store`.
    documents : int or "none", optional
        The id between documents, which is in none of them. By default the documents are those of the store; with
        ``none`` it is one stream, as are the samples of a corpus that was cut into equal lengths.
    literal : bool
        See :func:`tokdfa.validate`.
    end : int, optional
        The id with which documents should end; by default any special token.
    threads : int
        The number of threads; they judge parts of the shard that begin with documents, or where the text is certainly
        cut. The report is the same.
    advance : callable, optional
        Called with the number of ids that were judged, again and again.

    Returns
    -------
    Report
        A shard that cannot be opened, is inconsistent, or is damaged further on, is in `broken`, with the place; what
        was read of it before is counted. The ids before and after an id out of range are judged separately.

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
    if not isinstance(tokenizer, AnyTokenizer):
        raise wrong_argument(tokenizer, "a tokenizer", "tokdfa.check_shard(tokenizer, path)")
    options = Options(dtype, field, documents, literal, end)
    tokenizer.derived(_check, options)
    try:
        store = open_store(path, dtype=dtype, field=field)
    except (TokdfaError, OSError) as error:
        return Report(shards=1, broken=(_broken(path, Problem.of(error, path)),))
    return check_store(tokenizer, store, options, threads, advance)


def _check(tokenizer: AnyTokenizer, options: Options) -> None:
    """Raise what is wrong with the tokenizer or the options, and not with a shard."""
    _Part(tokenizer, options, has_documents=True)


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
        parts = (check_store(tokenizer, member, options, threads, advance, least=least) for member in store.members)
        return sum(parts, lost)
    if store.problems:
        return Report(shards=1, broken=(_broken(store.path, store.problems[0]),))
    wanted = min(4 * threads, (store.n_ids or 0) // least) if threads > 1 else 1
    if store.n_ids is None and threads > 1:
        wanted = min(4 * threads, store.n_steps)
    if options.documents is not None and options.documents != "none":
        wanted = 1
    try:
        if wanted > 1:
            return _in_parts(tokenizer, store, options, threads, advance, wanted)
    except (TokdfaError, OSError):
        # What was read before the place that is damaged is known only if it is read in order.
        pass
    part = _Part(tokenizer, options, has_documents=store.has_documents)
    try:
        part.read(store, store.iter_chunks(), advance)
    except (TokdfaError, OSError) as error:
        return replace(part.report(store), broken=(_broken(store.path, Problem.of(error, store.path)),))
    return part.report(store)


def _in_parts(
    tokenizer: AnyTokenizer,
    store: Store,
    options: Options,
    threads: int,
    advance: Callable[[int], object] | None,
    wanted: int,
) -> Report:
    """Return the report on a store whose parts are judged by several threads."""
    has_documents = store.has_documents and options.documents != "none"
    bounds = bounds_of(tokenizer, store, wanted) if has_documents or not store.has_documents else [0, store.n_steps]

    def of(bound: tuple[int, int]) -> Report:
        begin, end = bound
        part = _Part(tokenizer, options, has_documents=has_documents, base=begin)
        is_last = end == store.n_steps
        last = end if is_last or has_documents else min(end + AFTER, store.n_steps)
        part.read(store, store.iter_chunks(begin, last), advance, None if is_last or has_documents else end - begin)
        return part.report(store)

    with ThreadPoolExecutor(threads) as pool:
        reports = [*pool.map(of, pairwise(bounds))]
    total = replace(sum(reports, Report()), shards=1)
    if has_documents:
        return total
    # It is one document, of which each part is a piece.
    count = sum(row.violations for report in reports for row in report.worst)
    where = store.place(0, 0, 0)
    worst = (WrongDocument(count, where.file, where.unit, where.number),) if count else ()
    return replace(
        total,
        documents=1,
        empty_documents=int(not total.ids),
        wrong_documents=int(count > 0),
        unended_documents=reports[-1].unended_documents,
        worst=worst,
    )


class _Part:
    """The judging of a part of a store, chunk by chunk."""

    def __init__(self, tokenizer: AnyTokenizer, options: Options, *, has_documents: bool, base: int = 0) -> None:
        self._tokenizer = tokenizer
        self._separator = options.documents if isinstance(options.documents, int) else None
        self._has_documents = has_documents and options.documents is None
        self._validator = Validator(tokenizer, documents=(), literal=options.literal)
        self._decoder = tokenizer.decoder
        self._flags = tokenizer.derived(flags_of)
        self._ends = tokenizer.derived(ends_documents, options.end)
        self._base = base
        self._stop: int | None = None
        self._ids = 0
        self._documents = self._empty = self._unended = 0
        self._kinds: Counter[str] = Counter()
        self._rules: Counter[int] = Counter()
        self._dead: Counter[int] = Counter()
        self._out_of_range = self._unknown = self._fallback = 0
        self._first: list[Finding] = []
        self._n_marked = 0
        self._worst: list[WrongDocument] = []
        self._wrong = 0
        # The document that has begun last: where, its number, its last id; and the wrong ones that may go on.
        self._is_open = not self._has_documents
        self._begun, self._number, self._last = 0, 0, -1
        # Where violations may still be found: that document, and those before it that the validator has not closed.
        self._recent: list[tuple[int, int]] = [(0, 0)]
        self._bad: Counter[tuple[int, int]] = Counter()

    def read(
        self,
        store: Store,
        chunks: Iterable[Chunk],
        advance: Callable[[int], object] | None = None,
        stop: int | None = None,
    ) -> None:
        """Judge chunks; from id `stop` on they are only read for what is before it."""
        self._stop = stop
        for chunk in chunks:
            self._feed(store, chunk)
            if advance is not None:
                advance(len(chunk.ids))
        self._take(store, self._validator.finish(), _NONE, _NONE)
        if self._is_open:
            self._close(store)

    def _feed(self, store: Store, chunk: Chunk) -> None:
        first = self._validator.tokens
        starts = chunk.starts if self._has_documents and chunk.starts is not None else None
        numbers = chunk.numbers if starts is not None and chunk.numbers is not None else _NONE
        own = _NONE
        if self._separator is not None:
            own = np.flatnonzero(chunk.ids == self._separator)
            starts = own + 1
            numbers = self._number + 1 + np.arange(len(own), dtype=np.int64)
        begun = _NONE if starts is None else starts
        ids, bad = self._decoder.check_known(chunk.ids)
        separators = np.union1d(bad, own) if len(bad) or len(own) else None
        found = [*self._validator.iter_checked(ids, starts, separators)]
        bad = np.setdiff1d(bad, own, assume_unique=True)
        counted = ids if self._stop is None else ids[: max(self._stop - first, 0)]
        bad = bad[bad < len(counted)]
        self._count(counted, bad)
        if len(bad):
            self._mark(store, bad + first, chunk.ids[bad], begun + first, numbers)
        self._take(store, found, begun + first, numbers)
        self._bound(store, ids, begun, numbers, first)

    def _mark(
        self, store: Store, indices: Int64Array, values: IntegerArray, starts: Int64Array, numbers: Int64Array
    ) -> None:
        """Count ids out of range; `starts` are where documents begin that began among the last ids."""
        self._out_of_range += len(indices)
        for index, value in zip(indices[: FIRST - self._n_marked].tolist(), values.tolist(), strict=False):
            begun, number = self._document(index, starts, numbers)
            where, found = self._place(store, number, index - begun, index), out_of_range(value, index, 0)
            self._first.append(Finding(*where, found.kind.value, found.ids, None, None, found.reason))
            self._n_marked += 1
        # The first one of each document, and the number of them in it.
        firsts = np.unique(np.searchsorted(starts, indices, side="right"), return_index=True)[1]
        counts = np.diff(firsts, append=len(indices))
        for index, count in zip(indices[firsts].tolist(), counts.tolist(), strict=True):
            self._bad[self._document(index, starts, numbers)] += count

    def _count(self, ids: Int32Array, bad: Int64Array) -> None:
        """Count ids by what they are."""
        self._ids += len(ids)
        if self._flags is None:
            return
        flags = self._flags.take(ids)
        flags[bad] = 0
        if not flags.any():
            return
        self._unknown += int(np.count_nonzero(flags & UNKNOWN))
        self._fallback += int(np.count_nonzero(flags & FALLBACK))
        dead = ids[flags & DEAD != 0]
        if len(dead):
            self._dead.update(dict(zip(*(part.tolist() for part in np.unique(dead, return_counts=True)), strict=True)))

    def _document(self, index: int, starts: Int64Array, numbers: Int64Array) -> tuple[int, int]:
        """Return where the document of an id begins, and its number."""
        at = int(np.searchsorted(starts, index, side="right")) - 1
        if at >= 0:
            return int(starts[at]), int(numbers[at])
        return next((each for each in reversed(self._recent) if each[0] <= index), self._recent[0])

    def _take(self, store: Store, found: Iterable[Violation], starts: Int64Array, numbers: Int64Array) -> None:
        """Count violations; `starts` are where documents begin that began among the last ids."""
        for violation in found:
            if self._stop is not None and violation.index >= self._stop:
                continue
            begun, number = self._document(violation.start, starts, numbers)
            self._kinds[violation.kind.value] += 1
            self._bad[begun, number] += 1
            if violation.rule is not None:
                self._rules[violation.rule] += 1
            if self._kinds[violation.kind.value] > FIRST:
                continue
            where = self._place(store, number, violation.index - begun, violation.index)
            canonical = None if violation.canonical_ids is None else violation.canonical_ids[:_SHOWN]
            kind, ids = violation.kind.value, violation.ids[:_SHOWN]
            self._first.append(Finding(*where, kind, ids, canonical, violation.rule, violation.reason))

    def _bound(self, store: Store, ids: IntegerArray, starts: Int64Array, numbers: Int64Array, first: int) -> None:
        """Close the documents that have ended, given where others begin among ids."""
        if len(starts):
            begun = np.append(self._begun - first, starts) if self._is_open else starts
            ends = begun[1:]
            # What ends a document is not in it.
            is_empty = ends - begun[:-1] == (self._separator is not None)
            if self._separator is None:
                lasts = ids[ends[ends > 0] - 1].astype(np.int64)
                before = np.full(len(ends) - len(lasts), self._last)
                is_unended = ~is_empty & ~self._ends[np.maximum(np.append(before, lasts), 0)]
                self._unended += int(np.count_nonzero(is_unended))
            self._documents += len(ends)
            self._empty += int(np.count_nonzero(is_empty))
            self._is_open = True
            self._begun, self._number = int(starts[-1]) + first, int(numbers[-1])
            # A document that ends with the ids is closed with the next ones, even if others begin at its end.
            kept = int(np.searchsorted(starts, len(ids))) - 1
            added = zip((starts[max(kept, 0) :] + first).tolist(), numbers[max(kept, 0) :].tolist(), strict=True)
            self._recent = [*(self._recent if kept < 0 else ()), *added]
            self._settle(store)
        if len(ids):
            self._last = int(ids[-1])

    def _place(self, store: Store, number: int, token: int, index: int) -> Place:
        """Return where an id is; by its index, if the documents are not those of the store."""
        if store.has_documents and not self._has_documents and store.unit != "byte":
            return Place(str(store.path), "token", self._base + index, self._base + index)
        return store.place(number, token, self._base + index)

    def _settle(self, store: Store) -> None:
        """Keep of the wrong documents that have ended the worst."""
        for key in [key for key in self._bad if key not in self._recent]:
            begun, number = key
            place = self._place(store, number, 0, begun)
            self._wrong += 1
            self._worst.append(WrongDocument(self._bad.pop(key), place.file, place.unit, place.number))
        if len(self._worst) > 64 * WORST:
            self._worst = [*worst_of(self._worst)]

    def _close(self, store: Store) -> None:
        """Close the last document."""
        is_empty = self._validator.tokens == self._begun
        # After the last separator there need be nothing.
        if not (is_empty and self._separator is not None and self._begun):
            self._documents += 1
            self._empty += is_empty
            self._unended += not is_empty and (self._separator is not None or not self._ends[self._last])
        self._recent = []
        self._settle(store)

    def report(self, store: Store) -> Report:
        """Return what was found."""
        if self._bad:
            self._recent = []
            self._settle(store)
        return Report(
            shards=1,
            ids=self._ids,
            documents=self._documents,
            empty_documents=int(self._empty),
            wrong_documents=self._wrong,
            unended_documents=int(self._unended),
            kinds=dict(sorted(self._kinds.items())),
            rules=dict(sorted(self._rules.items())),
            dead=dict(sorted(self._dead.items())),
            out_of_range=self._out_of_range,
            unknown=self._unknown,
            fallback=self._fallback,
            first=first_of(self._first),
            worst=worst_of(self._worst),
        )


def _broken(path: object, problem: Problem) -> Broken:
    return Broken(str(path), problem.where, problem.what)
