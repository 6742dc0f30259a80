"""Samples of stores: segments of ids, spread over the files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import Int64Array, IntegerArray
from tokdfa.base.errors import TokdfaError, TokenStreamError
from tokdfa.stores.integer_types import likely_type_of, name_of
from tokdfa.stores.opening import open_shard
from tokdfa.stores.store import Chunk, Location, Problem, Store, UnrecordedTypeError

# The number of ids of a segment, and of the ids before and after it that are judged with it and not counted.
_SIZE = 4096
_CONTEXT = 64
# The most files of a folder that are read.
_FILES = 64
_ALIGNED = 8
_GOLDEN = (5**0.5 - 1) / 2


class Segment(NamedTuple):
    """Consecutive ids of a store as they are in the file; the ids from `begin` to `end` count, the others are context.

    `starts` are the indices in them at which documents begin, None if the store has no documents, `location` is where
    the first id that counts is, and `numbers` are the numbers of the documents that begin.
    """

    ids: IntegerArray
    begin: int
    end: int
    starts: Int64Array | None
    location: Location
    numbers: Int64Array | None = None

    def location_at(self, index: int) -> Location:
        """Return where an id that counts is, by its index in the ids."""
        here, moved = self.location, index - self.begin
        if here.unit == "byte":
            return here._replace(number=here.number + moved * self.ids.dtype.itemsize, token=here.token + moved)
        if here.unit == "token":
            return here._replace(number=here.number + moved, token=here.token + moved)
        if self.starts is not None and self.numbers is not None:
            document = int(np.searchsorted(self.starts, index, side="right")) - 1
            if document >= 0 and self.starts[document] > self.begin:
                return here._replace(number=int(self.numbers[document]), token=index - int(self.starts[document]))
        return here._replace(token=here.token + moved)


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


def sample_of(paths: Sequence[Path], dtype: str | None, field: str | None, most: int) -> Sample:
    """Return a sample of about `most` ids of a store, or of several.

    Raw integers of no recorded type are read as the type that is likely by the bytes of the first file.
    """
    # The first and the last are among the files that are read.
    chosen = [paths[at] for at in np.linspace(0, len(paths) - 1, min(len(paths), _FILES)).astype(int)]
    stores: list[Store] = []
    broken: list[Problem] = []
    likely: str | None = None
    for each in chosen:
        try:
            try:
                store = open_shard(each, dtype=dtype or likely, field=field)
            except UnrecordedTypeError:
                likely = likely_type_of(each) or "uint16"
                store = open_shard(each, dtype=likely, field=field)
        except (TokdfaError, OSError) as error:
            if len(paths) == 1:
                raise
            broken.append(Problem.of(error, each))
            continue
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
        raise TokenStreamError("no ids to identify a tokenizer by: the store is empty", where=str(paths[0]))
    order = np.argsort(np.arange(len(segments)) * _GOLDEN % 1, kind="stable")
    formats = sorted({store.format for store in stores})
    first = segments[0].ids.dtype if stores[0].dtype is None else stores[0].dtype
    return Sample(
        ", ".join(formats),
        None if stores[0].dtype is None else name_of(first),
        likely is None,
        None if None in known or len(chosen) < len(paths) else sum(n for n in known if n is not None),
        is_whole,
        tuple(segments[at] for at in order),
        tuple(sorted(set(broken))),
    )


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
        inner = inner_numbers = None
        token, number = begin, 0
        if starts is not None and numbers is not None:
            begun = slice(*np.searchsorted(starts, [low, high]))
            inner, inner_numbers = starts[begun] - low, numbers[begun]
            document = int(np.searchsorted(starts, begin, side="right")) - 1
            if document >= 0:
                token, number = begin - int(starts[document]), int(numbers[document])
        location = store.location(number, token, begin + step * is_raw)
        found.append(Segment(ids[low:high], begin - low, stop - low, inner, location, inner_numbers))
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
