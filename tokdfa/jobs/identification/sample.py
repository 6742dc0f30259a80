"""Samples of stores: segments of ids, the violations in these, and how else the ids may be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tokdfa.base.arrays import Int64Array, IntegerArray
from tokdfa.base.errors import TokdfaError, TokenStreamError
from tokdfa.jobs.validation.validator import Validator
from tokdfa.jobs.validation.violation import Violation
from tokdfa.stores.opening import find_stores, open_store
from tokdfa.stores.store import Chunk, Location, Problem, Store
from tokdfa.tokenizers.protocol import AnyTokenizer

ENOUGH = 1000
"""The number of violations after which a candidate is not judged on."""

# The number of ids of a segment, and of the ids before and after it that are judged with it and not counted.
_SIZE = 4096
_CONTEXT = 64
# The most files of a folder that are read.
_FILES = 64
_ALIGNED = 8
_GOLDEN = (5**0.5 - 1) / 2


class Segment(NamedTuple):
    """Consecutive ids of a store as they are in the file; the ids from `begin` to `end` count, the others are context.

    `starts` are the indices in them at which documents begin, None if the store has no documents, and `location` is
    where the first id that counts is.
    """

    ids: IntegerArray
    begin: int
    end: int
    starts: Int64Array | None
    location: Location


@dataclass(frozen=True, slots=True)
class Sample:
    """The part read of a store; see :class:`~tokdfa.jobs.identification.result.Identification` for the attributes.

    The segments are scattered, so that each beginning of them is spread over the store.
    """

    format: str
    dtype: str | None
    is_recorded: bool
    n_ids: int | None
    is_whole: bool
    segments: tuple[Segment, ...]
    broken: tuple[Problem, ...] = ()


def sample_of(path: str | Path, dtype: str | None, field: str | None, most: int) -> Sample:
    """Return a sample of about `most` ids of a store, or of the stores in a folder.

    Raw integers of no recorded type are read as uint16.
    """
    paths = find_stores([path])
    # The first and the last are among the files that are read.
    chosen = [paths[at] for at in np.linspace(0, len(paths) - 1, min(len(paths), _FILES)).astype(int)]
    stores: list[Store] = []
    broken: list[Problem] = []
    is_recorded = True
    for each in chosen:
        try:
            store, recorded = _opened(each, dtype, field)
        except (TokdfaError, OSError) as error:
            if len(paths) == 1:
                raise
            broken.append(Problem.of(error, each))
            continue
        is_recorded &= recorded
        broken += store.problems
        stores += [single for single in (store.members or (store,)) if not single.problems]
    known = [store.n_ids for store in stores]
    segments: list[Segment] = []
    is_whole = len(chosen) == len(paths) and not broken
    for number, store in enumerate(stores):
        spans, is_all = _spans(store, max(most // len(stores) + (number < most % len(stores)), 1))
        try:
            for span in spans:
                found, is_read = _segments(store, *span)
                segments += found
                is_all &= is_read
        except (TokdfaError, OSError) as error:
            broken.append(Problem.of(error, store.path))
        is_whole &= is_all
    if not any(len(segment.ids) for segment in segments):
        if broken:
            raise TokenStreamError(broken[0].what, where=broken[0].where)
        raise TokenStreamError("no ids to identify a tokenizer by: the store is empty", where=str(path))
    order = np.argsort(np.arange(len(segments)) * _GOLDEN % 1, kind="stable")
    formats = sorted({store.format for store in stores})
    first = segments[0].ids.dtype if stores[0].dtype is None else stores[0].dtype
    return Sample(
        ", ".join(formats),
        None if stores[0].dtype is None else _name(first),
        is_recorded,
        None if None in known or len(chosen) < len(paths) else sum(n for n in known if n is not None),
        is_whole,
        tuple(segments[at] for at in order),
        tuple(sorted(set(broken))),
    )


def _name(dtype: np.dtype) -> str:
    return dtype.newbyteorder("=").name if dtype.isnative else f"{dtype.byteorder}{dtype.kind}{dtype.itemsize}"


def _opened(path: Path, dtype: str | None, field: str | None) -> tuple[Store, bool]:
    """Return a store, and whether the type of its integers is known."""
    try:
        return open_store(path, dtype=dtype, field=field), True
    except TokenStreamError:
        if dtype is not None or path.suffix.lower() not in (".bin", ".npy"):
            raise
        # Only for raw integers a type can be given.
        with suppress(TokdfaError):
            return open_store(path, dtype="uint16"), False
        raise


def _spans(store: Store, most: int) -> tuple[list[tuple[int, int, int | None, int]], bool]:
    """Return the spans of a store to read, and whether they are all of it.

    A span is its first step, the number of ids to skip there, its end, and the number of ids to read.
    """
    n = max(most // _SIZE, 1)
    is_raw = store.n_ids is not None and store.n_ids == store.n_steps
    if is_raw and store.n_steps > most:
        # Whole numbers of the widest integers precede each segment, so that it can be read as another type.
        size = min(_SIZE, most)
        begins = np.unique(np.linspace(0, store.n_steps - size, n).astype(np.int64) // _ALIGNED * _ALIGNED).tolist()
        befores = [max(begin - _CONTEXT, 0) for begin in begins]
        spans = zip(begins, befores, strict=True)
        return [(before, begin - before, begin + _SIZE + _CONTEXT, size) for begin, before in spans], False
    if is_raw or store.n_steps == 1:
        return [(0, 0, None, most)], True
    steps = np.unique(np.linspace(0, store.n_steps - 1, min(store.n_steps, n)).astype(np.int64)).tolist()
    return [(step, 0, step + 1, most // len(steps)) for step in steps], len(steps) == store.n_steps


def _segments(store: Store, step: int, skipped: int, end: int | None, most: int) -> tuple[list[Segment], bool]:
    """Return the segments of a span, with context, and whether no ids come after them."""
    is_raw = store.n_ids is not None and store.n_ids == store.n_steps
    wanted = skipped + most
    chunks: list[Chunk] = []
    count = 0
    for chunk in store.iter_chunks(step, end):
        chunks.append(chunk)
        count += len(chunk.ids)
        if count > wanted + _CONTEXT:
            break
    if not count:
        return [], True
    ids, starts, numbers = _joined(chunks, store.has_documents)
    ids = ids[: wanted + _CONTEXT]
    found = []
    for begin in range(skipped, min(wanted, len(ids)), _SIZE):
        stop = min(begin + _SIZE, wanted, len(ids))
        low, high = max(begin - _CONTEXT, 0), min(stop + _CONTEXT, len(ids))
        inner = None
        token, number = begin, 0
        if starts is not None and numbers is not None:
            inner = starts[slice(*np.searchsorted(starts, [low, high]))] - low
            document = int(np.searchsorted(starts, begin, side="right")) - 1
            if document >= 0:
                token, number = begin - int(starts[document]), int(numbers[document])
        location = store.location(number, token, begin + step * is_raw)
        found.append(Segment(ids[low:high], begin - low, stop - low, inner, location))
    return found, count <= wanted


def _joined(chunks: list[Chunk], has_documents: bool) -> tuple[IntegerArray, Int64Array | None, Int64Array | None]:
    """Return the ids of chunks, where documents begin among them, and the numbers of these."""
    # Concatenating would change the byte order.
    ids = np.concatenate([chunk.ids for chunk in chunks]).astype(chunks[0].ids.dtype, copy=False)
    if not has_documents:
        return ids, None, None
    starts, numbers, first = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)], 0
    for chunk in chunks:
        if chunk.starts is not None and chunk.numbers is not None:
            starts.append(chunk.starts + first)
            numbers.append(chunk.numbers)
        first += len(chunk.ids)
    return ids, np.concatenate(starts), np.concatenate(numbers)


class Counts:
    """The violations in some ids."""

    def __init__(self) -> None:
        self.ids = 0
        self.kinds: Counter[str] = Counter()
        self.missing: Counter[int] = Counter()  # How often ids occur that the tokenizer does not have.
        self.found: list[tuple[Violation, IntegerArray]] = []  # Each with the ids of its segment.

    @property
    def violations(self) -> int:
        """The number of violations, ids that the tokenizer does not have included."""
        return sum(self.kinds.values()) + sum(self.missing.values())

    @property
    def per_million(self) -> float:
        """The number of violations per million ids."""
        return 1e6 * self.violations / max(self.ids, 1)


def count_violations(
    tokenizer: AnyTokenizer, segments: Iterable[Segment], enough: int = ENOUGH, separators: Iterable[int] = ()
) -> Counts:
    """Count the violations in segments until there are `enough`; `separators` are taken for ids between documents."""
    counts = Counts()
    between = np.array([*separators], dtype=np.int64)
    for ids, begin, end, starts, _ in segments:
        is_separator = np.isin(ids, between)
        known, missing = tokenizer.decoder.check_known(ids)
        cuts = np.union1d(missing, np.flatnonzero(is_separator))
        validator = Validator(tokenizer, documents=())
        counts.ids += end - begin
        is_missing = ~tokenizer.decoder.mean_something(ids) & ~is_separator
        counts.missing.update(ids[begin:end][is_missing[begin:end]].tolist())
        for violation in (*chain.from_iterable(validator.iter_checked(known, starts, cuts)), *validator.finish()):
            if begin <= violation.index < end:
                counts.kinds[violation.kind.value] += 1
                counts.found.append((violation, ids))
        if counts.violations >= enough:
            break
    return counts


TYPES = ("<u2", "<u4", "<u8", ">u2", ">u4", ">u8")
"""The integer types in which ids are written, in either byte order."""

_TOO_LARGE = 1 << 62
# The number of ids by which shifts and integer types are tried.
_PROBE = 1024
# The largest shift that is always tried; larger ones are derived from the commonest ids.
_SHIFTS = 300
# A tokenizer has made ids, or another version of it has, if it loses at most this share of the neighbours that it
# loses of ids that are shifted at random. Measured: up to 0.12 for the same vocabulary, from 0.37 on for others.
_OWN = 0.2
# For one shift among thousands more is asked, and that no other fits as well.
_SHIFTED = 0.1
_RIVAL = 2.0
_CONTROLS = (*range(-24, -8), *range(9, 25))
_FINALISTS = 16
_MOST_OFTEN = 0.4
_LARGEST = 1 << 24
_FEWEST = 64
# Texts that are common in many languages and in programs, most of them one token.
_COMMON = (",", ".", " the", "\n", " of", " and", " ", "\n\n", " de", " a", "的", "，", " =", "(")
_COMMONEST = 8


@dataclass(frozen=True, slots=True)
class Reading:
    """A way to read ids: the integer type of the bytes, None for the store's type, and a number to add to each id."""

    dtype: str | None = None
    offset: int = 0

    def __bool__(self) -> bool:
        """Return whether this differs from reading the ids as they are."""
        return self.dtype is not None or self.offset != 0

    def ids(self, ids: IntegerArray) -> IntegerArray:
        """Return ids in this reading; values that are too large for any tokenizer become negative."""
        if self.dtype is not None:
            data = np.ascontiguousarray(ids).tobytes()
            dtype: np.dtype[np.integer[Any]] = np.dtype(self.dtype)
            ids = np.frombuffer(data[: len(data) - len(data) % dtype.itemsize], dtype=dtype)
        if not self.offset:
            return ids
        return np.where(ids > _TOO_LARGE, -1, ids.astype(np.int64) + self.offset)

    def segment(self, segment: Segment) -> Segment:
        """Return a segment in this reading."""
        ids = self.ids(segment.ids)
        if self.dtype is None:
            return segment._replace(ids=ids)
        ratio = np.dtype(self.dtype).itemsize / segment.ids.dtype.itemsize
        begin, end = int(segment.begin / ratio), min(int(segment.end / ratio), len(ids))
        return segment._replace(ids=ids, begin=min(begin, end), end=end, starts=None)


