"""The judging of a part of a store, document by document, with counts of its kinds of ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import chain, groupby
from typing import Any, NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, IntegerArray, Uint8Array
from tokdfa.base.errors import TokdfaError
from tokdfa.jobs.shards.report import FIRST, WORST, Finding, Report, WrongDocument, first_of, worst_of
from tokdfa.jobs.shards.tenths import Tenths
from tokdfa.jobs.validation.groups import CONTEXT, GroupCounter, keys_of, keys_out_of_range
from tokdfa.jobs.validation.recent import LastIds
from tokdfa.jobs.validation.validator import Validator
from tokdfa.jobs.validation.violation import Violation, ViolationKind, out_of_range
from tokdfa.jobs.validation.violations import KIND_INDEX, KINDS, Outline, Spans
from tokdfa.stores.store import Chunk, Location, Store
from tokdfa.tokenizers.models.byte_pairs import BytePairs
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer

_SHOWN = 16
_OUT_OF_RANGE = KIND_INDEX[ViolationKind.ID_OUT_OF_RANGE]
_NONE: Int64Array = np.empty(0, dtype=np.int64)


class Options(NamedTuple):
    """How shards are read and judged; see :func:`check_shard`."""

    dtype: str | None = None
    field: str | None = None
    documents: int | str | None = None
    literal: bool = False
    end: int | None = None
    window: bool = False


class Reading(NamedTuple):
    """The chunks of a part that begins with the id `base` of a store.

    If only `stop` ids are in it, the others are only read for the ids before them, and its document continues. `before`
    are the last ids before the part, of the same document.
    """

    chunks: Iterable[Chunk]
    base: int = 0
    stop: int | None = None
    before: IntegerArray = _NONE


class Wanted(NamedTuple):
    """The violations that are kept, all or the first, and where the documents of a stream begin, if that is given."""

    all: bool
    starts: Int64Array | None = None


class _Documents(NamedTuple):
    """Where documents begin, ascending, and their numbers in the file."""

    starts: Int64Array
    numbers: Int64Array

    def slots(self, indices: Int64Array) -> Int64Array:
        """Return which of the documents each id is in."""
        found: Int64Array = np.maximum(np.searchsorted(self.starts, indices, side="right") - 1, 0)
        return found

    def of(self, index: int) -> tuple[int, int]:
        """Return where the document of an id begins, and its number."""
        slot = int(self.slots(np.array([index]))[0])
        return int(self.starts[slot]), int(self.numbers[slot])


class Part:
    """The judging of parts of a store, each chunk by chunk, with all their findings."""

    def __init__(
        self, tokenizer: AnyTokenizer, options: Options, *, has_documents: bool, wanted: Wanted | None = None
    ) -> None:
        self._wanted = wanted
        self.kept: list[Sequence[Violation]] = []
        self._tokenizer = tokenizer
        self._how = {"literal": options.literal, "window": options.window}
        self._separator = options.documents if isinstance(options.documents, int) else None
        self._has_documents = has_documents and options.documents is None
        self._decoder = tokenizer.decoder
        self._flags = tokenizer.derived(flags_of)
        self._ends = tokenizer.derived(ends_documents, options.end)
        self._controls = tokenizer.derived(ends_documents, None)
        self._ids = 0
        self._documents = self._empty = self._unbegun = self._unended = 0
        self._groups = GroupCounter()
        self._tenths = Tenths(int(self._separator is not None))
        self._kinds: Counter[str] = Counter()
        self._rules: Counter[int] = Counter()
        self._dead: Counter[int] = Counter()
        self._out_of_range = self._unknown = self._fallback = 0
        self._first: list[Finding] = []
        self._n_marked = 0
        self._worst: list[WrongDocument] = []
        self._wrong = 0
        self._begin(Reading(()), None)

    def _begin(self, reading: Reading, length: int | None) -> None:
        """Begin with a part of a store; if this has `length` ids, they are one document."""
        _, base, stop, before = reading
        self._n_before = len(before)
        self._recent_ids = LastIds(-len(before))
        self._recent_ids.append(before)
        self._tenths.begin(_NONE if self._has_documents else np.zeros(1, dtype=np.int64), length, base)
        self._lacks_first = not self._has_documents and not base and self._separator is None
        documents: Any = () if self._separator is None else self._separator
        if self._wanted is not None and self._wanted.starts is not None:
            documents = self._wanted.starts
        self._validator = Validator(self._tokenizer, documents=documents, **self._how)
        self._base, self._stop = base, stop
        # The document that has begun last: where, its number, its last id; and the wrong ones that may continue.
        self._is_open = not self._has_documents
        self._begun, self._number, self._last = 0, 0, -1
        # Where violations may still be found: that document, and earlier ones that the validator has not closed.
        self._recent: list[tuple[int, int]] = [(0, 0)]
        self._bad: Counter[tuple[int, int]] = Counter()

    def read(self, store: Store, reading: Reading, advance: Callable[[int], object] | None = None) -> None:
        """Judge a part of a store."""
        is_one = not self._has_documents and self._separator is None
        self._begin(reading, store.n_ids if is_one else None)
        for chunk in reading.chunks:
            self._feed(store, chunk)
            if advance is not None:
                advance(len(chunk.ids))
        rest = [self._validator.finish()]
        self._keep(rest)
        self._take(store, rest, self._documents_among(_NONE, _NONE))
        self._groups.close(self._recent_ids, _NONE, is_last=True)
        self._tenths.settle(_NONE, self._validator.tokens, is_last=True)
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
        bad, cuts = np.setdiff1d(bad, own, assume_unique=True), np.union1d(bad, own)
        if self._is_wanting:
            found = [*self._validator.iter_checked(ids, starts, own, (bad, chunk.ids[bad]))]
            self._keep(found)
        else:
            # Ids out of range are counted below; there may be many.
            found = [*self._validator.iter_checked(ids, starts, cuts if len(cuts) else None)]
        counted = ids if self._stop is None else ids[: max(self._stop - first, 0)]
        bad = bad[bad < len(counted)]
        self._count(counted, bad)
        documents = self._documents_among(begun + first, numbers)
        self._recent_ids.append(chunk.ids.copy() if len(bad) else ids)
        if len(bad):
            self._mark(store, bad + first, chunk.ids[bad], documents)
        self._take(store, found, documents)
        self._bound(store, ids, begun, numbers, first)
        self._groups.close(self._recent_ids, documents.starts - (self._separator is not None))
        self._recent_ids.keep(self._validator.n_kept + 2 * CONTEXT)
        self._tenths.settle(begun + first, self._recent[0][0])

    @property
    def n_read(self) -> int:
        """The number of ids that were read."""
        return self._validator.tokens

    @property
    def _is_wanting(self) -> bool:
        """Whether the next violation is kept."""
        return self._wanted is not None and (self._wanted.all or not self.kept)

    def _keep(self, found: Iterable[Sequence[Violation]]) -> None:
        """Keep the violations that are wanted."""
        for part in filter(len, found):
            if self._is_wanting:
                self.kept.append(part)

    def _documents_among(self, starts: Int64Array, numbers: Int64Array) -> _Documents:
        """Return the documents in which violations may still be found, given those beginning among the last ids."""
        begun, known = np.array(self._recent, dtype=np.int64).T
        return _Documents(np.concatenate((begun, starts)), np.concatenate((known, numbers)))

    def _mark(self, store: Store, indices: Int64Array, values: IntegerArray, documents: _Documents) -> None:
        """Count ids out of range."""
        self._out_of_range += len(indices)
        self._charge(indices, documents)
        keys, counts, at, error = keys_out_of_range(values)
        self._groups.error += error
        for number in self._groups.count(keys, counts):
            index = int(indices[at[number]])
            self._note(store, keys[number], (index, index + 1), documents, index)
        for index, value in zip(indices[: FIRST - self._n_marked].tolist(), values.tolist(), strict=False):
            begun, number = documents.of(index)
            where, found = self._location(store, number, index - begun, index), out_of_range(value, index, 0)
            self._first.append(Finding(*where, found.kind.value, found.ids, None, None, found.reason))
            self._n_marked += 1

    def _note(self, store: Store, key: bytes, span: tuple[int, int], documents: _Documents, index: int) -> None:
        """Note the first violation of a group."""
        begun, number = documents.of(span[0])
        where = self._location(store, number, index - begun, index)
        self._groups.note(key, where, self._recent_ids, span, begun or -self._n_before)

    def _charge(self, indices: Int64Array, documents: _Documents) -> None:
        """Count violations, given ids that they are at, for the documents that these are in."""
        self._tenths.add(indices)
        slots, counts = np.unique(documents.slots(indices), return_counts=True)
        sides = (documents.starts[slots], documents.numbers[slots], counts)
        for begun, number, count in zip(*(side.tolist() for side in sides), strict=True):
            self._bad[begun, number] += count

    def _count(self, ids: Int32Array, bad: Int64Array) -> None:
        """Count ids by kind."""
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

    def _take(self, store: Store, found: Iterable[Sequence[Violation]], documents: _Documents) -> None:
        """Count violations; the first ones of each kind are made."""
        for is_late, parts in groupby(filter(len, found), key=lambda part: isinstance(part, Spans)):
            for part in parts if is_late else ([*chain.from_iterable(parts)],):
                outline = Outline.of(part)
                is_own = outline.kinds != _OUT_OF_RANGE
                taken = np.flatnonzero(is_own if self._stop is None else is_own & (outline.indices < self._stop))
                self._charge(outline.starts[taken], documents)
                keys, spans = keys_of(part, outline, taken)
                for number in self._groups.count(keys):
                    index = int(outline.indices[taken[number]])
                    self._note(store, keys[number], tuple(spans[number].tolist()), documents, index)
                rules = outline.rules[taken]
                self._rules.update(rules[rules >= 0].tolist())
                kinds = outline.kinds[taken]
                for kind in np.unique(kinds).tolist():
                    same = taken[kinds == kind]
                    name = KINDS[kind].value
                    for index in same[: max(FIRST - self._kinds[name], 0)].tolist():
                        self._first.append(self._finding(store, part[index], documents))
                    self._kinds[name] += len(same)

    def _finding(self, store: Store, violation: Violation, documents: _Documents) -> Finding:
        begun, number = documents.of(violation.start)
        where = self._location(store, number, violation.index - begun, violation.index)
        canonical = None if violation.canonical_ids is None else violation.canonical_ids[:_SHOWN]
        kind, ids = violation.kind.value, violation.ids[:_SHOWN]
        return Finding(*where, kind, ids, canonical, violation.rule, violation.reason)

    def _bound(self, store: Store, ids: IntegerArray, starts: Int64Array, numbers: Int64Array, first: int) -> None:
        """Close the documents that have ended, given where others begin among ids."""
        if len(starts):
            begun = np.append(self._begun - first, starts) if self._is_open else starts
            ends = begun[1:]
            # The id that ends a document is not in it.
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
            firsts = np.unique(starts[starts < len(ids)]) if self._separator is None else _NONE
            firsts = np.append(0, firsts[firsts > 0]) if self._lacks_first else firsts
            self._unbegun += int(np.count_nonzero(~self._controls[ids[firsts]]))
            self._lacks_first = self._separator is None and bool(len(starts)) and int(starts[-1]) == len(ids)
            self._last = int(ids[-1])

    def _location(self, store: Store, number: int, token: int, index: int) -> Location:
        """Return where an id is; by its index, if the documents are not the store's own."""
        if store.has_documents and not self._has_documents and store.unit != "byte":
            return Location(str(store.path), "token", self._base + index, self._base + index)
        return store.location(number, token, self._base + index)

    def _settle(self, store: Store) -> None:
        """Keep of the wrong documents that have ended the worst."""
        for key in [key for key in self._bad if key not in self._recent]:
            begun, number = key
            location = self._location(store, number, 0, begun)
            self._wrong += 1
            self._worst.append(WrongDocument(self._bad.pop(key), location.file, location.unit, location.number))
        if len(self._worst) > 64 * WORST:
            self._worst = [*worst_of(self._worst)]

    def _close(self, store: Store) -> None:
        """Close the last document."""
        is_empty = self._validator.tokens == self._begun
        # After the last separator there need be nothing.
        if self._stop is None and not (is_empty and self._separator is not None and self._begun):
            self._documents += 1
            self._empty += is_empty
            self._unended += not is_empty and (self._separator is not None or not self._ends[self._last])
        self._recent = []
        self._settle(store)

    def report(self, store: Store) -> Report:
        """Return the findings."""
        if self._bad:
            self._recent = []
            self._settle(store)
        return Report(
            shards=1,
            ids=self._ids,
            documents=self._documents,
            empty_documents=int(self._empty),
            wrong_documents=self._wrong,
            unbegun_documents=int(self._unbegun),
            unended_documents=int(self._unended),
            kinds=dict(sorted(self._kinds.items())),
            rules=dict(sorted(self._rules.items())),
            tenths=tuple(self._tenths.counts.tolist()),
            groups=self._groups.groups(self._tokenizer),
            groups_error=self._groups.error,
            dead=dict(sorted(self._dead.items())),
            out_of_range=self._out_of_range,
            unknown=self._unknown,
            fallback=self._fallback,
            first=first_of(self._first),
            worst=worst_of(self._worst),
        )


