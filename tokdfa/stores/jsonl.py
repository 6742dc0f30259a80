"""JSONL: one JSON value a line, with ids in one of its fields; also packed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tokdfa.arrays import id_array
from tokdfa.errors import TokenStreamError
from tokdfa.stores.fields import ids_field, mask_field, value_of
from tokdfa.stores.packed import damage, opened
from tokdfa.stores.store import Chunk, Store, chunk_of, signed
from tokdfa.stores.tuning import DEFAULT, Tuning

__all__ = ["JsonlStore", "iter_json_lines"]

_SHOWN = 60


def iter_json_lines(path: Path, compression: str = "") -> Iterator[tuple[int, object | TokenStreamError]]:
    """Yield the values of the lines of a file that are not blank, each with the number of its line, from 1.

    In place of a line that is not JSON, and of all that follows where a packed file is damaged, an error comes.

    Raises
    ------
    OSError
        If the file cannot be opened.
    UnsupportedFeatureError
        If the package that unpacks it is not installed.
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
    """A file with one JSON object a line; the ids in a field of each are a document.

    Parameters
    ----------
    path : Path
    compression : str
    field : str, optional
        The field, with dots into objects; by default a usual name that the first line has.
    tuning : Tuning, optional
    """

    def __init__(
        self, path: Path, compression: str = "", field: str | None = None, *, tuning: Tuning = DEFAULT
    ) -> None:
        first = next((value for _, value in iter_json_lines(path, compression)), None)
        if isinstance(first, TokenStreamError):
            raise TokenStreamError(first.what, value=first.value, where=f"{path}, line 1", hint=first.hint)
        if first is None:
            raise TokenStreamError("no ids: the file is empty", where=str(path))
        names = [*first] if isinstance(first, dict) else []
        self._field = None if isinstance(first, list) and field is None else ids_field(names, field, str(path))
        self._mask = mask_field(names)
        self._compression = compression
        self._tuning = tuning
        name = "JSONL" + (f" ({compression})" if compression else "")
        super().__init__(path, name, has_documents=True, has_mask=self._mask is not None, unit="line")

    def iter_chunks(self, begin: int = 0, end: int | None = None) -> Iterator[Chunk]:
        """Yield the ids of all lines; see :meth:`Store.iter_chunks`."""
        documents: list[np.ndarray] = []
        masks: list[np.ndarray] = []
        numbers: list[int] = []
        n = 0
        for number, value in iter_json_lines(self.path, self._compression):
            where = f"{self.path}, line {number}"
            if isinstance(value, TokenStreamError):
                raise TokenStreamError(value.what, value=value.value, where=where, hint=value.hint)
            ids = _ids(value if self._field is None else value_of(value, self._field, where), where)
            documents.append(ids)
            if self._mask is not None:
                masks.append(_mask(value_of(value, self._mask, where), len(ids), where))
            numbers.append(number)
            n += len(ids)
            if n >= self._tuning.chunk:
                yield chunk_of(documents, numbers, masks)
                documents, masks, numbers, n = [], [], [], 0
        if documents:
            yield chunk_of(documents, numbers, masks)


def _ids(value: object, where: str) -> np.ndarray:
    if not isinstance(value, list):
        raise TokenStreamError("the ids must be a list of integers", value=value, where=where)
    try:
        ids = id_array(value)
    except TokenStreamError as error:
        place = f"{where}, {error.where}" if error.where else where
        raise TokenStreamError(error.what, value=error.value, where=place) from None
    return signed(ids, where)


def _mask(value: object, n: int, where: str) -> np.ndarray:
    if not isinstance(value, list) or len(value) != n or not all(flag in (0, 1) for flag in value):
        raise TokenStreamError("the mask must have a 0 or 1 for each id", value=value, where=where)
    return np.array(value, dtype=np.bool_)
