"""Writing the indices of datasets that are folders, when all their files have been written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError
from tokdfa.base.files import open_named, read_named
from tokdfa.stores import folder as folders
from tokdfa.stores.archives import unpacked
from tokdfa.stores.mds import SUFFIXES, files_of_shard, is_mds, shard_name

_INDEX = "index.json"
_INFO = "dataset_info.json"
_MOST = 1 << 32


def datasets_of(files: Sequence[Path], root: Path) -> dict[Path, list[Path]]:
    """Return the folders of datasets that some files under a folder are of, with these; a dataset must be whole."""
    found: dict[Path, list[Path]] = {}
    there = {*files}
    for folder in dict.fromkeys(parent for file in files for parent in _parents(file, root)):
        named = _named(folder)
        if named is None or not there & {*named}:
            continue
        missing = [file for file in named if file not in there]
        if missing:
            what = f"it is a dataset, and {len(missing)} of its {len(named)} files are not given"
            raise TokenStreamError(what, value=missing[0].name, where=str(folder), hint="give the folder")
        if is_mds(_index(folder)):
            for shard in _index(folder)["shards"]:
                _check_hashes(shard, str(folder / _INDEX))
        found[folder] = named
    return found


def _parents(file: Path, root: Path) -> Iterable[Path]:
    return (parent for parent in file.parents if parent == root or root in parent.parents)


def _index(folder: Path) -> Any:
    # An index may belong to something else; opening the files reports its faults.
    with suppress(TokenStreamError):
        return folders.read_index(folder / _INDEX) if (folder / _INDEX).is_file() else None
    return None


def _named(folder: Path) -> list[Path] | None:
    """Return the files of a dataset; None if the folder is not one."""
    index = _index(folder)
    if folders.is_litdata(index):
        return [folder / Path(str(chunk.get("filename"))).name for chunk in index["chunks"]]
    if is_mds(index):
        return [folder / shard_name(folder, shard) for shard in index["shards"]]
    if (folder / folders.STATE).is_file() or (folder / folders.SPLITS).is_file():
        return folders.split_files(folder)
    return None


def index_files(folder: Path) -> list[Path]:
    """Return the files of a dataset without which it is not read."""
    if _index(folder) is not None:
        return [folder / _INDEX]
    parts = dict.fromkeys((folder, *(file.parent for file in folders.split_files(folder))))
    return [file for each in parts for file in (each / folders.SPLITS, each / folders.STATE) if file.is_file()]


def indices(folder: Path, new: Path, job: bytes | None) -> dict[str | Path, bytes]:
    """Return the indices of a dataset with its files in the folder `new`; `job` describes their changes, if any."""
    index = _index(folder)
    if index is not None and job is None:
        return {new / _INDEX: (folder / _INDEX).read_bytes()}
    if folders.is_litdata(index):
        size = folders.litdata_dtype(index, folder / _INDEX).itemsize
        chunks = [_chunk(chunk, new / Path(chunk["filename"]).name, size) for chunk in index["chunks"]]
        return {new / _INDEX: _json({**index, "chunks": chunks})}
    if is_mds(index):
        shards = [_shard(shard, new / shard_name(folder, shard)) for shard in index["shards"]]
        return {new / _INDEX: _json({**index, "shards": shards})}
    files = index_files(folder)
    files += [file.with_name(_INFO) for file in files if file.with_name(_INFO).is_file()]
    read = {file: read_named(file) for file in files}
    return {
        new / file.relative_to(folder): _state(data, job) if file.name == folders.STATE else data
        for file, data in read.items()
    }


def _json(content: object) -> bytes:
    return json.dumps(content, sort_keys=True).encode()


def _state(data: bytes, job: bytes | None) -> bytes:
    """Return the state of a split of other rows: datasets looks for what it made of these by their fingerprint."""
    if job is None:
        return data
    state = json.loads(data)
    mixed = hashlib.sha256(str(state.get("_fingerprint")).encode() + job).hexdigest()[:16]
    return json.dumps({**state, "_fingerprint": mixed}, indent=2, sort_keys=True).encode()


def _chunk(chunk: Mapping[str, Any], file: Path, size_of_id: int) -> dict[str, Any]:
    size = file.stat().st_size
    with open_named(file) as stream:
        n_items = int.from_bytes(stream.read(4), "little")
    own = {"chunk_bytes": size, "dim": (size - 4 * (n_items + 2)) // size_of_id}
    return {**chunk, **{name: value for name, value in own.items() if chunk.get(name) is not None}}


def _shard(shard: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """Return the entry of a shard; of a file that was not there it keeps the name alone."""
    data = read_named(file)
    compression = SUFFIXES.get(file.suffix.lower(), "")
    raw = unpacked(data, compression, str(file), _MOST) if compression else data
    new = dict(shard)
    for kind, content in (("raw_data", raw), ("zip_data", data if compression else None)):
        old = shard.get(kind)
        if isinstance(old, Mapping):
            if content is None:
                new[kind], new["compression"] = None, None
                continue
            hashes = {name: _HASHES[name](content) for name in old.get("hashes") or {}}
            new[kind] = {**old, "bytes": len(content), "hashes": hashes}
    return new


def _check_hashes(shard: Any, where: str) -> None:
    for file in files_of_shard(shard):
        for name in file.get("hashes") or {}:
            if name not in _HASHES:
                hint = f"those that are written are {', '.join(_HASHES)}; for xxhash, pip install xxhash"
                raise UnsupportedFeatureError("a hash of shards", value=name, where=where, hint=hint)


def _hash(name: str) -> Callable[[bytes], str]:
    return lambda data: hashlib.new(name, data).hexdigest()


_HASHES = {name: _hash(name) for name in sorted(hashlib.algorithms_guaranteed) if not name.startswith("shake_")}
