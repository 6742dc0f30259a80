"""Reading rollouts from files, record by record: JSONL, Parquet and Arrow, in memory that does not grow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tokdfa.base.errors import TokdfaError, TokenStreamError, UnsupportedFeatureError
from tokdfa.jobs.rollouts.frameworks import Fields
from tokdfa.jobs.rollouts.records import rollouts_of
from tokdfa.jobs.rollouts.rollout import Rollout
from tokdfa.stores.columns import iter_batches, lists_of, pyarrow_errors
from tokdfa.stores.jsonl import iter_json_lines

_PACKED = {"": "", ".gz": "gz", ".zst": "zstd"}


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
    """Yield the rollouts of files, each with where it is, and errors in place of unreadable ones.

    Files are ``.jsonl`` (or ``.ndjson``), also with ``.gz`` or ``.zst`` after it, one object a line; ``.parquet``; and
    ``.arrow`` and ``.feather``, an Arrow stream or file. Lines that are not JSON, files that end too early, and fields
    that are missing, null or of another shape give an error that names them; reading continues with the next record, or
    with the next file after the last one. A file without rollouts gives an error, too.
    """
    return chain.from_iterable(_some(Path(path), fields) for path in [*paths])


def _some(path: Path, fields: Fields) -> Iterator[Item]:
    """Yield the rollouts of a file, or an error if there are none."""
    is_empty = True
    for item in _records_of(path, fields):
        is_empty = False
        yield item
    if is_empty:
        yield Source(str(path), "", -1), TokenStreamError("no rollouts: the file has no records")


def _records_of(path: Path, fields: Fields) -> Iterator[Item]:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes.pop() if suffixes and suffixes[-1] in (".gz", ".zst") else ""
    kind = suffixes[-1] if suffixes else ""
    if kind in (".jsonl", ".ndjson"):
        return _lines(path, _PACKED[packed], fields)
    if kind in (".parquet", ".arrow", ".feather") and not packed:
        return _rows(path, fields)
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


def _lines(path: Path, compression: str, fields: Fields) -> Iterator[Item]:
    for number, record in iter_json_lines(path, compression):
        source = Source(str(path), "line", number)
        if isinstance(record, TokenStreamError):
            yield source, record
        else:
            yield from _items(source, record, fields)


def _rows(path: Path, fields: Fields) -> Iterator[Item]:
    number = -1
    damage = pyarrow_errors()
    # Its error names the file.
    with path.open("rb"):
        pass
    try:
        for _, batch in iter_batches(path, partial(_wanted, fields=fields)):
            columns = {name: _values(batch.column(name)) for name in batch.schema.names}
            for at in range(batch.num_rows):
                number += 1
                record = {name: column[at] for name, column in columns.items()}
                yield from _items(Source(str(path), "row", number), record, fields)
    except TokenStreamError as error:
        yield Source(str(path), "row", -1), error
    except damage as error:
        what = "the file is damaged or cut short, or not what its name says"
        yield Source(str(path), "row", number + 1), TokenStreamError(what, value=str(error))


def _wanted(names: Sequence[str], fields: Fields) -> list[str]:
    """Return the columns that make a rollout and are there; masks need not be."""
    optional = {fields.mask.partition(".")[0]} if fields.mask is not None and not fields.needs_mask else set()
    if fields.each is not None and fields.prompt is not None:
        optional.add(fields.prompt.partition(".")[0])
    missing = [name for name in fields.columns if name not in names and name not in optional]
    if missing:
        hint = f"there are {', '.join(names)}"
        raise TokenStreamError("the column is missing", where=f"field {missing[0]}", hint=hint)
    fields.check_unused(names)
    return [name for name in fields.columns if name in names]


def _values(column: Any) -> Any:
    """Return the values of a column: slices of one array where they are lists of integers without nulls."""
    found = lists_of(column)
    return column.to_pylist() if found is None else _Lists(column, *found)


class _Lists:
    """A column of lists of integers."""

    def __init__(self, column: Any, values: np.ndarray, offsets: np.ndarray) -> None:
        self._values = values
        self._offsets = offsets.tolist()
        self._is_null = np.asarray(column.is_null()) if column.null_count else None

    def __getitem__(self, at: int) -> Any:
        if self._is_null is not None and self._is_null[at]:
            return None
        return self._values[self._offsets[at] : self._offsets[at + 1]]
