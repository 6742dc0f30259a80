"""MosaicML's streaming datasets: a folder of MDS shards, described by ``index.json``; each sample is a document.

Notes
-----
As mosaicml-streaming's ``MDSWriter`` writes them. A shard has n, the number of samples, as u32; n + 1 offsets from its
beginning, as u32; its description as JSON; and the samples. A sample has the size of each column that has no fixed one,
as u32, and then the columns, in the order of their names. Columns with ids are encoded as ``ndarray:TYPE`` (a byte with
the number of dimensions and the size of their lengths, the lengths, the values), ``ndarray:TYPE:SHAPE`` (values only),
``ndarray`` (a byte for the type before that), or ``bytes``. Their type is not recorded: unless it is given, it is
int64, as LLM Foundry takes it, and values that no id has are refused.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np

from tokdfa.base.arrays import Int64Array, IntegerArray
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError
from tokdfa.base.files import open_named
from tokdfa.stores.archives import unpacked
from tokdfa.stores.folder import FolderStore, is_there, read_index
from tokdfa.stores.store import Document, DocumentStore, Dtype, Problem, Store, ids_field, signed

SUFFIXES = {".br": "br", ".bz2": "bz2", ".gz": "gz", ".snappy": "snappy", ".zstd": "zstd"}
TYPES = {8: "u1", 9: "i1", 16: "<u2", 17: "<i2", 32: "<u4", 33: "<i4", 64: "<u8", 65: "<i8"}
_OF_CODES = {**TYPES, 18: "<f2", 34: "<f4", 66: "<f8"}
_NAMES = {np.dtype(code).name for code in TYPES.values()}
_VERSION = 2
_LARGEST = 1 << 31
_MOST = 1 << 32
"""Offsets have 32 bits, so no shard is larger."""

_Described: TypeAlias = Mapping[str, Any]


class Column(NamedTuple):
    """How a column with ids is encoded: its dtype, if that is the same everywhere, and its length, if it is fixed."""

    at: int
    encoding: str
    dtype: Dtype | None
    length: int | None


def is_mds(index: object) -> bool:
    """Return whether the content of an index.json is from a streaming dataset."""
    return isinstance(index, Mapping) and isinstance(index.get("shards"), list)


def is_mds_shard(path: Path) -> bool:
    """Return whether a file is an MDS shard: a description follows its offsets, and then its samples."""
    if ".mds" in path.suffixes:
        return True
    with open_named(path) as stream:
        _, size = _header(stream)
        return size > 0 and stream.read(1) == b"{"


def open_mds(folder: Path, field: str | None = None, dtype: Dtype | None = None) -> FolderStore:
    """Open a folder."""
    path = folder / "index.json"
    members: list[Store] = []
    problems: list[Problem] = []
    for number, shard in enumerate(read_index(path)["shards"]):
        name = shard_name(folder, shard)
        if is_there(folder / name):
            members.append(MdsStore(folder / name, field, dtype, shard))
        else:
            problems.append(Problem(f"{path}, shard {number}", f"there is no file {name}"))
    return FolderStore(folder, "MDS", members, problems)


def open_mds_shard(path: Path, field: str | None = None, dtype: Dtype | None = None) -> MdsStore:
    """Open one shard, by the index next to it or by its own header; errors are as for the folder."""
    index = path.with_name("index.json")
    content = read_index(index) if index.is_file() else None
    shards = content["shards"] if isinstance(content, Mapping) and is_mds(content) else []
    named = (shard for shard in shards if path.name in map(name_of_file, files_of_shard(shard)))
    return MdsStore(path, field, dtype, next(named, None))


def shard_name(folder: Path, shard: object) -> str:
    """Return the name of the file of a shard: the packed one only if the other is not there."""
    where = str(folder / "index.json")
    if not isinstance(shard, Mapping) or shard.get("format") != "mds":
        kind = shard.get("format") if isinstance(shard, Mapping) else shard
        raise UnsupportedFeatureError("a shard that is not MDS", value=kind, where=where)
    if shard.get("version", _VERSION) != _VERSION:
        raise UnsupportedFeatureError("not a known version of MDS", value=shard["version"], where=where)
    # Merged indices name files in folders of the dataset.
    paths = [PurePosixPath(str(each.get("basename"))) for each in files_of_shard(shard)]
    names = [path.name if path.is_absolute() or ".." in path.parts else str(path) for path in paths]
    there = [name for name in names if is_there(folder / name)]
    return [*there, *names, "without a name"][0]


def files_of_shard(shard: Any) -> list[Mapping[str, Any]]:
    """Return the entries of the files of a shard in index.json."""
    both = (shard.get("raw_data"), shard.get("zip_data")) if isinstance(shard, Mapping) else ()
    return [each for each in both if isinstance(each, Mapping)]


def name_of_file(file: Mapping[str, Any]) -> str:
    """Return the name of a file, given its entry."""
    return PurePosixPath(str(file.get("basename"))).name


class MdsStore(DocumentStore):
    """An MDS shard, which is unpacked in memory if it is compressed.

    The column is by default one with a usual name, or the only one of integers; `dtype` is for a column of ``bytes``,
    and `description` is the entry of the shard in index.json; by default the header of the shard is used.
    """

    def __init__(self, path: Path, field: str | None, dtype: Dtype | None, description: _Described | None) -> None:
        self.compression = SUFFIXES.get(path.suffix.lower(), "")
        self.level: int | None = None
        problems: list[Problem] = []
        size = path.stat().st_size
        if description is not None:
            samples = description.get("samples")
            sizes_said = [each.get("bytes") for each in files_of_shard(description) if name_of_file(each) == path.name]
            if sizes_said and sizes_said[0] not in (None, size):
                problems.append(Problem(str(path), f"it has {size} bytes, and {sizes_said[0]} by index.json"))
        else:
            with io.BytesIO(self.data_of(path)) if self.compression else open_named(path) as stream:
                description, samples = _described(stream, str(path))
        self.names, self.encodings, self.sizes = names, encodings, sizes = _columns(description, path)
        _, _, level = str(description.get("compression")).partition(":")
        self.level = int(level) if level.isdecimal() else None
        fitting = [name for name, encoding in zip(names, encodings, strict=True) if _is_integers(encoding)]
        name = ids_field(names, field, str(path), fitting)
        if name not in names:
            raise TokenStreamError("the field is missing", value=name, where=str(path))
        at = names.index(name)
        self.column = _column(at, encodings[at], sizes[at], dtype, str(path))
        self._samples = samples if isinstance(samples, int) else None
        if not self.compression and self._samples is not None and 4 * (self._samples + 2) > size:
            problems.append(Problem(str(path), f"the file is cut short: {size} bytes for {self._samples} samples"))
        super().__init__(
            path,
            "MDS" + (f" ({self.compression})" if self.compression else ""),
            dtype=self.column.dtype,
            n_documents=self._samples,
            has_documents=True,
            unit="sample",
            problems=problems,
            is_guessed=self.column.encoding == "bytes" and dtype is None,
        )

    def _documents(self) -> Iterator[Document]:
        data = self.data_of(self.path)
        n, offsets = offsets_of_samples(data, str(self.path))
        if self._samples is not None and n != self._samples:
            what = f"it has {n} samples, and {self._samples} by index.json"
            raise TokenStreamError(what, where=str(self.path))
        for number, (begin, end) in enumerate(pairwise(offsets.tolist())):
            yield number, self.ids_of_sample(data[begin:end], f"{self.path}, sample {number}"), None

    def columns_of(self, sample: memoryview, where: str) -> list[tuple[int, int]]:
        """Return the offset of each column in a sample, and its size."""
        n_sizes = sum(size is None for size in self.sizes)
        begin = 4 * n_sizes
        lengths = iter(np.frombuffer(sample[:begin], dtype="<u4").tolist() if len(sample) >= begin else [])
        found = []
        for fixed in self.sizes:
            size = next(lengths, len(sample)) if fixed is None else fixed
            found.append((begin, size))
            begin += size
        if begin > len(sample):
            raise TokenStreamError("the sample is cut short", value=f"{len(sample)} bytes", where=where)
        return found

    def data_of(self, path: Path) -> memoryview:
        """Return the content of the shard, unpacked."""
        with open_named(path) as stream:
            data = stream.read(_MOST)
        return memoryview(unpacked(data, self.compression, str(path), _MOST) if self.compression else data)

    def ids_of_sample(self, sample: memoryview, where: str) -> IntegerArray:
        """Return the ids of a sample."""
        column = self.column
        begin, size = self.columns_of(sample, where)[column.at]
        values = sample[begin : begin + size]
        dtype = column.dtype
        n = column.length
        if n is None and column.encoding != "bytes":
            if column.encoding == "ndarray":
                code = values[0] if size else -1
                if code not in TYPES:
                    raise TokenStreamError("ids must be integers", value=f"code {code}", where=where)
                dtype, values = np.dtype(TYPES[code]), values[1:]
            n, values = _shaped(values, where)
        assert dtype is not None
        hint = "give --dtype, such as uint16: a column of bytes does not record the type" if self.is_guessed else None
        if len(values) % dtype.itemsize or n not in (None, len(values) // dtype.itemsize):
            what = f"the array is not whole: {len(values)} bytes of {dtype.name}"
            raise TokenStreamError(what, where=where, hint=hint)
        ids: IntegerArray = np.frombuffer(values, dtype=dtype)
        if self.is_guessed and ((ids < 0) | (ids >= _LARGEST)).any():
            raise TokenStreamError(f"the bytes are not ids of {dtype.name}", where=where, hint=hint)
        return signed(ids, where)


def _columns(description: _Described, path: Path) -> tuple[list[str], list[str], list[int | None]]:
    """Return the names, the encodings and the sizes of the columns."""
    names, encodings, sizes = (description.get(f"column_{what}") for what in ("names", "encodings", "sizes"))
    if (
        not (isinstance(names, list) and isinstance(encodings, list) and isinstance(sizes, list))
        or not len(names) == len(encodings) == len(sizes)
        or not all(isinstance(text, str) for text in (*names, *encodings))
        or not all(size is None or (type(size) is int and 0 <= size < _MOST) for size in sizes)
    ):
        raise TokenStreamError("the description of its columns is not whole", where=str(path))
    return names, encodings, sizes


def _shaped(values: memoryview, where: str) -> tuple[int, memoryview]:
    """Return the number of values of an array with its shape before them, and their bytes."""
    head = values[0] if len(values) else 0
    n_dimensions, size = head >> 2, 1 << (head & 3)
    begin = 1 + n_dimensions * size
    if n_dimensions != 1 or len(values) < begin:
        raise TokenStreamError("ids must be in one dimension", value=n_dimensions, where=where)
    return int.from_bytes(values[1:begin], "little"), values[begin:]


def array_of(encoding: str, values: memoryview, where: str) -> np.ndarray | None:
    """Return an array of numbers in one dimension; None if it has another number of them."""
    _, _, rest = encoding.partition(":")
    name, _, shape = rest.partition(":")
    if not name:
        name, values = _OF_CODES.get(values[0] if len(values) else -1, ""), values[1:]
    if "," in shape or not name or (not shape and (values[0] >> 2 if len(values) else 0) != 1):
        return None
    if not shape:
        _, values = _shaped(values, where)
    return np.frombuffer(values, dtype=np.dtype(name).newbyteorder("<"))


def encoded_array(encoding: str, values: np.ndarray, old: memoryview) -> bytes:
    """Return an array as a column has it, in one dimension, given the old one."""
    if encoding == "bytes":
        return values.tobytes()
    _, _, rest = encoding.partition(":")
    # The size of the length is the smallest that is enough.
    code = next(code for code in range(4) if len(values) < 1 << (8 << code))
    length = b"" if ":" in rest else bytes([1 << 2 | code]) + len(values).to_bytes(1 << code, "little")
    return (b"" if rest else bytes(old[:1])) + length + values.tobytes()


def _is_integers(encoding: str) -> bool:
    kind, _, rest = encoding.partition(":")
    return kind == "ndarray" and (not rest or rest.partition(":")[0] in _NAMES)


def _column(at: int, encoding: str, size: int | None, dtype: Dtype | None, where: str) -> Column:
    if encoding == "bytes":
        return Column(at, encoding, np.dtype("<i8") if dtype is None else dtype, None)
    if not _is_integers(encoding):
        hint = "ids are in columns of ndarray or bytes"
        raise UnsupportedFeatureError("a column that does not have ids", value=encoding, where=where, hint=hint)
    if dtype is not None:
        what = "the column records the type of its ids; a dtype can be given only for a column of bytes"
        raise TokenStreamError(what, value=dtype.name, where=where)
    _, _, rest = encoding.partition(":")
    name, _, shape = rest.partition(":")
    if not name:
        return Column(at, "ndarray", None, None)
    own: Dtype = np.dtype(name).newbyteorder("<")
    if not shape:
        return Column(at, encoding, own, None)
    if not shape.isdecimal():
        raise TokenStreamError("ids must be in one dimension", value=encoding, where=where)
    return Column(at, encoding, own, int(shape))


def offsets_of_samples(data: memoryview, where: str) -> tuple[int, Int64Array]:
    """Return the number of samples of a shard, and where each begins and the last one ends."""
    n = int.from_bytes(data[:4], "little")
    if len(data) < 4 * (n + 2):
        raise TokenStreamError("the shard is cut short", value=f"{len(data)} bytes for {n} samples", where=where)
    offsets = np.frombuffer(data[4 : 4 * (n + 2)], dtype="<u4").astype(np.int64)
    wrong = np.flatnonzero((np.diff(offsets, prepend=4 * (n + 2)) < 0) | (offsets > len(data)))
    if len(wrong):
        at = int(wrong[0])
        what = f"sample {at} begins at byte {offsets[at]}, and the shard has {len(data)}"
        raise TokenStreamError(what, where=f"{where}, sample {at}")
    if offsets[-1] != len(data):
        what = f"the last sample ends at byte {offsets[-1]}, and the shard has {len(data)}"
        raise TokenStreamError(what, where=where)
    return n, offsets


def _header(stream: IO[bytes]) -> tuple[int, int]:
    """Return the number of samples and the size of the description, and leave the stream where this begins."""
    head = stream.read(8)
    n, begin = int.from_bytes(head[:4], "little"), int.from_bytes(head[4:8], "little")
    return n, begin - stream.seek(4 * (n + 2))


def _described(stream: IO[bytes], where: str) -> tuple[_Described, int]:
    """Return the description of a shard, and the number of its samples."""
    n, size = _header(stream)
    try:
        described = json.loads(stream.read(max(size, 0)))
    except (ValueError, RecursionError):
        described = None
    if not isinstance(described, Mapping):
        raise TokenStreamError("the shard does not describe its columns", where=where)
    return described, n
