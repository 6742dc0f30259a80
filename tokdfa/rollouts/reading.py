"""Reading rollouts from files, record by record: JSONL, Parquet and Arrow, in memory that does not grow."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from tokdfa.errors import TokdfaError, TokenStreamError, UnsupportedFeatureError
from tokdfa.rollouts.records import Fields, rollouts_of
from tokdfa.rollouts.rollout import Rollout

__all__ = ["Source", "iter_rollouts"]

_BATCH = 1024
_SHOWN = 60


class Source(NamedTuple):
    """Where a rollout is: its file, the number of its line (from 1) or row (from 0), and its place in the record."""

    file: str
    unit: str
    number: int
    part: str = ""

    def __str__(self) -> str:
        place = f"{self.file}, {self.unit} {self.number}" if self.number >= 0 else self.file
        return f"{place}, {self.part}" if self.part else place


Item = tuple[Source, Rollout | TokdfaError]


def iter_rollouts(paths: Iterable[str | Path], fields: Fields) -> Iterator[Item]:
    """Yield the rollouts of files, each with where it is, and errors in place of what cannot be read.

    Parameters
    ----------
    paths : iterable of str or Path
        ``.jsonl`` (or ``.ndjson``), also with ``.gz`` or ``.zst`` after it: one object a line. ``.parquet``.
        ``.arrow`` and ``.feather``: an Arrow stream or file.
    fields : Fields
        The fields of the ids, the prompt and the mask.

    Yields
    ------
    pair of Source and Rollout or TokdfaError
        Lines that are not JSON, files that end too early, and fields that are missing, null or of another shape give an
        error that names them; reading goes on with the next record, or the next file if nothing follows.

    Raises
    ------
    OSError
        If a file cannot be opened.
    UnsupportedFeatureError
        If a name ends otherwise, or a package that reads the format is not installed.
    """
    return chain.from_iterable(_records_of(Path(path), fields) for path in [*paths])


def _records_of(path: Path, fields: Fields) -> Iterator[Item]:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes.pop() if suffixes and suffixes[-1] in (".gz", ".zst") else ""
    kind = suffixes[-1] if suffixes else ""
    if kind in (".jsonl", ".ndjson"):
        return _lines(path, packed, fields)
    if kind in (".parquet", ".arrow", ".feather") and not packed:
        return _rows(path, kind, fields)
    raise UnsupportedFeatureError(
        "rollouts are read from .jsonl, .jsonl.gz, .jsonl.zst, .parquet, .arrow and .feather files",
        value="".join(path.suffixes),
        where=str(path),
        hint=_hint(path),
    )


def _hint(path: Path) -> str | None:
    if path.is_dir():
        return f"this is a folder: give its files, such as {path}/*.jsonl"
    if path.suffix.lower() in (".npy", ".bin", ".txt", ".json"):
        return f"for one stream of ids: tokdfa validate TOK {path}"
    return None


def _items(source: Source, record: object, fields: Fields) -> Iterator[Item]:
    try:
        found = rollouts_of(record, fields)
    except TokdfaError as error:
        yield source, error
        return
    for part, rollout in found:
        yield source._replace(part=part), rollout


# JSONL


def _lines(path: Path, packed: str, fields: Fields) -> Iterator[Item]:
    number = 0
    with _opened(path, packed) as stream:
        try:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield from _items_of_line(Source(str(path), "line", number), line, fields)
        except (EOFError, zlib.error, gzip.BadGzipFile, _zstd_error()) as error:
            what = "the file is cut short or damaged"
            yield Source(str(path), "line", number + 1), TokenStreamError(what, value=str(error))


def _items_of_line(source: Source, line: bytes, fields: Fields) -> Iterator[Item]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        what = "the line is not JSON" if line.endswith(b"\n") else "the last line is not whole"
        shown = line[:_SHOWN].decode("utf-8", "backslashreplace")
        yield source, TokenStreamError(what, value=shown, hint=str(error))
        return
    yield from _items(source, record, fields)


@contextmanager
def _opened(path: Path, packed: str) -> Iterator[IO[bytes]]:
    if packed == ".gz":
        with gzip.open(path, "rb") as unpacked:
            yield unpacked  # type: ignore[misc]
        return
    with path.open("rb") as stream:
        if packed == ".zst":
            import io

            reader = _zstandard().ZstdDecompressor().stream_reader(stream, read_across_frames=True)
            yield io.BufferedReader(reader)
        else:
            yield stream


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        hint = "pip install 'tokdfa[zstd]'"
        raise UnsupportedFeatureError("the package zstandard is needed to read .zst files", hint=hint) from None
    return zstandard


def _zstd_error() -> type[Exception]:
    try:
        import zstandard
    except ImportError:
        return EOFError
    error: type[Exception] = zstandard.ZstdError
    return error


# Parquet and Arrow


def _rows(path: Path, kind: str, fields: Fields) -> Iterator[Item]:
    arrow = _pyarrow()
    number = -1
    try:
        for batch in _parquet(path, fields) if kind == ".parquet" else _arrow(path, fields):
            columns = {name: _values(batch.column(name)) for name in batch.schema.names}
            for at in range(batch.num_rows):
                number += 1
                record = {name: column[at] for name, column in columns.items()}
                yield from _items(Source(str(path), "row", number), record, fields)
    except TokenStreamError as error:
        yield Source(str(path), "row", -1), error
    except (arrow.ArrowInvalid, arrow.ArrowException, EOFError) as error:
        what = "the file is damaged or cut short, or not what its name says"
        yield Source(str(path), "row", number + 1), TokenStreamError(what, value=str(error))


def _parquet(path: Path, fields: Fields) -> Iterator[Any]:
    from pyarrow import parquet

    with path.open("rb") as stream:
        file = parquet.ParquetFile(stream)
        wanted = _wanted(file.schema_arrow.names, fields)
        yield from file.iter_batches(batch_size=_BATCH, columns=wanted)


def _arrow(path: Path, fields: Fields) -> Iterator[Any]:
    import pyarrow

    with path.open("rb") as stream:
        is_file = stream.read(6) == b"ARROW1"
        stream.seek(0)
        opened = pyarrow.ipc.open_file(stream) if is_file else pyarrow.ipc.open_stream(stream)
        wanted = _wanted(opened.schema.names, fields)
        batches = (opened.get_batch(at) for at in range(opened.num_record_batches)) if is_file else opened
        for batch in batches:
            yield batch.select(wanted)


def _wanted(names: list[str], fields: Fields) -> list[str]:
    """Return the columns that make a rollout and are there; masks need not be."""
    optional = {fields.mask.partition(".")[0]} if fields.mask is not None and not fields.needs_mask else set()
    if fields.each is not None and fields.prompt is not None:
        optional.add(fields.prompt.partition(".")[0])
    missing = [name for name in fields.columns if name not in names and name not in optional]
    if missing:
        raise TokenStreamError(
            "the column is missing", where=f"field {missing[0]}", hint=f"there are {', '.join(names)}"
        )
    return [name for name in fields.columns if name in names]


def _values(column: Any) -> Any:
    """Return the values of a column: slices of one array where they are lists of integers without nulls."""
    import pyarrow

    types = pyarrow.types
    kind = column.type
    is_list = types.is_list(kind) or types.is_large_list(kind)
    if not is_list or not types.is_integer(kind.value_type) or column.values.null_count:
        return column.to_pylist()
    return _Lists(column)


class _Lists:
    """A column of lists of integers."""

    def __init__(self, column: Any) -> None:
        self._values = column.values.to_numpy(zero_copy_only=False)
        self._offsets = np.asarray(column.offsets).tolist()
        self._is_null = np.asarray(column.is_null()) if column.null_count else None

    def __getitem__(self, at: int) -> Any:
        if self._is_null is not None and self._is_null[at]:
            return None
        return self._values[self._offsets[at] : self._offsets[at + 1]]


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        hint = "pip install 'tokdfa[arrow]'"
        raise UnsupportedFeatureError("the package pyarrow is needed to read Parquet and Arrow", hint=hint) from None
    return pyarrow
