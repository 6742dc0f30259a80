"""Writing MDS shards: the same samples, with other ids in their column."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tokdfa.base.atomic import Data
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError
from tokdfa.stores.archives import packed
from tokdfa.stores.mds import TYPES, MdsStore, array_of, encoded_array, offsets_of_samples
from tokdfa.stores.writers.edit import Edit, Edited, as_type, new_values

_MOST = 1 << 32


def check_can_write(store: MdsStore) -> None:
    """Refuse columns that have arrays of one shape, and packings that are only read."""
    column = store.column
    if column.length is not None:
        what = "arrays of one shape: new ids may be more or fewer"
        raise UnsupportedFeatureError(what, value=column.encoding, where=str(store.path))
    if store.compression:
        packed(b"", store.compression, store.level, str(store.path))


def contents(store: MdsStore, edit: Edit, folder: Path) -> dict[str | Path, Data]:
    """Return the shard with other ids; index.json is written when all shards are there."""
    return {folder / store.path.name: partial(_write, store, edit)}


def _write(store: MdsStore, edit: Edit, stream: BinaryIO) -> None:
    data = store.data_of(store.path)
    where = str(store.path)
    n, offsets = offsets_of_samples(data, where)
    samples = [data[begin:end] for begin, end in pairwise(offsets.tolist())]
    own = [store.ids_of_sample(sample, f"{where}, sample {number}") for number, sample in enumerate(samples)]
    lengths = np.array([*map(len, own)], dtype=np.int64)
    ids = np.concatenate([np.zeros(0, dtype=np.int32), *own])
    edited = edit.documents(ids, np.cumsum(lengths) - lengths, f"{where}, samples 0 to {n}")
    changed = {*edited.changed.tolist()}
    others = dict(_others(store, samples, edited, lengths)) if changed else {}
    written: list[bytes | memoryview] = []
    bounds = [*edited.starts.tolist(), len(edited.ids)]
    for number, sample in enumerate(samples):
        if number not in changed:
            written.append(sample)
            continue
        at = f"{where}, sample {number}"
        part = slice(bounds[number], bounds[number + 1])
        new = {column: values[part] for column, values in others.items()}
        new[store.column.at] = edited.ids[part]
        written.append(_sample(store, sample, new, at))
    described = data[4 * (n + 2) : int(offsets[0])] if n else data[8:]
    begin = 4 * (n + 2) + len(described)
    ends = begin + np.cumsum([0, *map(len, written)], dtype=np.int64)
    if ends[-1] >= _MOST:
        raise TokenStreamError("the shard is too large", value=f"{ends[-1]} bytes", where=where)
    whole = b"".join((struct.pack("<I", n), ends.astype("<u4").tobytes(), described, *written))
    stream.write(packed(whole, store.compression, store.level, where) if store.compression else whole)


def _others(
    store: MdsStore, samples: list[memoryview], edited: Edited, lengths: npt.NDArray[np.int64]
) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Yield the other columns that have known values for new ids, by their numbers."""
    for at, (name, encoding) in enumerate(zip(store.names, store.encodings, strict=True)):
        if at == store.column.at or not encoding.startswith("ndarray") or not samples:
            continue
        spans = [store.columns_of(sample, str(store.path))[at] for sample in samples]
        pairs = zip(samples, spans, strict=True)
        arrays = [array_of(encoding, sample[begin : begin + size], str(store.path)) for sample, (begin, size) in pairs]
        values = [array for array in arrays if array is not None]
        if len(values) < len(samples):
            continue
        new = new_values(edited, name, np.concatenate(values), [*map(len, values)], lengths, str(store.path))
        if new is not None:
            yield at, new


def _sample(store: MdsStore, sample: memoryview, new: dict[int, npt.NDArray[Any]], where: str) -> bytes:
    """Return a sample with other values in some columns, by their numbers."""
    columns = [sample[begin : begin + size] for begin, size in store.columns_of(sample, where)]
    for at, values in new.items():
        encoding = store.encodings[at]
        if at == store.column.at:
            dtype = store.column.dtype or np.dtype(TYPES[columns[at][0]])
            values = as_type(values.astype(np.int32), dtype, where)
        columns[at] = memoryview(encoded_array(encoding, values, columns[at]))
    sizes = [len(column) for column, fixed in zip(columns, store.sizes, strict=True) if fixed is None]
    for column, fixed in zip(columns, store.sizes, strict=True):
        if fixed is not None and len(column) != fixed:
            raise TokenStreamError("a column of one size has no values for new ids", value=fixed, where=where)
    return struct.pack(f"<{len(sizes)}I", *sizes) + b"".join(columns)
