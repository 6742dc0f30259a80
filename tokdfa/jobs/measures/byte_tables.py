"""Tables of counts of bytes, by id: the public formulas for them, and their files."""

from __future__ import annotations

import io
import itertools
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import BoolArray, Int64Array
from tokdfa.base.atomic import write_atomically
from tokdfa.base.errors import FileFormatError, WrongTypeError
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["ByteTable", "of_formula", "read_table", "write_table"]

MOST_COUNTED = 1 << 31
_NO_COUNT = "a count of bytes is a whole number from 0 on"


class ByteTable(NamedTuple):
    """The counts of bytes by id, and whether a space is counted in addition.

    Id `t` counts ``counts[t]``, and 1 more if ``spaces[t]``, unless the id before it is one of `boundaries`; the
    beginning of a text is like one of these.

    Examples
    --------
    >>> from tokdfa.jobs.measures.byte_tables import of_formula
    >>> table = of_formula(tokdfa.default_tokenizer(), "bytes")
    >>> table.counts[tokdfa.default_tokenizer().encode("a single man")].tolist(), table.spaces
    ([1, 7, 4], None)
    """

    counts: Int64Array
    spaces: BoolArray | None = None
    boundaries: BoolArray | None = None


def _bytes(tokenizer: AnyTokenizer) -> Int64Array:
    return np.diff(tokenizer.id_spellings.offsets).astype(np.int64)


def _decoded(tokenizer: AnyTokenizer) -> Int64Array:
    text, offsets = tokenizer.id_spellings
    data, ends = text.tobytes(), offsets.tolist()
    words = (data[begin:end] for begin, end in itertools.pairwise(ends))
    return np.array([len(word.decode("utf-8", "replace").encode("utf-8")) for word in words], dtype=np.int64)


FORMULAS: dict[str, tuple[str, Callable[[AnyTokenizer], Int64Array]]] = {
    "bytes": ("the bytes that the id adds to the text", _bytes),
    "decoded": ("the UTF-8 of the text that the id alone decodes to; U+FFFD has three bytes", _decoded),
}
"""The public conventions by name: a sentence, and the counts; control tokens count 0."""


def of_formula(tokenizer: AnyTokenizer, name: str) -> ByteTable:
    """Return the table of a formula; control tokens count 0."""
    if name not in FORMULAS:
        raise WrongTypeError("no such formula", value=name, hint=f"one of {', '.join(FORMULAS)}, or a file")
    counts = FORMULAS[name][1](tokenizer)
    counts[tokenizer.control_ids] = 0
    return ByteTable(counts)


def checked_table(table: ByteTable | npt.ArrayLike, n_ids: int, where: str = "table") -> ByteTable:
    """Return a table with a count for each id; refuse another length, and counts that are not whole or are negative."""
    given = table if isinstance(table, ByteTable) else ByteTable(np.asarray(table))
    counts = np.asarray(given.counts)
    if counts.ndim != 1 or len(counts) != n_ids:
        shape = counts.shape[0] if counts.ndim == 1 else counts.shape
        hint = "cut off the rows that only the model's matrix has, or fill up with 0" if counts.ndim == 1 else None
        raise FileFormatError(f"a table has a count for each of the {n_ids} ids", value=shape, where=where, hint=hint)
    if counts.dtype.kind not in "biuf":
        raise FileFormatError("a table has numbers", value=str(counts.dtype), where=where)
    wrong = np.flatnonzero(~((counts >= 0) & (counts < MOST_COUNTED) & (counts == np.floor(counts))))
    if len(wrong):
        value = counts[wrong[0]].item()
        raise FileFormatError(
            "a count of bytes is a whole number from 0 on", value=value, where=f"{where}, id {wrong[0]}"
        )
    flags = []
    for name, flag in zip(("spaces", "boundaries"), given[1:], strict=True):
        array = None if flag is None else np.asarray(flag)
        if array is not None and (array.shape != (n_ids,) or not np.isin(array, (0, 1)).all()):
            raise FileFormatError("a flag for each id is wanted", value=array.shape, where=f"{where}, {name}")
        flags.append(None if array is None else array.astype(np.bool_))
    return ByteTable(counts.astype(np.int64), *flags)


_FIELDS = ("base_bytes", "has_leading_space", "is_boundary_token")


def read_table(path: str | Path, n_ids: int) -> ByteTable:
    """Return the table of a file: .npy or .json with a list, or .npz with base_bytes and, perhaps, the two flags."""
    where = str(path)
    data = Path(path).read_bytes()
    hint = "a table is a .npy, a .json list, or a .npz with base_bytes; save a tensor with numpy.save"
    try:
        loaded: Any = json.loads(data) if data[:1] == b"[" else np.load(io.BytesIO(data), allow_pickle=False)
        fields = {name: loaded[name] for name in _FIELDS if name in loaded} if hasattr(loaded, "files") else {}
    except (ValueError, OSError, EOFError, RecursionError, zipfile.BadZipFile, KeyError) as error:
        raise FileFormatError(f"the file is not a table: {error}", where=where, hint=hint) from None
    if isinstance(loaded, list):
        return checked_table(_of_list(loaded, where), n_ids, where)
    if isinstance(loaded, np.ndarray):
        return checked_table(loaded, n_ids, where)
    if "base_bytes" not in fields:
        raise FileFormatError("the file has no base_bytes", where=where, hint=hint)
    return checked_table(ByteTable(*(fields.get(name) for name in _FIELDS)), n_ids, where)  # type: ignore[arg-type]


def _of_list(counts: list[object], where: str) -> npt.NDArray[Any]:
    for id, count in enumerate(counts):
        if isinstance(count, bool) or not isinstance(count, (int, float)):
            raise FileFormatError(
                "a count of bytes is a whole number from 0 on", value=count, where=f"{where}, id {id}"
            )
    return np.array(counts, dtype=np.float64)


def write_table(path: str | Path, table: ByteTable) -> None:
    """Write the counts of a table as a .npy file."""
    file = io.BytesIO()
    np.save(file, table.counts)
    write_atomically(str(path), file.getvalue())