UNKNOWN, FALLBACK, DEAD = 1, 2, 4


def flags_of(tokenizer: AnyTokenizer) -> Uint8Array | None:
    """Return the flags of all ids; None if none has one."""
    flags = np.zeros(len(tokenizer.id_spellings.offsets) - 1, dtype=np.uint8)
    unknown, of_bytes = tokenizer.model.unknown_id, tokenizer.model.byte_ids or ()
    flags[[] if unknown is None else [unknown]] |= UNKNOWN
    flags[[id for id in of_bytes if id >= 0]] |= FALLBACK
    # Of a dictionary that is not proper it is not known which tokens are dead.
    with suppress(TokdfaError):
        if isinstance(tokenizer, Tokenizer) and isinstance(tokenizer.model, BytePairs):
            dead = tokenizer.token_to_id[tokenizer.dead_tokens]
            flags[dead[flags[dead] == 0]] |= DEAD
    return flags if flags.any() else None


def ends_documents(tokenizer: AnyTokenizer, end: int | None) -> BoolArray:
    """Return for each id whether it ends documents: the one that is given, or else any control token."""
    ends = np.zeros(len(tokenizer.id_spellings.offsets) - 1, dtype=np.bool_)
    if end is None:
        ends[tokenizer.control_ids] = True
    elif 0 <= end < len(ends):
        ends[end] = True
    return ends