class _Fit(NamedTuple):
    reading: Reading
    loss: float
    usual: float

    def is_own(self, most: float = _OWN) -> bool:
        return self.loss <= most * self.usual


def fitting_reading(tokenizer: AnyTokenizer, sample: Sample) -> Reading | None:
    """Return the reading in which a tokenizer fits ids: as they are if it does, and otherwise the only one; or None.

    It is None, too, for ids that are too few or too much alike to tell.
    """
    probe = _probe(sample.segments, _PROBE)
    # Rare ids may be wrong, and not the others: here more of them are looked at.
    more = _probe(sample.segments, 4 * _PROBE)
    if len(np.unique(more)) < _FEWEST:
        return None
    # Half of a wider integer is often 0, and the id 0 is seldom wrong next to another.
    types = [] if sample.dtype is None else [Reading(name) for name in TYPES if np.dtype(name) != probe.dtype]
    types = [reading for reading in types if _is_varied(reading.ids(probe))]
    found = [fit for fit in (_fit(tokenizer, probe, reading) for reading in types) if fit.is_own()]
    if not found or _is_varied(more):
        own = _fit(tokenizer, _without_commonest(more), Reading())
        found = [own] if own.is_own() else found
    if not found:
        shifted = (_shifted(tokenizer, probe, reading) for reading in (Reading(), *types))
        found = [fit for fit in shifted if fit is not None]
    best = min(found, key=lambda fit: fit.loss / fit.usual, default=None)
    return None if best is None else best.reading


