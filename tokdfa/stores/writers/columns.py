"""Writing Parquet and Arrow files, with their schema, metadata, groups of rows or batches, and compression."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import Int64Array
from tokdfa.base.atomic import Data
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError
from tokdfa.stores.columns import DAMAGED, TableStore, documents_of, pyarrow_errors, pyarrow_of, source_of
from tokdfa.stores.store import refused
from tokdfa.stores.writers.edit import BATCH, Edit, Edited, as_type, new_values

_LARGEST_GROUP = 1 << 29
"""Bytes of a group of rows in memory; larger ones are split."""

_HEAD = 1 << 20
_CODECS = {b"\x04\x22\x4d\x18": "lz4", b"\x28\xb5\x2f\xfd": "zstd"}
_VERSIONS = ("1.0", "2.4", "2.6")
_FREE = ("DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT")


def check_can_write(store: TableStore) -> None:
    """Refuse columns in which lists of other lengths have no place."""
    where = f"{store.path}, column {store.field}"
    if not store.has_documents:
        raise UnsupportedFeatureError("a column of integers, which has no documents", where=where)
    if store.field not in store.schema.names:
        raise UnsupportedFeatureError("ids in a column within another one", where=where)
    kind = store.schema.field(store.field).type
    if pyarrow_of().types.is_fixed_size_list(kind):
        what = "lists of a fixed length: new ids may be more or fewer"
        raise UnsupportedFeatureError(what, value=str(kind), where=where)


def contents(store: TableStore, edit: Edit, folder: Path) -> dict[str | Path, Data]:
    """Return the file with other ids."""
    write = _write_parquet if store.format == "Parquet" else _write_arrow
    return {folder / store.path.name: partial(write, store, edit)}


def _write_parquet(store: TableStore, edit: Edit, stream: BinaryIO) -> None:
    from pyarrow import parquet

    with source_of(store.path) as source:
        row = 0
        with _reading(store):
            file = parquet.ParquetFile(source, pre_buffer=False, buffer_size=_HEAD)
        with parquet.ParquetWriter(stream, file.schema_arrow, **_parquet_options(file, store.field)) as writer:
            for at in range(file.metadata.num_row_groups):
                waiting: list[Any] = []
                for batch in _batches_of_group(store, file, at):
                    waiting.append(_edited(batch, store, edit, row))
                    row += batch.num_rows
                    if sum(each.nbytes for each in waiting) >= _LARGEST_GROUP:
                        _write_group(writer, waiting)
                        waiting = []
                _write_group(writer, waiting)


def _write_group(writer: Any, batches: list[Any]) -> None:
    if batches:
        table = pyarrow_of().Table.from_batches(batches)
        writer.write_table(table, row_group_size=max(table.num_rows, 1))


def _batches_of_group(store: TableStore, file: Any, at: int) -> Iterator[Any]:
    """Yield the rows of a group in batches of about as many ids as are edited at once."""
    group = file.metadata.row_group(at)
    bytes_a_row = group.total_byte_size / max(group.num_rows, 1)
    size = int(max(1, min(group.num_rows, 4 * BATCH / max(bytes_a_row, 1))))
    batches = file.iter_batches(batch_size=size, row_groups=[at], use_threads=False)
    while True:
        with _reading(store):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def _reading(store: TableStore) -> Any:
    return refused(DAMAGED, pyarrow_errors, lambda: store.path)


def _parquet_options(file: Any, field: str) -> dict[str, Any]:
    """Return the options with which a file like this one is written."""
    meta = file.metadata
    if not meta.num_row_groups:
        return {}
    group = meta.row_group(0)
    columns = [group.column(at) for at in range(group.num_columns)]
    with_dictionary = [each.path_in_schema for each in columns if "DICTIONARY" in " ".join(each.encodings)]
    codecs = {each.path_in_schema: each.compression for each in columns}
    encoded = {
        each.path_in_schema: encoding
        for each in columns
        for encoding in each.encodings
        if encoding in _FREE and each.path_in_schema not in with_dictionary
    }
    return {
        "version": meta.format_version if meta.format_version in _VERSIONS else _VERSIONS[-1],
        "compression": {path: "NONE" if codec == "UNCOMPRESSED" else codec for path, codec in codecs.items()},
        "use_dictionary": with_dictionary or False,
        "column_encoding": encoded or None,
        "write_statistics": [each.path_in_schema for each in columns if each.is_stats_set] or False,
        "write_page_index": any(each.has_offset_index and each.has_column_index for each in columns),
        "sorting_columns": group.sorting_columns or None,
        "use_compliant_nested_type": f"{field}.list.item" not in codecs,
    }


def _write_arrow(store: TableStore, edit: Edit, stream: BinaryIO) -> None:
    ipc = pyarrow_of().ipc
    is_file = store.format == "Arrow file"
    with source_of(store.path) as source:
        head = source.read(_HEAD)
        source.seek(0)
        # Each packed buffer has its length in 8 bytes, and then a frame.
        codec = next((name for magic, name in _CODECS.items() if magic in head), None)
        with _reading(store):
            opened = (ipc.open_file if is_file else ipc.open_stream)(source)
        options = ipc.IpcWriteOptions(compression=codec)
        row = 0
        with (ipc.new_file if is_file else ipc.new_stream)(stream, opened.schema, options=options) as sink:
            for batch, metadata in _arrow_batches(store, opened, is_file):
                sink.write_batch(_edited(batch, store, edit, row), metadata)
                row += batch.num_rows


def _arrow_batches(store: TableStore, opened: Any, is_file: bool) -> Iterator[tuple[Any, Any]]:
    batches = (
        map(opened.get_batch_with_custom_metadata, range(opened.num_record_batches))
        if is_file
        else opened.iter_batches_with_custom_metadata()
    )
    while True:
        with _reading(store):
            read = next(batches, None)
            if read is not None:
                read[0].validate()
        if read is None:
            return
        yield read[0], read[1]


def _edited(batch: Any, store: TableStore, edit: Edit, row: int) -> Any:
    """Return rows with other ids."""
    at = batch.schema.get_field_index(store.field)
    column = batch.column(at)
    ids, starts, _, _ = documents_of(column, row, str(store.path))
    assert starts is not None
    where = f"{store.path}, rows {row} to {row + batch.num_rows}"
    edited = edit.documents(ids, starts, where)
    if not len(edited.changed):
        return batch
    lengths = np.diff(starts, append=len(ids))
    columns = [*batch.columns]
    columns[at] = _lists(column.type, as_type(edited.ids, np.dtype(str(column.type.value_type)), where), edited)
    for number, (name, other) in enumerate(zip(batch.schema.names, batch.columns, strict=True)):
        values = None if number == at else _flat(other)
        if values is None:
            continue
        new = new_values(edited, name, values[0], values[1], lengths, where)
        if new is not None:
            if pyarrow_of().types.is_fixed_size_list(other.type):
                raise TokenStreamError("lists of a fixed length have no values for new ids", value=name, where=where)
            columns[number] = _lists(other.type, new, edited)
    return pyarrow_of().RecordBatch.from_arrays(columns, schema=batch.schema)


def _lists(kind: Any, values: npt.NDArray[Any], edited: Edited) -> Any:
    """Return a column of lists of values, one for each new id."""
    arrow = pyarrow_of()
    is_large = arrow.types.is_large_list(kind)
    offsets = np.append(edited.starts, len(values)).astype(np.int64 if is_large else np.int32)
    made = arrow.LargeListArray if is_large else arrow.ListArray
    return made.from_arrays(arrow.array(offsets), arrow.array(values, type=kind.value_type), type=kind)


def _flat(column: Any) -> tuple[npt.NDArray[Any], Int64Array] | None:
    """Return the values of a column of lists of numbers or flags, and their numbers in each row; None for another."""
    types = pyarrow_of().types
    kind = column.type
    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)) or column.null_count:
        return None
    inner = kind.value_type
    values = column.flatten()
    if values.null_count or not (types.is_integer(inner) or types.is_floating(inner) or types.is_boolean(inner)):
        return None
    lengths = pyarrow_of().compute.list_value_length(column).to_numpy(zero_copy_only=False)
    return values.to_numpy(zero_copy_only=False), lengths.astype(np.int64)
