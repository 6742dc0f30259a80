"""Megatron: ``PREFIX.bin`` with the ids, and ``PREFIX.idx`` with their type, sequences and documents.

Notes
-----
The layout is that of ``megatron/core/datasets/indexed_dataset.py``; datatrove and NeMo Curator write it, too. All
integers are little-endian::

    0        9 bytes  MMIDIDX and two zero bytes
    9        u64      version, 1
    17       u8       type: 1 u8, 2 i8, 3 i16, 4 i32, 5 i64, 6 f64, 7 f32, 8 u16
    18       u64      S, the number of sequences
    26       u64      D, the number of entries of the index of documents: one more than there are documents
    34       i32[S]   the lengths of the sequences, in ids
    34+4S    i64[S]   the bytes of .bin at which they begin
    34+12S   i64[D]   the first sequence of each document, and S at the end
    34+12S+8D  i8[S]  modes, only of multimodal data: 0 is text
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from tokdfa.base.arrays import Int64Array
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError
from tokdfa.stores.raw import Boundaries, IntegerFile, RawStore
from tokdfa.stores.store import Dtype, Problem

__all__ = ["MAGIC", "open_megatron"]

MAGIC = b"MMIDIDX\0\0"
_HEAD = struct.Struct("<9sQBQQ")
_DTYPES = {1: "<u1", 2: "<i1", 3: "<i2", 4: "<i4", 5: "<i8", 8: "<u2"}
_FLOATS = {6: "float64", 7: "float32"}


def open_megatron(path: Path) -> RawStore:
    """Open a dataset by its .idx or its .bin file; sequences that are not text are refused."""
    index, data = path.with_suffix(".idx"), path.with_suffix(".bin")
    with index.open("rb") as stream:
        head = stream.read(_HEAD.size)
        size = stream.seek(0, 2)
    if len(head) < _HEAD.size or not head.startswith(MAGIC):
        raise TokenStreamError("not an index of Megatron: its header is missing or cut short", where=str(index))
    _, version, code, n_sequences, n_entries = _HEAD.unpack(head)
    if version != 1:
        raise TokenStreamError("not a version of Megatron's index", value=version, where=str(index))
    if code not in _DTYPES:
        raise TokenStreamError("ids must be integers", value=_FLOATS.get(code, f"code {code}"), where=str(index))
    dtype: Dtype = np.dtype(_DTYPES[code])
    n_bytes = data.stat().st_size
    expected = _HEAD.size + 12 * n_sequences + 8 * n_entries
    files = (data, index)
    if size not in (expected, expected + n_sequences):
        what = f"the index has {size} bytes instead of {expected}, for {n_sequences} sequences and {n_entries} entries"
        return RawStore(path, "Megatron", data, dtype, 0, 0, files=files, problems=[Problem(str(index), what)])
    lengths = IntegerFile(index, "<i4", _HEAD.size, n_sequences)
    offsets = IntegerFile(index, "<i8", _HEAD.size + 4 * n_sequences, n_sequences)
    entries = IntegerFile(index, "<i8", _HEAD.size + 12 * n_sequences, n_entries)
    problems = (*_of_sequences(lengths, offsets, dtype.itemsize, n_bytes, data), *_of_documents(entries, n_sequences))
    if size > expected:
        _check_modes(IntegerFile(index, "<i1", expected, n_sequences))
    boundaries = _boundaries(entries, offsets, dtype.itemsize, n_bytes)
    n_ids = n_bytes // dtype.itemsize
    return RawStore(path, "Megatron", data, dtype, 0, n_ids, boundaries=boundaries, files=files, problems=problems)


def _boundaries(entries: IntegerFile, offsets: IntegerFile, size: int, n_bytes: int) -> Boundaries:
    """Return where documents begin: at the offsets of their first sequences."""
    count = max(entries.count - 1, 0)

    def starts_from(first: int, n: int) -> Int64Array:
        sequences = entries.read(first, min(n, count - first))
        if not len(sequences):
            return sequences
        low, high = int(sequences[0]), int(sequences[-1])
        # A sequence number equal to the number of sequences is that of an empty document at the end.
        found = offsets.read(low, high + 1 - low)
        found = np.append(found, np.full(high + 1 - low - len(found), n_bytes, dtype=np.int64))
        starts: Int64Array = found[sequences - low] // size
        return starts

    return Boundaries(count, starts_from)


def _check_modes(modes: IntegerFile) -> None:
    """Refuse sequences that are not text."""
    for first, part in modes.iter_parts():
        others = np.flatnonzero(part)
        if len(others):
            at = int(others[0])
            where = f"{modes.path}, sequence {first + at}"
            raise UnsupportedFeatureError("a sequence that is not text", value=f"mode {part[at]}", where=where)


def _of_sequences(
    lengths: IntegerFile, offsets: IntegerFile, size: int, n_bytes: int, data: Path
) -> tuple[Problem, ...]:
    """Return where lengths and offsets contradict each other, or the size of the data."""
    end = 0
    for first, part in lengths.iter_parts():
        begins = offsets.read(first, len(part))
        negative = np.flatnonzero(part < 0)
        if len(negative):
            return (Problem(f"{lengths.path}, sequence {first + int(negative[0])}", "its length is negative"),)
        expected = end + size * (np.cumsum(part) - part)
        wrong = np.flatnonzero(begins != expected)
        if len(wrong):
            at = int(wrong[0])
            what = f"it begins at byte {begins[at]} instead of {expected[at]}"
            return (Problem(f"{offsets.path}, sequence {first + at}", what),)
        end += size * int(part.sum())
    if end != n_bytes:
        return (Problem(str(data), f"the file has {n_bytes} bytes, and {end} by its index"),)
    return ()


def _of_documents(entries: IntegerFile, n_sequences: int) -> tuple[Problem, ...]:
    """Return where the index of documents does not rise from the first sequence to the last."""
    if not entries.count:
        return (Problem(str(entries.path), "the index of documents is empty"),)
    last = 0
    for first, part in entries.iter_parts():
        wrong = np.flatnonzero(np.diff(part, prepend=last) < 0)
        if first == 0 and part[0] != 0:
            return (Problem(f"{entries.path}, document 0", f"it begins with sequence {part[0]} instead of 0"),)
        if len(wrong):
            at = int(wrong[0])
            what = f"it begins with sequence {part[at]}, before the document before it"
            return (Problem(f"{entries.path}, document {first + at}", what),)
        last = int(part[-1])
    if last != n_sequences:
        what = f"the last document ends with sequence {last}, and there are {n_sequences}"
        return (Problem(f"{entries.path}, document {entries.count - 1}", what),)
    return ()