def best_type(tokenizers: Iterable[AnyTokenizer], samples: Mapping[str, Sample]) -> str | None:
    """Return the type by which one of some tokenizers fits ids best, given the sample as each; None if none does."""
    found = []
    for tokenizer in tokenizers:
        for name, sample in samples.items():
            fit = _fit(tokenizer, _probe(sample.segments, _PROBE), Reading())
            if fit.is_own():
                found.append((fit.loss / fit.usual if fit.usual else 0.0, name))
    return min(found)[1] if found else None


def _probe(segments: tuple[Segment, ...], n: int) -> IntegerArray:
    """Return about `n` ids, from several segments."""
    several = segments[:8]
    parts = [segment.ids[segment.begin : segment.end][: max(n // len(several) // 8 * 8, 8)] for segment in several]
    # Concatenating would change the byte order.
    return np.concatenate(parts).astype(parts[0].dtype, copy=False)


def _fit(tokenizer: AnyTokenizer, probe: IntegerArray, reading: Reading) -> _Fit:
    """Return how well a tokenizer fits ids in a reading, compared with the same ids shifted."""
    losses = [1 - _agreement(tokenizer, Reading(reading.dtype, shift).ids(probe)) for shift in _CONTROLS]
    return _Fit(reading, 1 - _agreement(tokenizer, reading.ids(probe)), float(np.median(losses)))


def _is_varied(ids: IntegerArray) -> bool:
    """Return whether no id makes up much of the ids, so that they may be a text, and all may be ids."""
    return len(_without_commonest(ids)) == len(ids) > 0 and int(ids.max()) < _LARGEST


def _without_commonest(ids: IntegerArray) -> IntegerArray:
    """Return ids without one that makes up much of them, such as padding or the upper halves of wider integers."""
    values, counts = np.unique(ids, return_counts=True)
    if not len(ids) or int(counts.max()) < _MOST_OFTEN * len(ids):
        return ids
    others: IntegerArray = ids[ids != values[counts.argmax()]]
    return others


def _shifted(tokenizer: AnyTokenizer, probe: IntegerArray, reading: Reading) -> _Fit | None:
    """Return the one shift after which ids fit; None if there is none."""
    ids = reading.ids(probe)
    few = ids[: len(ids) // 4]
    shifts = _shifts_to_try(tokenizer, ids)
    losses = np.array([1 - _agreement(tokenizer, Reading(None, shift).ids(few)) for shift in shifts])
    usual = float(np.median(losses[losses < 1])) if (losses < 1).any() else 1.0
    best = [shifts[at] for at in np.argsort(losses, kind="stable")[:_FINALISTS]]
    again = sorted((1 - _agreement(tokenizer, Reading(None, shift).ids(ids)), shift) for shift in best)
    (loss, shift), (second, _) = again[:2]
    found = _Fit(Reading(reading.dtype, shift), loss, usual)
    return found if found.is_own(_SHIFTED) and second > _RIVAL * loss + _SHIFTED / 10 else None


def _agreement(tokenizer: AnyTokenizer, ids: IntegerArray) -> float:
    """Return the share of neighbouring ids, from 0 to 1, that are neighbours again once their text is encoded."""
    if len(ids) < 2:
        return 0.0
    known = ids[tokenizer.decoder.mean_something(ids)].astype(np.int64)
    if 2 * len(known) < len(ids):
        return 0.0
    try:
        again = tokenizer.encode(tokenizer.decode_bytes(known).decode("utf-8", "replace")).astype(np.int64)
    except TokdfaError:
        return 0.0
    kept = np.isin(_pairs(known), _pairs(again))
    return float(np.count_nonzero(kept)) / (len(ids) - 1)


def _pairs(ids: IntegerArray) -> IntegerArray:
    return (ids[:-1] << 32) | ids[1:]


def _shifts_to_try(tokenizer: AnyTokenizer, ids: IntegerArray) -> list[int]:
    """Return the numbers that may have to be added to ids: small ones, and some that make common ids common tokens."""
    values, counts = np.unique(ids, return_counts=True)
    common = values[np.argsort(-counts, kind="stable")[:_COMMONEST]].tolist()
    wanted: set[int] = set()
    for text in _COMMON:
        try:
            wanted.update(tokenizer.encode(text)[-1:].tolist())
        except TokdfaError:
            continue
    aligned = {each - value for each in wanted for value in common if abs(value) < 1 << 40}
    return sorted({*range(-_SHIFTS, _SHIFTS + 1), *aligned} - {0}, key=lambda shift: (abs(shift), shift))
