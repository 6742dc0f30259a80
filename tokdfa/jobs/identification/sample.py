"""Samples of stores: stretches of ids, evenly spread, with where they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import Int64Array, IntegerArray
from tokdfa.base.errors import TokdfaError, TokenStreamError
from tokdfa.stores.opening import find_stores, open_store
from tokdfa.stores.store import Chunk, Place, Problem, Store

# The number of ids of a stretch, and of the ids before and after it that are judged with it and not counted.
_SIZE = 4096
_CONTEXT = 64
# The most files of a folder that are read.
_FILES = 64
_ALIGNED = 8
_GOLDEN = (5**0.5 - 1) / 2


class Stretch(NamedTuple):
    """Consecutive ids of a store as they are in the file; the ids from `begin` to `end` count, the others are context.

    `starts` are the indices in them at which documents begin, None if the store has no documents, and `place` is where
    the first id that counts is.
    """

    ids: IntegerArray
    begin: int
    end: int
    starts: Int64Array | None
    place: Place


@dataclass(frozen=True, slots=True)
class Sample:
    """The part read of a store; see :class:`~tokdfa.jobs.identification.result.Identification` for the attributes.

    The stretches are scattered, so that each beginning of them is spread over the store.
    """

    format: str
    dtype: str | None
    is_recorded: bool
    n_ids: int | None
    is_whole: bool
    stretches: tuple[Stretch, ...]
    broken: tuple[Problem, ...] = ()

    def read_as_guessed(self) -> Sample:
        """Return the sample with the remark that its integer type is not recorded."""
        return replace(self, is_recorded=False)


def sample_of(path: str | Path, dtype: str | None, field: str | None, most: int) -> Sample:
    """Return a sample of about `most` ids of a store, or of the stores in a folder.

    Raw integers of no recorded type are read as uint16.
    """
    paths = find_stores([path])
    chosen = _spread(paths, _FILES)
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
    stretches: list[Stretch] = []
    is_whole = len(chosen) == len(paths) and not broken
    for number, store in enumerate(stores):
        quota = most // len(stores) + (number < most % len(stores))
        parts = _Parts(store, quota)
        try:
            stretches += parts
        except (TokdfaError, OSError) as error:
            broken.append(Problem.of(error, store.path))
        is_whole &= parts.is_whole
    if not any(len(stretch.ids) for stretch in stretches):
        if broken:
            raise TokenStreamError(broken[0].what, where=broken[0].where)
        raise TokenStreamError("no ids to identify a tokenizer by: the store is empty", where=str(path))
    order = np.argsort(np.arange(len(stretches)) * _GOLDEN % 1, kind="stable")
    formats = sorted({store.format for store in stores})
    first = stretches[0].ids.dtype if stores[0].dtype is None else stores[0].dtype
    return Sample(
        ", ".join(formats),
        None if stores[0].dtype is None else _name(first),
        is_recorded,
        None if None in known or len(chosen) < len(paths) else sum(n for n in known if n is not None),
        is_whole,
        tuple(stretches[at] for at in order),
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


def _spread(paths: list[Path], most: int) -> list[Path]:
    """Return at most so many paths, the first and the last among them."""
    if len(paths) <= most:
        return paths
    return [paths[at] for at in np.linspace(0, len(paths) - 1, most).astype(int)]


class _Parts:
    """The stretches of one store."""

    def __init__(self, store: Store, most: int) -> None:
        self._store = store
        self._most = max(most, 1)
        self._is_raw = store.n_ids is not None and store.n_ids == store.n_steps
        self.is_whole = True

    def __iter__(self) -> Iterator[Stretch]:
        store = self._store
        n = max(self._most // _SIZE, 1)
        if self._is_raw and store.n_steps > self._most:
            self.is_whole = False
            # Whole numbers of the widest integers precede each stretch, so that it can be read as another type.
            begins = np.linspace(0, store.n_steps - min(_SIZE, self._most), n).astype(np.int64) // _ALIGNED * _ALIGNED
            for begin in np.unique(begins).tolist():
                before = max(begin - _CONTEXT, 0)
                yield from self._cut(before, begin - before, begin + _SIZE + _CONTEXT, min(_SIZE, self._most))
            return
        if self._is_raw or store.n_steps == 1:
            yield from self._cut(0, 0, None, self._most)
            return
        groups = np.unique(np.linspace(0, store.n_steps - 1, min(store.n_steps, n)).astype(np.int64)).tolist()
        self.is_whole = len(groups) == store.n_steps
        for group in groups:
            yield from self._cut(group, 0, group + 1, self._most // len(groups))

    def _cut(self, step: int, skipped: int, end: int | None, most: int) -> Iterator[Stretch]:
        """Read `most` ids after the first `skipped` ones of some steps, and yield them in stretches with context."""
        store = self._store
        wanted = skipped + most
        chunks: list[Chunk] = []
        count = 0
        for chunk in store.iter_chunks(step, end):
            chunks.append(chunk)
            count += len(chunk.ids)
            if count > wanted + _CONTEXT:
                break
        self.is_whole &= count <= wanted
        if not count:
            return
        ids, starts, numbers = _joined(chunks, store.has_documents)
        ids = ids[: wanted + _CONTEXT]
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
            place = store.place(number, token, begin + (step if self._is_raw else 0))
            yield Stretch(ids[low:high], begin - low, stop - low, inner, place)


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
