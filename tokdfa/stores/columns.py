"""Parquet and Arrow: ids in a column, read by batches of rows without copying the values.

Each row of a column of lists is a document. A column of integers is one stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tokdfa.base.arrays import BoolArray, Int64Array
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError
from tokdfa.stores.store import CHUNK, MASK, Chunk, Store, ids_field, refused

_BATCH = 1024
_BUFFER = 1 << 20
# A batch should have about as many ids as a chunk, of four bytes.
_BYTES = 4 * CHUNK
DAMAGED = "the file is damaged or cut short, or not what its name says"
Choose = Callable[[Sequence[str]], Sequence[str]]


def is_arrow_stream(head: bytes) -> bool:
    """Return whether a file with these first bytes is an Arrow stream: a schema is its first message."""
    length = int.from_bytes(head[4:8], "little")
    return head[:4] == b"\xff\xff\xff\xff" and 0 < length < 1 << 28 and length % 8 == 0


def iter_batches(path: Path, choose: Choose, begin: int = 0, end: int | None = None) -> Iterator[tuple[int, Any]]:
    """Yield the batches of rows of a Parquet file, an Arrow file or an Arrow stream, with the number of each first row.

    `choose` returns the columns to read, given the names of all; `begin` and `end` are groups of rows of Parquet. A
    damaged file raises one of :func:`pyarrow_errors`.
    """
    with source_of(path) as source:
        head = source.read(8)
        source.seek(0)
        if head.startswith(b"PAR1"):
            yield from _parquet(source, choose, begin, end)
        else:
            yield from _arrow(source, head.startswith(b"ARROW1"), choose)


@contextmanager
def source_of(path: Path) -> Iterator[Any]:
    """Open a file as pyarrow reads it."""
    arrow = pyarrow_of()
    with path.open("rb"):  # Its error names the file.
        pass
    with arrow.OSFile(str(path), "rb") as source:
        yield source


def _parquet(source: Any, choose: Choose, begin: int, end: int | None) -> Iterator[tuple[int, Any]]:
    from pyarrow import parquet

    # By default much of the file is read ahead, or else a column of a whole group of rows.
    file = parquet.ParquetFile(source, pre_buffer=False, buffer_size=_BUFFER)
    meta = file.metadata
    wanted = [*choose(file.schema_arrow.names)]
    groups = range(begin, meta.num_row_groups if end is None else min(end, meta.num_row_groups))
    row = sum(meta.row_group(at).num_rows for at in range(begin))
    # Metadata of columns, which has the number of values, ends the process if it is damaged.
    sizes = (meta.row_group(at).total_byte_size / max(meta.row_group(at).num_rows, 1) for at in groups)
    bytes_a_row = max(sizes, default=0)
    size = int(max(1, min(_BATCH, _BYTES / max(bytes_a_row, 1))))
    for batch in file.iter_batches(batch_size=size, row_groups=[*groups], columns=wanted, use_threads=False):
        yield row, batch
        row += batch.num_rows


def _arrow(source: Any, is_file: bool, choose: Choose) -> Iterator[tuple[int, Any]]:
    arrow = pyarrow_of()
    opened = arrow.ipc.open_file(source) if is_file else arrow.ipc.open_stream(source)
    names = opened.schema.names
    wanted = [*dict.fromkeys(name if name in names else name.partition(".")[0] for name in choose(names))]
    row = 0
    for whole in map(opened.get_batch, range(opened.num_record_batches)) if is_file else opened:
        batch = whole.select(wanted)
        # Nothing is checked when a batch is read, and values are looked up where offsets say.
        batch.validate()
        yield row, batch
        row += batch.num_rows


def lists_of(column: Any) -> tuple[np.ndarray, Int64Array] | None:
    """Return the values of a column of lists of integers, and the positions in them where its rows begin and end.

    Values are not copied. None if it is another column, or one with nulls in its lists; a damaged one, in which a row
    ends before it begins or outside of the values, raises pyarrow.ArrowInvalid.
    """
    types = pyarrow_of().types
    kind = column.type
    if types.is_fixed_size_list(kind) and types.is_integer(kind.value_type):
        values = column.flatten() if not column.null_count else column.values
        if values.null_count or column.null_count:
            return None
        return values.to_numpy(zero_copy_only=False), np.arange(len(column) + 1, dtype=np.int64) * kind.list_size
    is_list = types.is_list(kind) or types.is_large_list(kind)
    if not is_list or not types.is_integer(kind.value_type) or column.values.null_count:
        return None
    offsets = np.asarray(column.offsets).astype(np.int64)
    if (np.diff(offsets) < 0).any() or (len(offsets) and not 0 <= offsets[0] <= offsets[-1] <= len(column.values)):
        raise pyarrow_of().ArrowInvalid("a row ends before it begins, or outside of the values")
    return column.values.to_numpy(zero_copy_only=False), offsets


def documents_of(column: Any, row: int, name: str) -> Chunk:
    """Return the ids of a column of lists, each a document; `row` is the number of the first, `name` for messages."""
    _check_no_null(column, row, name)
    found = lists_of(column)
    if found is None:
        raise TokenStreamError("one of the ids is null", where=f"{name}, rows {row} to {row + len(column)}")
    values, offsets = found
    numbers = np.arange(row, row + len(column), dtype=np.int64)
    return Chunk(values[offsets[0] : offsets[-1]], offsets[:-1] - offsets[0], numbers)


def _check_no_null(column: Any, row: int, name: str) -> None:
    if column.null_count:
        null = row + int(np.argmax(np.asarray(column.is_null())))
        raise TokenStreamError("the ids are null", where=f"{name}, row {null}")


def pyarrow_errors() -> tuple[type[Exception], ...]:
    """Return the errors that pyarrow raises for damaged files; an OSError of its own names no file."""
    arrow = pyarrow_of()
    return (arrow.ArrowInvalid, arrow.ArrowException, EOFError, OSError, UnicodeDecodeError)


class TableStore(Store):
    """A Parquet or Arrow file with ids in a column: one with a usual name, or the only one of lists of integers."""

    def __init__(self, path: Path, field: str | None = None) -> None:
        with source_of(path) as source:
            head = source.read(8)
            source.seek(0)
            with refused(DAMAGED, pyarrow_errors, lambda: f"{path}, row 0"):
                format, schema, rows, steps = _facts(source, head)
                names = schema.names
        self.schema = schema
        types = pyarrow_of().types
        fitting = [each.name for each in schema if _lists_integers(each.type, types)]
        self.field = ids_field(names, field, str(path), fitting)
        _check_unique(names, self.field, path)
        kind = _type_of(schema, self.field, str(path))
        is_stream = types.is_integer(kind)
        if not is_stream and not _lists_integers(kind, types):
            raise TokenStreamError("the column must have integers or lists of them", value=str(kind), where=str(path))
        self._mask = None if is_stream or MASK not in names else MASK
        if self._mask is not None:
            _check_unique(names, self._mask, path)
            kind_of_mask = _type_of(schema, self._mask, str(path))
            if not _lists_integers(kind_of_mask, types, or_flags=True):
                what = "the mask must have lists of integers or booleans"
                raise TokenStreamError(what, value=str(kind_of_mask), where=str(path))
        super().__init__(
            path,
            format,
            dtype=np.dtype(str(kind if is_stream else kind.value_type)),
            n_ids=rows if is_stream else None,
            n_documents=None if is_stream else rows,
            has_documents=not is_stream,
            has_mask=self._mask is not None,
            n_steps=steps,
            unit="row",
        )

    def iter_chunks(self, begin: int = 0, end: int | None = None, *, size: int | None = None) -> Iterator[Chunk]:
        """Yield the ids of groups of rows; see :meth:`Store.iter_chunks`."""
        if (begin, end) == (0, 0) or begin >= self.n_steps:
            return
        row = 0
        names = [self.field] if self._mask is None else [self.field, self._mask]
        with refused(DAMAGED, pyarrow_errors, lambda: f"{self.path}, row {row}"):
            for row, batch in iter_batches(self.path, lambda _: names, begin, end):
                yield from self._chunks(row, batch, size or CHUNK)
                row += batch.num_rows

    def _chunks(self, row: int, batch: Any, size: int) -> Iterator[Chunk]:
        column = _inner(batch, self.field)
        if not self.has_documents:
            _check_no_null(column, row, str(self.path))
            yield Chunk(column.to_numpy(zero_copy_only=False))
            return
        ids, starts, numbers, _ = documents_of(column, row, str(self.path))
        assert starts is not None
        assert numbers is not None
        mask = None if self._mask is None else self._flags(batch.column(self._mask), np.append(starts, len(ids)), row)
        # Batches of Arrow files may be large: the ids of a chunk should stay in the cache.
        whole = Chunk(ids, starts, numbers, mask)
        yield from (whole.part(first, min(first + size, len(ids))) for first in range(0, max(len(ids), 1), size))

    def _flags(self, column: Any, offsets: Int64Array, row: int) -> BoolArray:
        types = pyarrow_of().types
        what, where = "the mask must have a 0 or 1 for each id", f"{self.path}, rows {row} to {row + len(column)}"
        if types.is_boolean(getattr(column.type, "value_type", None)):
            column = column.cast(pyarrow_of().list_(pyarrow_of().int8()))
        found = lists_of(column)
        if found is None or not np.array_equal(np.diff(found[1]), np.diff(offsets)):
            raise TokenStreamError(what, where=where)
        values, own = found
        values = values[own[0] : own[-1]]
        flags: BoolArray = values != 0
        if (flags & (values != 1)).any():
            raise TokenStreamError(what, where=where)
        return flags


def _facts(source: Any, head: bytes) -> tuple[str, Any, int | None, int]:
    """Return the format of a file, its schema, and the numbers of its rows, if known, and steps."""
    arrow = pyarrow_of()
    if head.startswith(b"PAR1"):
        from pyarrow import parquet

        file = parquet.ParquetFile(source)
        return "Parquet", file.schema_arrow, file.metadata.num_rows, max(file.metadata.num_row_groups, 1)
    if head.startswith(b"ARROW1"):
        opened = arrow.ipc.open_file(source)
        return "Arrow file", opened.schema, None, 1
    return "Arrow stream", arrow.ipc.open_stream(source).schema, None, 1


def _lists_integers(kind: Any, types: Any, *, or_flags: bool = False) -> bool:
    """Return whether values of a type are lists of integers, or of truth values."""
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(is_list and (types.is_integer(kind.value_type) or (or_flags and types.is_boolean(kind.value_type))))


def _check_unique(names: Sequence[str], field: str, path: Path) -> None:
    """Refuse a field if several columns have its name."""
    name = field if field in names else field.partition(".")[0]
    if names.count(name) > 1:
        raise TokenStreamError("several columns have this name", value=name, where=str(path))


def _type_of(schema: Any, field: str, where: str) -> Any:
    if field in schema.names:
        return schema.field(field).type
    name, *inner = field.split(".")
    kind = schema.field(name).type
    for each in inner:
        at = kind.get_field_index(each) if hasattr(kind, "get_field_index") else -1
        if at < 0:
            raise TokenStreamError("the field is missing", value=field, where=where)
        kind = kind.field(at).type
    return kind


def _inner(batch: Any, field: str) -> Any:
    if field in batch.schema.names:
        return batch.column(field)
    name, *inner = field.split(".")
    column = batch.column(name)
    for each in inner:
        column = pyarrow_of().compute.struct_field(column, each) if column.null_count else column.field(each)
    return column


def pyarrow_of() -> Any:
    """Return the package, which is imported only where it is used."""
    try:
        import pyarrow
    except ImportError:
        hint = "pip install 'tokdfa[arrow]'"
        raise UnsupportedFeatureError("the package pyarrow is needed to read Parquet and Arrow", hint=hint) from None
    return pyarrow
