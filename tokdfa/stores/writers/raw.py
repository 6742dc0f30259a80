"""Writing raw integers, and the files with their documents: each layout's head and index are made by its reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, Uint8Array
from tokdfa.base.atomic import Data
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.stores.folder import litdata_head
from tokdfa.stores.indexed import datatrove_file, has_one_sequence_each, megatron_index, olmo_documents
from tokdfa.stores.raw import RawStore, llmc_head, npy_header
from tokdfa.stores.store import Chunk
from tokdfa.stores.writers.edit import BATCH, Edit, as_type

Head = Callable[[int, Int64Array], bytes]
"""Returns the bytes before the ids, always as many, given the number of ids and the starts of documents."""

Other = Callable[[Path, "Written"], Iterator[bytes]]
"""Yields the content of another file of the store, given the old one."""


class Written(NamedTuple):
    """The facts about the new file of ids, for the other files."""

    starts: list[Int64Array]
    n_ids: list[int]
    masks: list[Uint8Array]  # Eight flags in a byte

    def facts(self) -> tuple[int, Int64Array]:
        """Return the number of ids, and where documents begin."""
        return sum(self.n_ids), np.concatenate((np.zeros(0, dtype=np.int64), *self.starts))


def check_can_write(store: RawStore) -> None:
    """Refuse a store if new ids have no known documents, or masks."""
    if store.format == "Megatron" and not has_one_sequence_each(store.files[1]):
        what = "a document of several sequences: where these begin among new ids is not known"
        raise UnsupportedFeatureError(what, where=str(store.files[1]))
    if store.has_mask and not store.has_documents:
        raise UnsupportedFeatureError("a mask of ids without documents", where=str(store.path))


def contents(store: RawStore, edit: Edit, folder: Path) -> dict[str | Path, Data]:
    """Return the files of a store with other ids."""
    head, other = _layout(store)
    written = Written([], [], [])

    def write_ids(stream: BinaryIO) -> None:
        dtype = store.dtype
        assert dtype is not None
        stream.write(head(0, np.zeros(store.n_documents or 0, dtype=np.int64)))
        for ids in _edited(store, edit, written):
            stream.write(as_type(ids, dtype, str(store.path)).data)
        stream.seek(0)
        stream.write(head(*written.facts()))

    files: dict[str | Path, Data] = {
        folder / file.name: partial(_parts, other, file, written) for file in store.files[1:]
    }
    return {folder / store.files[0].name: write_ids, **files}


def _parts(other: Other, file: Path, written: Written, stream: BinaryIO) -> None:
    for block in other(file, written):
        stream.write(block)


def _layout(store: RawStore) -> tuple[Head, Other]:
    """Return the makers of the head of the file of ids, and of the other files."""
    dtype, path = store.dtype, store.files[0]
    assert dtype is not None
    size = dtype.itemsize
    heads: dict[str, Head] = {
        ".npy": lambda n, _: npy_header(dtype, n),
        "llm.c": lambda n, _: llmc_head(path, n),
        "litdata": lambda n, starts: litdata_head(path, starts, n, size),
    }
    others: dict[str, Other] = {
        "Megatron": lambda file, written: megatron_index(file, *written.facts(), size),
        "OLMo": lambda file, written: olmo_documents(file, *written.facts()),
        "datatrove": lambda file, written: (
            _mask(written) if file.suffix == ".loss" else datatrove_file(file, *written.facts())
        ),
    }
    return heads.get(store.format, lambda n, starts: b""), others.get(store.format, lambda file, written: iter(()))


def _mask(written: Written) -> Iterator[bytes]:
    for n, flags in zip(written.n_ids, written.masks, strict=True):
        yield np.unpackbits(flags, count=n).tobytes()


def _edited(store: RawStore, edit: Edit, written: Written) -> Iterator[Int32Array]:
    """Yield all new ids, and note the rest."""
    if not store.has_documents:
        for ids in edit.stream((chunk.ids for chunk in store.iter_chunks()), str(store.path)):
            written.n_ids.append(len(ids))
            yield ids
        return
    for batch in whole_documents(store):
        assert batch.starts is not None
        assert batch.numbers is not None
        last = int(batch.numbers[-1]) if len(batch.numbers) else 0
        where = f"{store.path}, documents {int(batch.numbers[0]) if len(batch.numbers) else 0} to {last}"
        edited = edit.documents(batch.ids, batch.starts, where)
        if batch.mask is not None:
            written.masks.append(np.packbits(edited.carry(batch.mask, ".loss")))
        written.starts.append(edited.starts + sum(written.n_ids))
        written.n_ids.append(len(edited.ids))
        yield edited.ids


def whole_documents(store: RawStore, least: int = BATCH) -> Iterator[Chunk]:
    """Yield the ids of a store in parts of whole documents with at least so many ids, but for the last one."""
    waiting: list[Chunk] = []
    n = 0
    for chunk in store.iter_chunks():
        assert chunk.starts is not None
        inside = chunk.starts[chunk.starts < len(chunk.ids)]
        cut = int(inside[-1]) if len(inside) else 0
        if n + cut >= least and len(inside):
            yield _joined([*waiting, chunk.part(0, cut)] if cut else waiting)
            waiting, n = [], 0
            chunk = chunk.part(cut, len(chunk.ids))
        waiting.append(chunk)
        n += len(chunk.ids)
    if waiting:
        yield _joined(waiting)


def _joined(chunks: list[Chunk]) -> Chunk:
    ids, starts, numbers, masks = zip(*chunks, strict=True)
    firsts = np.cumsum([0, *map(len, ids)])
    all_starts = np.concatenate([own + first for own, first in zip(starts, firsts[:-1], strict=True)])
    mask = None if masks[0] is None else np.concatenate(masks)
    return Chunk(np.concatenate(ids), all_starts, np.concatenate(numbers), mask)
