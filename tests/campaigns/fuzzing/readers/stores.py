"""Token stores: the ids read do not depend on the way they are read, and are the ids in the files at the places given.

An input is a folder of files: the name of the file that is opened and, for each file, its name and its content.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import struct
import tarfile
import zlib
from contextlib import suppress
from functools import cache
from itertools import count, islice, pairwise
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from tests.campaigns.fuzzing.readers.json_changes import change_json
from tests.campaigns.fuzzing.readers.target import Target, folder
from tests.support.id_files import mutated
from tokdfa.base.errors import TokdfaError
from tokdfa.stores import Location, Store, open_store

SIZES = (None, 1, 3, 64)
NUMBERS = (0, 1, 2, 3, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, (1 << 63) - 1, (1 << 64) - 1)
MOST_PLACES = 50
LONGEST_NAME = 100
UNPACK_AT_MOST = 1 << 20
_numbers = count()

Files = dict[str, bytes]


def pack(opened: str, files: Files) -> bytes:
    """Return an input: lengths are a byte for names and four bytes for contents."""
    parts = [(opened.encode("latin-1"), b""), *((name.encode("latin-1"), content) for name, content in files.items())]
    return b"".join(bytes([len(name)]) + name + struct.pack("<I", len(content)) + content for name, content in parts)


def unpack(data: bytes) -> tuple[str, Files] | None:
    """Return what is opened, and the files; None if a name is not a plain one."""
    parts: list[tuple[str, bytes]] = []
    while data:
        name, data = data[1 : 1 + data[0]], data[1 + data[0] :]
        size, data = int.from_bytes(data[:4], "little"), data[4:]
        content, data = data[:size], data[size:]
        parts.append((name.decode("latin-1"), content))
    if not parts or any(set(name) & set("/\\\0") or name == ".." or len(name) > LONGEST_NAME for name, _ in parts):
        return None
    files = {name: content for name, content in parts[1:] if name not in ("", ".")}
    return (parts[0][0], files) if len(files) <= 6 else None


def check(data: bytes) -> bool:
    found = unpack(data)
    if found is None:
        return False
    opened, files = found
    # Another folder for each input: a store may remember what it read of the last one.
    here = folder() / f"store-{next(_numbers)}"
    here.mkdir()
    try:
        for name, content in files.items():
            (here / name).write_bytes(content)
        return _check(here / opened)
    finally:
        rmtree(here)


def _check(path: Path) -> bool:
    outcomes = [_read(path, size) for size in SIZES]
    assert all(outcome == outcomes[0] for outcome in outcomes), outcomes
    if outcomes[0] is None:
        return False
    ids, starts, numbers, _ = outcomes[0]
    store = open_store(path)
    assert store.n_ids in (None, len(ids)), (store.n_ids, len(ids))
    assert store.n_documents in (None, len(starts)), (store.n_documents, len(starts))
    assert store.has_documents or not starts
    _check_steps(store, ids, numbers)
    if not store.members:
        _check_places(store, ids, starts, numbers)
    return True


Content = tuple[list[int], list[int], list[int], list[bool] | None]


def _read(path: Path, size: int | None) -> Content | None:
    """Return the ids, the starts and the numbers of documents, and the mask; None if the store is refused."""
    ids: list[int] = []
    starts: list[int] = []
    numbers: list[int] = []
    mask: list[bool] = []
    try:
        store = open_store(path)
        if store.problems:
            return None
        for chunk in store.iter_chunks(size=size):
            assert chunk.ids.ndim == 1
            assert chunk.ids.dtype.kind in "iu"
            assert (chunk.starts is not None) == store.has_documents
            assert (chunk.mask is not None) == store.has_mask
            if chunk.starts is not None:
                assert chunk.numbers is not None
                assert len(chunk.numbers) == len(chunk.starts)
                assert all(0 <= start <= len(chunk.ids) for start in chunk.starts.tolist())
                starts += [len(ids) + start for start in chunk.starts.tolist()]
                numbers += chunk.numbers.tolist()
            if chunk.mask is not None:
                mask += chunk.mask.tolist()
                assert len(chunk.mask) == len(chunk.ids)
            ids += chunk.ids.tolist()
    except (TokdfaError, FileNotFoundError, IsADirectoryError):
        return None
    assert all(before <= after for before, after in pairwise(starts))
    return ids, starts, numbers, mask if store.has_mask else None


def _check_steps(store: Store, ids: list[int], numbers: list[int]) -> None:
    at = store.boundary(store.n_steps // 2)
    assert 0 <= at <= store.n_steps // 2
    if not at:
        return
    parts = [chunk for begin, end in ((0, at), (at, store.n_steps)) for chunk in store.iter_chunks(begin, end)]
    assert [id for chunk in parts for id in chunk.ids.tolist()] == ids
    assert [number for chunk in parts if chunk.numbers is not None for number in chunk.numbers.tolist()] == numbers


def _check_places(store: Store, ids: list[int], starts: list[int], numbers: list[int]) -> None:
    """Look ids up at the places that the store gives them, by another reader."""
    document = 0
    for index, id in islice(enumerate(ids), MOST_PLACES):
        while document + 1 < len(starts) and starts[document + 1] <= index:
            document += 1
        first, number = (starts[document], numbers[document]) if starts else (0, 0)
        place = store.location(number, index - first, index)
        found = _at(store, place)
        assert found is None or found == id, (place, id, found)


def _at(store: Store, place: Location) -> int | None:
    """Return the id at a place; None if the file has no other reader."""
    path = Path(place.file)
    if place.unit == "byte":
        assert store.dtype is not None
        data = path.read_bytes()[place.number : place.number + store.dtype.itemsize]
        order = "big" if store.dtype.byteorder == ">" else "little"
        return int.from_bytes(data, order, signed=store.dtype.kind == "i")
    if place.unit == "row":
        try:
            column = _table(path, "input_ids")
        except (pa.ArrowException, OSError, UnicodeDecodeError, KeyError):
            return None
        return int(column[place.number].as_py()[place.token])
    if place.unit == "line" and path.suffix == ".jsonl":
        record = json.loads(path.read_bytes().split(b"\n")[place.number - 1])
        ids = record.get("input_ids") if isinstance(record, dict) else None
        return None if ids is None else int(ids[place.token])
    if place.unit == "member" and path.suffix == ".tar":
        return _in_member(path, place)
    return None


def _in_member(path: Path, place: Location) -> int | None:
    with tarfile.open(path) as archive:
        member = archive.extractfile(archive.getmembers()[place.number])
        assert member is not None
        content = member.read()
    if content.startswith(b"\x93NUMPY"):
        return int(np.load(io.BytesIO(content))[place.token])
    value = json.loads(content)
    ids = value.get("input_ids") if isinstance(value, dict) else value
    return None if ids is None else int(ids[place.token])


def _table(path: Path, name: str) -> Any:
    data = path.read_bytes()
    if data.startswith(b"PAR1"):
        return pq.read_table(pa.BufferReader(data), columns=[name])[name]
    return (pa.ipc.open_file if data.startswith(b"ARROW1") else pa.ipc.open_stream)(data).read_all()[name]


def change(data: bytes, drawn: random.Random) -> bytes:
    found = unpack(data)
    if found is None or not found[1] or drawn.random() < 0.03:
        return mutated(data, drawn)
    opened, files = found
    for _ in range(drawn.choice((1, 1, 1, 2, 3))):
        name = drawn.choice(list(files))
        kind = drawn.random()
        if kind < 0.02 and len(files) > 1:
            del files[name]
        elif kind < 0.05:
            other = drawn.choice(list(files))
            files[name], files[other] = files[other], files[name]
        else:
            files[name] = _changed(name, files[name], drawn)
    return pack(opened, files)


def _changed(name: str, content: bytes, drawn: random.Random) -> bytes:
    packing = next((packing for packing in _PACKINGS if content.startswith(packing)), None)
    if packing is not None and drawn.random() < 0.8:
        unpack_it, pack_it = _PACKINGS[packing]
        with suppress(Exception):
            return pack_it(_changed(name, unpack_it(content), drawn))
    if name.endswith(".json") and drawn.random() < 0.8:
        return change_json(content, drawn, {})
    if drawn.random() < 0.5 and len(content) >= 8:
        # Headers and indexes are numbers of four or eight bytes.
        size = drawn.choice((4, 8))
        at = size * drawn.randrange(min(len(content), 400) // size) + drawn.choice((0, 0, 0, 1, 2))
        old = int.from_bytes(content[at : at + size], "little")
        new = drawn.choice((*NUMBERS, old + 1, old - 1, old * 2, old + 256)) % (1 << 8 * size)
        return content[:at] + new.to_bytes(size, "little") + content[at + size :]
    return mutated(content, drawn)


def _gunzip(data: bytes) -> bytes:
    return zlib.decompressobj(31).decompress(data, UNPACK_AT_MOST)


def _unzstd(data: bytes) -> bytes:
    return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read(UNPACK_AT_MOST)


@cache
def _compressor() -> Any:
    return zstandard.ZstdCompressor()


_PACKINGS: dict[bytes, tuple[Any, Any]] = {
    b"\x1f\x8b": (_gunzip, lambda data: gzip.compress(data, mtime=0)),
    b"\x28\xb5\x2f\xfd": (_unzstd, lambda data: _compressor().compress(data)),
}

TARGET = Target(check, change, longest=1 << 15)
