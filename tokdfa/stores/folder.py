"""Folders that are one dataset: their shards one after the other.

Folders of Hugging Face datasets: one split as `Dataset.save_to_disk` writes it, or several. As datasets'
``Dataset.save_to_disk`` and ``DatasetDict.save_to_disk`` write them: ``state.json`` names the Arrow streams of a split
in ``_data_files``; ``dataset_dict.json`` names the splits, each a folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from tokdfa.base.arrays import Int64Array
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError
from tokdfa.base.files import open_named
from tokdfa.stores.columns import TableStore
from tokdfa.stores.raw import Boundaries, IntegerFile, RawStore
from tokdfa.stores.store import Chunk, Dtype, Location, Problem, Store

_LONGEST_INDEX = 1 << 28


class FolderStore(Store):
    """A dataset of several files, with their stores as `members`; it adds their problems to its own."""

    def __init__(self, path: Path, format: str, members: Sequence[Store], problems: Sequence[Problem] = ()) -> None:
        super().__init__(
            path,
            format,
            files=tuple(file for each in members for file in each.files) or (path,),
            dtype=members[0].dtype if members else None,
            n_ids=_total(each.n_ids for each in members),
            n_documents=_total(each.n_documents for each in members),
            has_documents=all(each.has_documents for each in members),
            has_mask=any(each.has_mask for each in members),
            unit=members[0].unit if members else "token",
            problems=(*problems, *_differences(members), *(problem for each in members for problem in each.problems)),
            members=members,
        )

    def iter_chunks(self, begin: int = 0, end: int | None = None, *, size: int | None = None) -> Iterator[Chunk]:
        """Yield the ids of all files; see :meth:`Store.iter_chunks`."""
        for member in self.members:
            yield from member.iter_chunks(size=size)

    def location(self, number: int, token: int, index: int) -> Location:
        """Return the position by its index in all files together."""
        return Location(str(self.path), "token", index, index)


def _total(counts: Iterable[int | None]) -> int | None:
    """Return the sum; None if a file cannot tell how many it has."""
    known = [*counts]
    return None if None in known else sum(count or 0 for count in known)


def _differences(members: Sequence[Store]) -> Iterator[Problem]:
    """Yield a problem for each file with a mask or documents if the first one has none, and conversely."""
    sound = [member for member in members if not member.problems]
    for member in sound[1:]:
        for name, what in (("has_mask", "a mask"), ("has_documents", "documents")):
            if getattr(member, name) != getattr(sound[0], name):
                one, other = (member, sound[0]) if getattr(member, name) else (sound[0], member)
                yield Problem(str(member.path), f"{one.path.name} has {what}, and {other.path.name} has none")


def is_there(path: Path) -> bool:
    """Return whether a file exists; its name comes from an index, and may not be a valid one."""
    try:
        return path.is_file()
    except OSError:  # Such as a name that is too long.
        return False


def read_index(path: Path) -> Any:
    """Return the content of an index.json."""
    facts = path.stat()
    return _read(path, facts.st_mtime_ns, facts.st_size)


# Each shard of a folder is opened by the same index.
@lru_cache(maxsize=2)
def _read(path: Path, mtime: int, size: int) -> Any:
    with open_named(path) as stream:
        data = stream.read(_LONGEST_INDEX)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise TokenStreamError("the index is not JSON", value=str(error), where=str(path)) from None


STATE = "state.json"
SPLITS = "dataset_dict.json"


def open_dataset(folder: Path, field: str | None = None) -> FolderStore:
    """Open a dataset, or all splits of one."""
    members: list[Store] = []
    problems: list[Problem] = []
    for file in split_files(folder):
        if is_there(file):
            members.append(TableStore(file, field))
        else:
            problems.append(Problem(str(folder), f"there is no file {file.relative_to(folder)}"))
    return FolderStore(folder, "Hugging Face dataset", members, problems)


def split_files(folder: Path) -> list[Path]:
    """Return the files of a dataset, in order, whether they are there or not."""
    if not (folder / SPLITS).is_file():
        return _named(folder)
    described = read_index(folder / SPLITS)
    splits = described.get("splits") if isinstance(described, Mapping) else None
    found: list[Path] = []
    for split in map(str, splits if isinstance(splits, list) else []):
        part = folder / Path(split).name
        found += _named(part) if is_there(part / STATE) else [part / STATE]
    return found


def _named(folder: Path) -> list[Path]:
    path = folder / STATE
    state = read_index(path)
    files = state.get("_data_files") if isinstance(state, Mapping) else None
    if isinstance(state, Mapping) and (state.get("_indices_files") or state.get("_indices_data_files")):
        hint = "load it with datasets and save it again: dataset.flatten_indices().save_to_disk(folder)"
        raise UnsupportedFeatureError("rows in the order of a table of indices", where=str(path), hint=hint)
    if not isinstance(files, list) or not all(isinstance(file, Mapping) for file in files):
        raise TokenStreamError("it does not name the files of the dataset", where=str(path))
    return [folder / Path(str(file.get("filename"))).name for file in files]


_TENSORS = {11: "u1", 12: "i1", 13: "<i2", 14: "<i2", 15: "<i4", 16: "<i4", 17: "<i8", 18: "<i8", 20: "<u2"}
_ARRAYS = {0: "i1", 1: "<i2", 2: "<i4", 3: "<i8", 4: "u1", 5: "<u2", 6: "<u4", 7: "<u8"}


def is_litdata(index: object) -> bool:
    """Return whether the content of an index.json is from litdata."""
    return isinstance(index, Mapping) and isinstance(index.get("chunks"), list) and "config" in index


def open_litdata(folder: Path) -> FolderStore:
    """Open a folder; refused if encrypted or compressed, not written for ``TokensLoader``, or its items are not ids."""
    path = folder / "index.json"
    index = read_index(path)
    dtype = litdata_dtype(index, path)
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
    """Open one chunk file of a folder, given the content of the index next to it; errors are as for the folder."""
    named = (each for each in index["chunks"] if isinstance(each, Mapping) and each.get("filename") == path.name)
    dtype = litdata_dtype(index, path.with_name("index.json"))
    return _open_chunk(path, dtype, next(named, {}))


def litdata_dtype(index: Any, path: Path) -> Dtype:
    """Return the type of the ids of a folder of litdata, by its index."""
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
    with open_named(path) as stream:
        head, size = stream.read(4), stream.seek(0, 2)
    n_items = int.from_bytes(head, "little")
    begin = 4 * (n_items + 2)

    def inconsistent(what: str) -> RawStore:
        return RawStore(path, "litdata", IntegerFile(path, dtype, 0, 0), problems=[Problem(str(path), what)])

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
    size_of_id = dtype.itemsize
    n_ids = (size - begin) // size_of_id
    problems: list[Problem] = []
    for name, value in (("chunk_size", n_items), ("dim", n_ids)):
        if chunk.get(name) not in (None, value):
            problems.append(Problem(str(path), f"{name} is {chunk[name]} in index.json, and {value} in the file"))
    if not chunk:
        problems.append(Problem(str(path), "index.json does not name this file"))
    items = IntegerFile(path, "<u4", 4, n_items)  # without the end of the last one
    boundaries = Boundaries(n_items, lambda first, n: (items.read(first, n) - begin) // size_of_id)
    return RawStore(path, "litdata", IntegerFile(path, dtype, begin, n_ids), boundaries=boundaries, problems=problems)


def litdata_head(path: Path, starts: Int64Array, n_ids: int, size: int) -> bytes:
    """Return the head of a chunk file of items that begin at these ids, each of `size` bytes."""
    begin = 4 * (len(starts) + 2)
    offsets = begin + size * np.append(starts, n_ids)
    if offsets[-1] >= 1 << 32:
        raise TokenStreamError("the chunk is too large", value=f"{offsets[-1]} bytes", where=str(path))
    return np.concatenate(([len(starts)], offsets)).astype("<u4").tobytes()
