"""JSONL: one JSON value a line, with ids in one of its fields; also packed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tokdfa.base.arrays import BoolArray, IntegerArray, id_array
from tokdfa.base.errors import TokenStreamError
from tokdfa.stores.packed import damage, opened
from tokdfa.stores.store import Chunk, Document, Store, ids_field, iter_document_chunks, mask_field, signed, value_of

_SHOWN = 60


def iter_json_lines(path: Path, compression: str = "") -> Iterator[tuple[int, object | TokenStreamError]]:
    """Yield the values of the lines of a file that are not blank, each with the number of its line, from 1.

    In place of a line that is not JSON, and of all that follows where a packed file is damaged, an error comes.
    """
    number = 0
    with opened(path, compression) as stream:
        try:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield number, _value(line)
        except damage() as error:
            what = "the file is cut short or damaged"
            yield number + 1, TokenStreamError(what, value=str(error))


def _value(line: bytes) -> object | TokenStreamError:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        what = "the line is not JSON" if line.endswith(b"\n") else "the last line is not whole"
        shown = line[:_SHOWN].decode("utf-8", "backslashreplace")
        return TokenStreamError(what, value=shown, hint=str(error))
    return value


class JsonlStore(Store):
    """A file with one JSON object a line; the ids in a field, by default one with a usual name, are a document."""

    def __init__(self, path: Path, compression: str = "", field: str | None = None) -> None:
        first = next((value for _, value in iter_json_lines(path, compression)), None)
        if isinstance(first, TokenStreamError):
            raise TokenStreamError(first.what, value=first.value, where=f"{path}, line 1", hint=first.hint)
        if first is None:
            raise TokenStreamError("no ids: the file is empty", where=str(path))
        names = [*first] if isinstance(first, dict) else []
        self._field = None if isinstance(first, list) and field is None else ids_field(names, field, str(path))
        self._mask = mask_field(names)
        self._compression = compression
        name = "JSONL" + (f" ({compression})" if compression else "")
        super().__init__(path, name, has_documents=True, has_mask=self._mask is not None, unit="line")

    def iter_chunks(self, begin: int = 0, end: int | None = None, *, size: int | None = None) -> Iterator[Chunk]:
        """Yield the ids of all lines; see :meth:`Store.iter_chunks`."""
        return iter_document_chunks(self._documents(), size)

    def _documents(self) -> Iterator[Document]:
        for number, value in iter_json_lines(self.path, self._compression):
            where = f"{self.path}, line {number}"
            if isinstance(value, TokenStreamError):
                raise TokenStreamError(value.what, value=value.value, where=where, hint=value.hint)
            ids = ids_of(value if self._field is None else value_of(value, self._field, where), where)
            mask = None if self._mask is None else _mask(value_of(value, self._mask, where), len(ids), where)
            yield number, ids, mask


def ids_of(value: object, where: str) -> IntegerArray:
    """Return the ids of a list that was read as JSON."""
    if not isinstance(value, list):
        raise TokenStreamError("the ids must be a list of integers", value=value, where=where)
    try:
        ids = id_array(value)
    except TokenStreamError as error:
        place = f"{where}, {error.where}" if error.where else where
        raise TokenStreamError(error.what, value=error.value, where=place) from None
    return signed(ids, where)


def _mask(value: object, n: int, where: str) -> BoolArray:
    if not isinstance(value, list) or len(value) != n or not all(flag in (0, 1) for flag in value):
        raise TokenStreamError("the mask must have a 0 or 1 for each id", value=value, where=where)
    return np.array(value, dtype=np.bool_)
