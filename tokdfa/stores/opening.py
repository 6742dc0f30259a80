"""Which store a file or a folder is, by its content and by the files beside it."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from tokdfa.arguments import wrong_argument
from tokdfa.errors import TokenStreamError
from tokdfa.stores.binary import dtype_of, size_of
from tokdfa.stores.columns import TableStore, is_arrow_stream
from tokdfa.stores.datasets import SPLITS, STATE, open_dataset
from tokdfa.stores.datatrove import open_datatrove
from tokdfa.stores.folder import read_index
from tokdfa.stores.jsonl import JsonlStore
from tokdfa.stores.litdata import is_litdata, open_litdata, open_litdata_chunk
from tokdfa.stores.llmc import is_llmc, open_llmc
from tokdfa.stores.mds import is_mds, is_mds_shard, open_mds, open_mds_shard
from tokdfa.stores.megatron import MAGIC, open_megatron
from tokdfa.stores.npz import ZIP, NpzStore
from tokdfa.stores.olmo import open_olmo
from tokdfa.stores.packed import compression_of, damage, opened
from tokdfa.stores.raw import open_bin, open_npy
from tokdfa.stores.refusal import RECORDS, refusal
from tokdfa.stores.store import Dtype, Store
from tokdfa.stores.tuning import DEFAULT, Tuning
from tokdfa.stores.webdataset import TarStore, is_tar
from tokdfa.stores.written import WrittenStore

__all__ = ["open_store"]

_HEAD = 4096
_NPY = b"\x93NUMPY"


def open_store(
    path: str | Path, *, dtype: str | None = None, field: str | None = None, tuning: Tuning = DEFAULT
) -> Store:
    """Open the store that a path names.

    Parameters
    ----------
    path : str or Path
        A file of any format that :mod:`tokdfa.stores` reads, the folder of a dataset, or the prefix of Megatron's
        files. The format is recognised by the content, raw integers by the files beside them.
    dtype : str, optional
        The integer type of raw integers, as numpy names it, where nothing records it.
    field : str, optional
        The field, column or array with the ids in files of records, with dots into objects; by default a usual name
        such as ``input_ids``, or the only one that may have ids.
    tuning : Tuning, optional
        How much is read at a time.

    Returns
    -------
    Store
        What is inconsistent in it is in its `problems`.

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
    if not isinstance(path, str | PathLike):
        raise wrong_argument(path, "a path", "tokdfa.open_store(path)")
    path = Path(path)
    given = None if dtype is None else dtype_of(dtype)
    if path.is_dir():
        return _folder(path, given, field, tuning)
    if not path.exists():
        if path.with_name(path.name + ".idx").is_file():
            return _of_raw(open_megatron(path.with_name(path.name + ".idx"), tuning=tuning), given, field)
        raise refusal(path)
    suffix = path.suffix.lower()
    if suffix in (".txt", ".json"):
        return _of_raw(WrittenStore(path, suffix == ".json", tuning=tuning), given, field)
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
    raw = _raw(path, suffix, head, given, tuning)
    if raw is not None:
        return _of_raw(raw, None, field)
    if is_mds_shard(path):
        return open_mds_shard(path, field, given, tuning=tuning)
    if given is not None:
        raise _no_dtype(path, given)
    if head.startswith((b"PAR1", b"ARROW1")) or is_arrow_stream(head):
        return TableStore(path, field, tuning=tuning)
    if head.startswith(ZIP):
        return NpzStore(path, field, tuning=tuning)
    return _records(path, head, field, tuning)


def _raw(path: Path, suffix: str, head: bytes, dtype: Dtype | None, tuning: Tuning) -> Store | None:
    """Return the store of a file of raw integers; None if it is something else."""
    if head.startswith(MAGIC):
        return open_megatron(path, tuning=tuning) if dtype is None else _refuse_dtype(path, dtype)
    if is_llmc(head):
        return open_llmc(path, tuning=tuning) if dtype is None else _refuse_dtype(path, dtype)
    if head.startswith(_NPY) or suffix == ".npy":
        size_of(path)
        if not head.startswith((_NPY, *ZIP)) and suffix == ".npy":
            return open_olmo(path, dtype, tuning=tuning)
        return open_npy(path, tuning=tuning) if dtype is None else _refuse_dtype(path, dtype)
    if suffix == ".ds":
        return open_datatrove(path, dtype, tuning=tuning)
    if suffix == ".bin":
        return _bin(path, dtype, tuning)
    return None


def _bin(path: Path, dtype: Dtype | None, tuning: Tuning) -> Store:
    """Return the store of a .bin file without a header of its own."""
    if dtype is not None:
        return open_bin(path, dtype, tuning=tuning)
    index, beside = path.with_suffix(".idx"), path.with_name("index.json")
    if index.is_file():
        return open_megatron(path, tuning=tuning)
    if beside.is_file() and is_litdata(content := read_index(beside)):
        return open_litdata_chunk(path, content, tuning=tuning)
    raise TokenStreamError(
        "a .bin file does not record the type of its integers", where=str(path), hint="give --dtype, such as uint16"
    )


def _records(path: Path, head: bytes, field: str | None, tuning: Tuning) -> Store:
    """Return the store of a tar or of a file of JSON objects, which may be packed."""
    compression = compression_of(head)
    if compression:
        try:
            with opened(path, compression) as stream:
                head = stream.read(_HEAD)
        except damage() as error:
            what = "the file is cut short or damaged"
            raise TokenStreamError(what, value=str(error), where=str(path)) from None
    if is_tar(head):
        return TarStore(path, compression, field, tuning=tuning)
    suffixes = {suffix.lower() for suffix in path.suffixes[-2:]}
    if suffixes & {".jsonl", ".ndjson"} or head.lstrip().startswith((b"{", b"[{")):
        return JsonlStore(path, compression, field, tuning=tuning)
    if suffixes & {*RECORDS, ".tar"}:
        what = "the file is damaged or cut short, or not what its name says"
        raise TokenStreamError(what, value=path.suffix, where=str(path))
    raise refusal(path)


def _folder(path: Path, dtype: Dtype | None, field: str | None, tuning: Tuning) -> Store:
    index: Any = read_index(path / "index.json") if (path / "index.json").is_file() else None
    if is_litdata(index):
        return _of_raw(open_litdata(path, tuning=tuning), dtype, field)
    if is_mds(index):
        return open_mds(path, field, dtype, tuning=tuning)
    if (path / STATE).is_file() or (path / SPLITS).is_file():
        if dtype is not None:
            raise _no_dtype(path, dtype)
        return open_dataset(path, field, tuning=tuning)
    raise refusal(path)


def _of_raw(store: Store, dtype: Dtype | None, field: str | None) -> Store:
    if dtype is not None:
        raise _no_dtype(store.path, dtype)
    if field is not None:
        raise TokenStreamError("a field can be given only for files of records", value=field, where=str(store.path))
    return store


def _refuse_dtype(path: Path, dtype: Dtype) -> Store:
    raise _no_dtype(path, dtype)


def _no_dtype(path: Path, dtype: Dtype) -> TokenStreamError:
    what = "the file records the type of its ids; a dtype can be given only for raw integers"
    return TokenStreamError(what, value=dtype.name, where=str(path))
