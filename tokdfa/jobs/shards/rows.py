"""Checking rows that are in memory, as the data frames of clusters hand them out: batches and tables of Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tokdfa.base.errors import TokenStreamError
from tokdfa.jobs.shards.check import Options, check_store
from tokdfa.jobs.shards.report import Report
from tokdfa.stores.columns import documents_of, lists_of
from tokdfa.stores.store import CHUNK, Chunk, Location, Store, ids_field
from tokdfa.tokenizers.protocol import AnyTokenizer

_NAME = "rows"


def check_rows(
    tokenizer: AnyTokenizer,
    rows: Any,
    field: str | None = None,
    *,
    key: str | None = None,
    literal: bool = False,
    end: int | None = None,
) -> Report:
    """Check whether rows with ids are canonical, each a document, and count their ids.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    rows : pyarrow.Table or pyarrow.RecordBatch
    field : str, optional
        The column of lists of ids; by default one with a usual name, or the only one of lists of integers.
    key : str, optional
        A column with names of the documents. By default they are named by the numbers of their rows.
    literal : bool
        See :func:`tokdfa.validate`.
    end : int, optional
        See :func:`tokdfa.check_shard`.

    Returns
    -------
    Report
        On 0 shards, so that only files are counted as such where reports are added up. If a row has no ids or one of
        its ids is null, that is in `broken`, and the rows from the batch of that row on are not judged.

    Examples
    --------
    >>> import pyarrow, tokdfa
    >>> table = pyarrow.table({"id": ["a", "b"], "input_ids": [[64, 2513, 462], [64, 261, 1193]]})
    >>> report = check_rows(tokdfa.default_tokenizer(), table, key="id")
    >>> report.documents, report.wrong_documents, report.first[0].file
    (2, 1, 'b')
    """
    store = _Rows(rows, field, key)
    return replace(check_store(tokenizer, store, Options(literal=literal, end=end)), shards=0)


class _Rows(Store):
    """Rows in memory as a store."""

    def __init__(self, rows: Any, field: str | None, key: str | None) -> None:
        import pyarrow

        names = rows.schema.names
        fitting = [each.name for each in rows.schema if lists_of(pyarrow.nulls(0, each.type)) is not None]
        self._field = ids_field(names, field, _NAME, fitting)
        if self._field not in fitting:
            kind = str(rows.schema.field(self._field).type) if self._field in names else self._field
            raise TokenStreamError("the column must have lists of integers", value=kind, where=_NAME)
        if key is not None and key not in names:
            raise TokenStreamError("the column with the names of documents is missing", value=key, where=_NAME)
        self._rows = rows
        self._names = None if key is None else rows.column(key)
        super().__init__(Path(_NAME), _NAME, n_documents=rows.num_rows, has_documents=True, unit="row")

    def iter_chunks(self, begin: int = 0, end: int | None = None, *, size: int | None = None) -> Iterator[Chunk]:
        """Yield the ids of some rows at a time; see :meth:`Store.iter_chunks`."""
        rows = self._rows.select([self._field])
        # Eight bytes an id at most; the ids of a chunk should stay in the cache.
        n_rows = max(1, 8 * CHUNK * rows.num_rows // max(rows.nbytes, 1))
        row = 0
        for first in range(0, rows.num_rows, n_rows):
            part = rows.slice(first, n_rows)
            for batch in part.to_batches() if hasattr(part, "to_batches") else [part]:
                yield documents_of(batch.column(0), row, _NAME)
                row += batch.num_rows

    def location(self, number: int, token: int, index: int) -> Location:
        """Return where an id is: by the name of its document, if documents have names."""
        name = _NAME if self._names is None else str(self._names[number])
        return Location(name, self.unit, number, token)
