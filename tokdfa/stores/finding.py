"""The files of ids under paths: files, folders, datasets and patterns, in a fixed order."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from glob import glob
from pathlib import Path
from typing import Any

from tokdfa.base.errors import TokdfaError, TokenStreamError
from tokdfa.stores.folder import SPLITS, STATE, read_index, split_files
from tokdfa.stores.litdata import is_litdata
from tokdfa.stores.mds import is_mds, shard_name

_PACKED = (".gz", ".zst", ".zstd", ".bz2", ".br", ".snappy")
_KNOWN = (".npy", ".npz", ".bin", ".ds", ".parquet", ".arrow", ".feather", ".jsonl", ".ndjson", ".mds", ".tar")
_MAY_BE_PACKED = (".jsonl", ".ndjson", ".mds", ".tar")


def find_stores(paths: Iterable[str | Path]) -> list[Path]:
    """Return the files of ids under paths, each once, sorted.

    Paths are files, of any name; patterns with ``*``, ``?`` and ``**``; and folders, with all that is in them: the
    files that an index names if it is a dataset, whether they are there or not, and otherwise the files whose names end
    like those of a store, except .txt and .json. There must be some under each path.
    """
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        part = sorted(_under(path))
        if not part:
            hint = f"their names end in {', '.join(_KNOWN[:-1])} or {_KNOWN[-1]}"
            raise TokenStreamError("no files of ids", where=str(path), hint=hint)
        found.update(dict.fromkeys(part))
    return [*found]


def _under(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from _in_folder(path)
    elif path.exists() or path.with_name(path.name + ".idx").exists():
        yield path
    elif set("*?[") & set(str(path)):
        for each in map(Path, glob(str(path), recursive=True)):
            if each.is_dir():
                yield from _in_folder(each)
            elif _is_known(each) or not _is_beside(each):
                yield each
    else:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


def _in_folder(folder: Path) -> Iterator[Path]:
    index = folder / "index.json"
    content: Any = None
    if index.is_file():
        # It may have to do with something else; the files say what is wrong with them.
        with suppress(TokdfaError):
            content = read_index(index)
    if is_litdata(content):
        names = (each.get("filename") for each in content["chunks"] if isinstance(each, dict))
        yield from (folder / Path(str(name)).name for name in names)
        return
    if is_mds(content):
        yield from (folder / shard_name(folder, shard) for shard in content["shards"])
        return
    if (folder / SPLITS).is_file() or (folder / STATE).is_file():
        yield from split_files(folder)
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _in_folder(folder / entry.name)
            elif _is_known(folder / entry.name):
                yield folder / entry.name


def _is_known(path: Path) -> bool:
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]] or [""]
    packed = suffixes[-1] in _PACKED and len(suffixes) > 1 and suffixes[-2] in _MAY_BE_PACKED
    return suffixes[-1] in _KNOWN or packed


def _is_beside(path: Path) -> bool:
    """Return whether a file belongs to a store, but has no ids."""
    name = path.name
    ends = (".idx", ".index", ".loss", ".metadata", ".csv.gz")
    return name.endswith(ends) or name in ("index.json", STATE, SPLITS, "dataset_info.json")
