"""Which store a file or a folder is, by its content and the files next to it; hints for paths that are not stores."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from glob import glob
from itertools import islice
from pathlib import Path
from typing import Any

from tokdfa.base.errors import TokdfaError, TokenStreamError
from tokdfa.base.files import open_named
from tokdfa.base.suggestions import wrong_argument
from tokdfa.stores import folder as folders
from tokdfa.stores.archives import NpzStore, TarStore, compression_of, damage, is_tar, opened
from tokdfa.stores.columns import DAMAGED, TableStore, is_arrow_stream
from tokdfa.stores.indexed import MAGIC, open_datatrove, open_megatron, open_olmo
from tokdfa.stores.integer_types import dtype_of
from tokdfa.stores.mds import is_mds, is_mds_shard, open_mds, open_mds_shard, shard_name
from tokdfa.stores.raw import NPY, ZIP, is_llmc, open_bin, open_llmc, open_npy, size_of
from tokdfa.stores.store import Dtype, NoFieldsError, Store, UnrecordedTypeError, refused
from tokdfa.stores.text import JsonlStore, WrittenStore

__all__ = ["names_another_format", "open_store"]

_HEAD = 4096
_SUFFIXES = (".npy", ".bin", ".json", ".txt")
"""The suffixes of files of nothing but ids."""

_RECORDS = (".jsonl", ".ndjson", ".parquet", ".arrow", ".feather", ".mds", ".ds", ".npz", ".tar")
"""The suffixes of other stores."""

_PACKED = {".gz": "zcat", ".zst": "zstdcat", ".bz2": "bzcat", ".xz": "xzcat"}
_TENSORS = (".pt", ".pth", ".safetensors")
_NUMBERS = re.compile(r"\[?\s*\d+(?:[\s,]+\d+)*\s*\]?", re.ASCII)
_MOST_ENTRIES = 10_000
_NOT_NPY = {*_SUFFIXES, *_RECORDS, *_PACKED, *_TENSORS, ".zstd", ".br", ".snappy", ".idx", ".csv", ".tsv"} - {".npy"}


def open_store(path: str | Path, *, dtype: str | None = None, field: str | None = None) -> Store:
    """Open the store that a path names.

    Parameters
    ----------
    path : str or Path
        A file of any format that :mod:`tokdfa.stores` reads, the folder of a dataset, or the prefix of Megatron's
        files. The format is recognised by the content, raw integers by the files next to them.
    dtype : str, optional
        The integer type of raw integers, as numpy names it, where nothing records it.
    field : str, optional
        The field, column or array with the ids in files of records, with dots into objects; by default a usual name
        such as ``input_ids``, or the only one that may have ids.

    Returns
    -------
    Store
        Its `problems` are its inconsistencies.

    Raises
    ------
    TokenStreamError
        If no format is recognised, or a part without which nothing can be read is damaged.
    UnsupportedFeatureError
        If the package that reads the format is not installed.
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/ids.npy", np.array([64, 261], dtype=np.uint16))
    ...     store = tokdfa.open_store(f"{folder}/ids.npy")
    ...     store.format, store.n_ids, store.dtype.name
    ('.npy', 2, 'uint16')
    """
    if not isinstance(path, str | os.PathLike):
        raise wrong_argument(path, "a path", "tokdfa.open_store(path)")
    if not str(path):
        raise TokenStreamError("the path of the ids is empty", value=path)
    path = Path(path)
    given = None if dtype is None else dtype_of(dtype)
    if path.is_dir():
        return _folder(path, given, field)
    if not path.exists():
        if path.with_name(path.name + ".idx").is_file():
            return _of_raw(open_megatron(path.with_name(path.name + ".idx")), given, field)
        raise _refusal(path)
    suffix = path.suffix.lower()
    if suffix in (".txt", ".json"):
        return _of_raw(WrittenStore(path, suffix == ".json"), given, field)
    with open_named(path) as stream:
        head = stream.read(_HEAD)
    raw = _raw(path, suffix, head, given)
    if raw is not None:
        return _of_raw(raw, None, field)
    if is_mds_shard(path):
        return open_mds_shard(path, field, given)
    _check_no_dtype(path, given)
    if head.startswith((b"PAR1", b"ARROW1")) or is_arrow_stream(head):
        return TableStore(path, field)
    if head.startswith(ZIP):
        return NpzStore(path, field)
    return _records(path, head, field)


def open_shard(path: str | Path, *, dtype: str | None = None, field: str | None = None) -> Store:
    """Open one of several stores: the type is for raw integers that do not record it, the field for records.

    Errors are as in :func:`open_store`.
    """
    try:
        store = open_store(path, field=field)
    except NoFieldsError:
        return open_shard(path, dtype=dtype)
    except UnrecordedTypeError:
        if dtype is None:
            raise
        return open_store(path, dtype=dtype)
    return open_store(path, dtype=dtype, field=field) if store.is_guessed and dtype is not None else store


def _raw(path: Path, suffix: str, head: bytes, dtype: Dtype | None) -> Store | None:
    """Return the store of a file of raw integers; None if it is something else."""
    typed = open_megatron if head.startswith(MAGIC) else open_llmc if is_llmc(head) else None
    if typed is None and (head.startswith(NPY) or suffix == ".npy"):
        size_of(path)
        if not head.startswith((NPY, *ZIP)) and suffix == ".npy":
            return open_olmo(path, dtype)
        typed = open_npy
    if typed is not None:
        _check_no_dtype(path, dtype)
        return typed(path)
    if suffix == ".ds":
        return open_datatrove(path, dtype)
    if suffix != ".bin":
        return None
    if dtype is not None:
        return open_bin(path, dtype)
    if path.with_suffix(".idx").is_file():
        return open_megatron(path)
    index = path.with_name("index.json")
    if index.is_file() and folders.is_litdata(content := folders.read_index(index)):
        return folders.open_litdata_chunk(path, content)
    what = "a .bin file does not record the type of its integers"
    raise UnrecordedTypeError(what, where=str(path), hint="give --dtype, such as uint16")


def _records(path: Path, head: bytes, field: str | None) -> Store:
    """Return the store of a tar or of a file of JSON objects, which may be packed."""
    compression = compression_of(head)
    if compression:
        with refused("the file is cut short or damaged", damage, lambda: path), opened(path, compression) as stream:
            head = stream.read(_HEAD)
    if is_tar(head):
        return TarStore(path, compression, field)
    suffixes = {suffix.lower() for suffix in path.suffixes[-2:]}
    if suffixes & {".jsonl", ".ndjson"} or head.lstrip().startswith((b"{", b"[{")):
        return JsonlStore(path, compression, field)
    if suffixes & {*_RECORDS, ".tar"}:
        raise TokenStreamError(DAMAGED, value=path.suffix, where=str(path))
    raise _refusal(path)


def _folder(path: Path, dtype: Dtype | None, field: str | None) -> Store:
    index: Any = folders.read_index(path / "index.json") if (path / "index.json").is_file() else None
    if folders.is_litdata(index):
        return _of_raw(folders.open_litdata(path), dtype, field)
    if is_mds(index):
        return open_mds(path, field, dtype)
    if (path / folders.STATE).is_file() or (path / folders.SPLITS).is_file():
        _check_no_dtype(path, dtype)
        return folders.open_dataset(path, field)
    raise _refusal(path)


def _of_raw(store: Store, dtype: Dtype | None, field: str | None) -> Store:
    _check_no_dtype(store.path, dtype)
    if field is not None:
        raise NoFieldsError(store.path, field)
    return store


def _check_no_dtype(path: Path, dtype: Dtype | None) -> None:
    if dtype is not None:
        what = "the file records the type of its ids; a dtype can be given only for raw integers"
        raise TokenStreamError(what, value=dtype.name, where=str(path))


def names_another_format(path: Path) -> bool:
    """Return whether the name of a file promises another format than .npy."""
    return path.suffix.lower() in _NOT_NPY


def _refusal(path: Path) -> TokdfaError | OSError:
    """Return the error about a path from which no ids can be read, because of its kind or the end of its name."""
    if path.is_dir():
        return _refused_folder(path)
    if not path.exists():
        if _NUMBERS.fullmatch(str(path)):
            words = " ".join(re.findall(r"\d+", str(path), re.ASCII)[:8])
            hint = f"give - for standard input, such as: echo {words} | tokdfa validate TOK -"
            return TokenStreamError("ids are read from a file or standard input", value=str(path), hint=hint)
        return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    suffixes = [suffix.lower() for suffix in path.suffixes] or [""]
    last = suffixes[-1]
    inner = suffixes[-2] if last in _PACKED and len(suffixes) > 1 else last
    hint = f"use {', '.join(_SUFFIXES[:-1])} or {_SUFFIXES[-1]}, another store, or - for standard input"
    if last in _PACKED and inner in (".txt", ".json", ".bin"):
        dtype = " --dtype uint16" if inner == ".bin" else ""
        hint = f"unpack it: {_PACKED[last]} {path} | tokdfa validate TOK -{dtype}"
    elif last in _TENSORS:
        hint = "write the ids as one array of integers: numpy.save('ids.npy', array)"
    what = "no ids can be read from a file with this suffix"
    return TokenStreamError(what, value=path.suffix, where=str(path), hint=hint)


def _refused_folder(path: Path) -> TokenStreamError:
    with os.scandir(path) as entries:
        found = {Path(entry.name).suffix.lower() for entry in islice(entries, _MOST_ENTRIES) if entry.is_file()}
    known = sorted(found & {*_SUFFIXES, *_RECORDS})
    if not known:
        hint = f"no {', '.join(_SUFFIXES[:-1])} or {_SUFFIXES[-1]} file is in it"
    else:
        dtype = " --dtype uint16" if known == [".bin"] else ""
        hint = f"tokdfa validate TOK {path}{dtype} checks all files in it"
    return TokenStreamError("this is a folder, and ids are read from one file at a time", where=str(path), hint=hint)


_PACKED_ENDINGS = (".gz", ".zst", ".zstd", ".bz2", ".br", ".snappy")
_KNOWN = (".npy", ".npz", ".bin", ".ds", ".parquet", ".arrow", ".feather", ".jsonl", ".ndjson", ".mds", ".tar")
# Files that belong to a store, but have no ids.
_ENDS_OF_DESCRIPTIONS = (".idx", ".index", ".loss", ".metadata", ".csv.gz")
_DESCRIPTIONS = ("index.json", folders.STATE, folders.SPLITS, "dataset_info.json")
_MAY_BE_PACKED = (".jsonl", ".ndjson", ".mds", ".tar")


def find_stores(paths: Iterable[str | Path], dtype: str | None = None, field: str | None = None) -> list[Path]:
    """Return the files of ids under paths, each once, sorted; refused if a type or a field is for none of them.

    Paths are files, of any name; patterns with ``*``, ``?`` and ``**``; and folders, with all that is in them: the
    files that an index names if it is a dataset, whether they are there or not, and otherwise the files with the name
    endings of stores, except .txt and .json. There must be some under each path.
    """
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        part = sorted(_under(path))
        if not part:
            hint = f"their names end in {', '.join(_KNOWN[:-1])} or {_KNOWN[-1]}"
            raise TokenStreamError("no files of ids", where=str(path), hint=hint)
        found.update(dict.fromkeys(part))
    if dtype is not None and not any(_lacks_type(path, field) for path in found):
        _check_no_dtype(next(iter(found)), dtype_of(dtype))
    if field is not None and not any(map(_may_have_fields, found)):
        raise NoFieldsError(next(iter(found)), field)
    return [*found]


def _lacks_type(path: Path, field: str | None) -> bool:
    """Return whether a file has raw integers of no recorded type; perhaps if only others can read it."""
    try:
        return open_shard(path, field=field).is_guessed
    except (UnrecordedTypeError, OSError):
        return True
    except TokdfaError:
        return False


def _may_have_fields(path: Path) -> bool:
    """Return whether a file has records, as far as it can be read."""
    try:
        open_store(path, field="")
    except (NoFieldsError, UnrecordedTypeError):
        return False
    except (TokdfaError, OSError):
        return True
    return True


def _under(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from _in_folder(path)
    elif path.exists() or path.with_name(path.name + ".idx").exists():
        yield path
    elif set("*?[") & set(str(path)):
        for each in map(Path, glob(str(path), recursive=True)):
            if each.is_dir():
                yield from _in_folder(each)
            elif _is_known(each) or not (each.name in _DESCRIPTIONS or each.name.endswith(_ENDS_OF_DESCRIPTIONS)):
                yield each
    else:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


def _in_folder(folder: Path) -> Iterator[Path]:
    content: Any = None
    # An index may belong to something else; opening the files reports their faults.
    with suppress(TokdfaError, FileNotFoundError):
        content = folders.read_index(folder / "index.json")
    if folders.is_litdata(content):
        names = (each.get("filename") for each in content["chunks"] if isinstance(each, dict))
        yield from (folder / Path(str(name)).name for name in names)
        return
    if is_mds(content):
        yield from (folder / shard_name(folder, shard) for shard in content["shards"])
        return
    if (folder / folders.SPLITS).is_file() or (folder / folders.STATE).is_file():
        yield from folders.split_files(folder)
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
    packed = suffixes[-1] in _PACKED_ENDINGS and len(suffixes) > 1 and suffixes[-2] in _MAY_BE_PACKED
    return suffixes[-1] in _KNOWN or packed
