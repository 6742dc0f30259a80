"""Every store: the same documents in every format and for every size of chunks, and the location of each id."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.written_stores import DOCUMENTS, IDS, STARTS, WITH_DOCUMENTS, WITHOUT_DOCUMENTS, documents_of
from tokdfa.stores import Location, iter_ids, open_store

sizes = pytest.mark.parametrize("size", [None, 1, 2, 3])
MASK = [bool(id % 2) for id in IDS]
MASKED = {"datatrove", "parquet", "arrow-stream", "jsonl", "jsonl-gz", "hugging-face"}


@sizes
@pytest.mark.parametrize("name", WITH_DOCUMENTS)
def test_documents_are_those_written(tmp_path: Path, name: str, size: int | None) -> None:
    format, write = WITH_DOCUMENTS[name]
    path = write(tmp_path)
    store = open_store(path)
    assert store.problems == ()
    assert (store.format, store.has_documents) == (format, True)
    assert store.n_ids in (None, len(IDS))
    assert store.n_documents in (None, len(DOCUMENTS))
    assert documents_of(store, size=size) == DOCUMENTS
    assert [id for ids in iter_ids(path, size=size) for id in ids.tolist()] == IDS


@sizes
@pytest.mark.parametrize("name", WITHOUT_DOCUMENTS)
def test_streams_are_those_written(tmp_path: Path, name: str, size: int | None) -> None:
    format, write = WITHOUT_DOCUMENTS[name]
    store = open_store(write(tmp_path))
    assert store.problems == ()
    assert (store.format, store.has_documents, store.n_documents) == (format, False, None)
    assert store.n_ids in (None, len(IDS))
    assert documents_of(store, size=size) == [IDS]


@sizes
@pytest.mark.parametrize("name", sorted(MASKED))
def test_masks_are_those_written(tmp_path: Path, name: str, size: int | None) -> None:
    store = open_store(WITH_DOCUMENTS[name][1](tmp_path))
    assert store.has_mask
    masks = [chunk.mask for chunk in store.iter_chunks(size=size)]
    assert np.concatenate([mask for mask in masks if mask is not None]).tolist() == MASK


@sizes
@pytest.mark.parametrize("name", ["megatron", "datatrove", "olmo", "parquet", "arrow-file"])
def test_stretches_together_are_the_store(tmp_path: Path, name: str, size: int | None) -> None:
    """Whatever steps a store is read in, it is the same."""
    store = open_store(WITH_DOCUMENTS[name][1](tmp_path))
    for step in range(store.n_steps + 1):
        at = store.boundary(step)
        assert at <= step
        numbers = [
            number
            for begin, end in ((0, at), (at, store.n_steps))
            for chunk in store.iter_chunks(begin, end, size=size)
            for number in chunk.numbers.tolist()
        ]
        # Empty documents at the boundary belong to the part after it.
        assert documents_of(store, 0, at, size=size) + documents_of(store, at, size=size) == DOCUMENTS, step
        assert numbers == [*range(len(DOCUMENTS))]


def test_places_of_ids_are_known(tmp_path: Path) -> None:
    places = {
        "megatron": Location("x_text_document.bin", "byte", 12, 6),
        "datatrove": Location("000_00000_shuffled.ds", "byte", 12, 6),
        "olmo": Location("part-0-00000.npy", "byte", 24, 6),
        "parquet": Location("x.parquet", "row", 3, 2),
        "arrow-stream": Location("x.arrow", "row", 3, 2),
        "jsonl": Location("x.jsonl", "line", 4, 2),
        "tar-npy": Location("x.tar", "member", 7, 2),
    }
    for name, expected in places.items():
        folder = tmp_path / name
        folder.mkdir()
        store = open_store(WITH_DOCUMENTS[name][1](folder))
        numbers = [number for chunk in store.iter_chunks() for number in chunk.numbers.tolist()]
        # The third id of the fourth document.
        place = store.location(numbers[3], 2, STARTS[3] + 2)
        assert place._replace(file=Path(place.file).name) == expected
        assert Path(place.file).parent == folder
    assert str(Location("x.bin", "byte", 12, 6)) == "x.bin, byte 12, token 6"
    assert str(Location("x.txt", "token", 6, 6)) == "x.txt, token 6"
