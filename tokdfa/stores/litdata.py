"""Litdata: a folder of chunk files, described by ``index.json``; each item is a document.

Notes
-----
As litdata's ``BinaryWriter`` writes ids for its ``TokensLoader``. Other loaders, the default ``PyTreeLoader`` among
them, put the size of each item before it, or more; such chunks are refused. ``index.json`` has ``chunks``, each with
``filename``, ``chunk_size`` (items), ``chunk_bytes`` and ``dim`` (ids), and ``config`` with ``data_format``,
``compression``, ``encryption`` and ``item_loader``, which old versions leave out. A chunk file has N, the number of
items, as u32; N + 1 offsets from the beginning of the file, as u32; and the ids. The number after ``no_header_tensor:``
and ``no_header_numpy:`` stands for their type.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.stores.folder import FolderStore, is_there, read_index
from tokdfa.stores.raw import Boundaries, IntegerFile, RawStore
from tokdfa.stores.store import Dtype, Problem, Store

_TENSORS = {11: "u1", 12: "i1", 13: "<i2", 14: "<i2", 15: "<i4", 16: "<i4", 17: "<i8", 18: "<i8", 20: "<u2"}
_ARRAYS = {0: "i1", 1: "<i2", 2: "<i4", 3: "<i8", 4: "u1", 5: "<u2", 6: "<u4", 7: "<u8"}


def is_litdata(index: object) -> bool:
    """Return whether the content of an index.json is that of litdata."""
    return isinstance(index, Mapping) and isinstance(index.get("chunks"), list) and "config" in index


def open_litdata(folder: Path) -> FolderStore:
    """Open a folder; refused if encrypted or compressed, not written for ``TokensLoader``, or its items are not ids."""
    path = folder / "index.json"
    index = read_index(path)
    dtype = _dtype(index, path)
    members: list[Store] = []
    problems: list[Problem] = []
    for number, chunk in enumerate(index["chunks"]):
        name = chunk.get("filename") if isinstance(chunk, Mapping) else None
        if not isinstance(name, str) or Path(name).name != name:
            problems.append(Problem(f"{path}, chunk {number}", "it has no name of a file"))
        elif not is_there(folder / name):
            problems.append(Problem(f"{path}, chunk {number}", f"there is no file {name}"))
        else:
            members.append(_open_chunk(folder / name, dtype, chunk))
    return FolderStore(folder, "litdata", members, problems)


def open_litdata_chunk(path: Path, index: Any) -> RawStore:
    """Open one chunk file of a folder, given the content of the index beside it; errors are those of the folder."""
    named = (each for each in index["chunks"] if isinstance(each, Mapping) and each.get("filename") == path.name)
    dtype = _dtype(index, path.with_name("index.json"))
    return _open_chunk(path, dtype, next(named, {}))


def _dtype(index: Any, path: Path) -> Dtype:
    config = index["config"]
    fields = config if isinstance(config, Mapping) else {}
    if fields.get("encryption"):
        raise UnsupportedFeatureError("the data are encrypted", where=str(path))
    if fields.get("compression"):
        hint = "unpack it with litdata, or write it without compression"
        raise UnsupportedFeatureError("packed chunks", value=fields["compression"], where=str(path), hint=hint)
    # Only TokensLoader counts the ids of a chunk.
    counts = (chunk.get("dim") for chunk in index["chunks"] if isinstance(chunk, Mapping))
    loader = fields.get("item_loader", "TokensLoader" if any(type(dim) is int for dim in counts) else None)
    if loader != "TokensLoader":
        hint = "write the dataset with item_loader=TokensLoader()"
        raise UnsupportedFeatureError("chunks for another loader", value=loader, where=str(path), hint=hint)
    formats = fields.get("data_format")
    kind, _, code = str(formats[0]).partition(":") if isinstance(formats, list) and len(formats) == 1 else ("", "", "")
    table = {"no_header_tensor": _TENSORS, "no_header_numpy": _ARRAYS}.get(kind, {})
    if not code.isdecimal() or int(code) not in table:
        hint = "ids are no_header_tensor or no_header_numpy of integers"
        raise UnsupportedFeatureError("items that are not ids", value=formats, where=str(path), hint=hint)
    return np.dtype(table[int(code)])


def _open_chunk(path: Path, dtype: Dtype, chunk: Mapping[str, Any]) -> RawStore:
    with path.open("rb") as stream:
        head = stream.read(4)
        size = stream.seek(0, 2)
    n_items = int.from_bytes(head, "little")
    begin = 4 * (n_items + 2)

    def inconsistent(what: str) -> RawStore:
        return RawStore(path, "litdata", path, dtype, 0, 0, problems=[Problem(str(path), what)])

    if len(head) < 4 or begin > size:
        return inconsistent(f"the file is cut short: {size} bytes, and its head of {n_items} items takes {begin}")
    offsets = IntegerFile(path, "<u4", 4, n_items + 1)
    last = begin
    for first, part in offsets.iter_parts():
        wrong = np.flatnonzero((np.diff(part, prepend=last) < 0) | ((part - begin) % dtype.itemsize != 0))
        if len(wrong):
            return inconsistent(f"item {first + int(wrong[0])} begins at byte {part[wrong[0]]}")
        if first == 0 and part[0] != begin:
            return inconsistent(f"the first item begins at byte {part[0]} instead of {begin}")
        last = int(part[-1])
    if last != size:
        return inconsistent(f"the last item ends at byte {last}, and the file has {size}")
    n_ids = (size - begin) // dtype.itemsize
    problems: list[Problem] = []
    for name, value in (("chunk_size", n_items), ("dim", n_ids)):
        if chunk.get(name) not in (None, value):
            problems.append(Problem(str(path), f"{name} is {chunk[name]} in index.json, and {value} in the file"))
    if not chunk:
        problems.append(Problem(str(path), "index.json does not name this file"))
    size_of_id = dtype.itemsize
    boundaries = Boundaries(
        n_items, lambda first, n: (offsets.read(first, min(n, n_items - first)) - begin) // size_of_id
    )
    return RawStore(path, "litdata", path, dtype, begin, n_ids, boundaries=boundaries, problems=problems)
