"""Tables of counts of bytes, by id: the public formulas for them, and their files."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import BoolArray, Int64Array, IntegerArray
from tokdfa.base.atomic import write_atomically
from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError, WrongTypeError
from tokdfa.base.files import read_named
from tokdfa.base.suggestions import names_beside, nearest
from tokdfa.jobs.measures.missing_space import lacks_space, no_space, pieces_of
from tokdfa.jobs.measures.of_tokenizers import streams_of
from tokdfa.tokenizers.decoder import words_of
from tokdfa.tokenizers.decoding import byte_of
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["ByteTable", "of_formula", "read_table", "write_table"]

MOST_COUNTED = (1 << 31) - 1


class ByteTable(NamedTuple):
    """A table of bytes by id, in which some ids count a leading space in addition.

    Id `t` counts ``counts[t]``. If ``spaces[t]``, it counts 1 more, except at the beginning of a text or after an id in
    `boundaries`.

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

    def count(self, ids: IntegerArray) -> int:
        """Return the sum of the counts of a text's ids."""
        total = int(self.counts[ids].sum())
        if self.spaces is not None and len(ids):
            is_boundary = np.zeros_like(self.spaces) if self.boundaries is None else self.boundaries
            total += int(np.count_nonzero(self.spaces[ids[1:]] & ~is_boundary[ids[:-1]]))
        return total


def _right(tokenizer: AnyTokenizer) -> ByteTable:
    """Return the bytes that each id adds to a text; a space is counted apart if the first id of a text lacks it."""
    if lacks_space(tokenizer):
        raise no_space()
    spelled = tokenizer.spelled
    usual = np.diff(spelled.usual.offsets)
    if spelled.other is None:
        return ByteTable(usual)
    streams = streams_of(tokenizer)
    begins = streams.edges(0).labels
    first = usual.copy()
    first[streams.ids[begins]] = streams.sizes[begins]
    lacks = usual - first
    if not lacks.any():
        return ByteTable(usual)
    wrong = np.flatnonzero((lacks < 0) | (lacks > 1))
    if spelled.varies != "first" or len(wrong):
        what = "no table is right: what an id adds to a text depends on more than whether it is the first one"
        raise UnsupportedFeatureError(what, value=pieces_of(tokenizer)[wrong[0]] if len(wrong) else None)
    return ByteTable(first, lacks > 0, np.isin(np.arange(tokenizer.n_ids), tokenizer.control_ids))


def _decoded(tokenizer: AnyTokenizer) -> ByteTable:
    """Return the bytes of the text that each id alone decodes to."""
    spelled = tokenizer.spelled
    words = words_of(spelled.usual if spelled.other is None else spelled.other)
    return ByteTable(np.array([len(_shown(word)) for word in words], dtype=np.int64))


def _shown(word: bytes) -> bytes:
    return word.decode("utf-8", "replace").encode()


def _of_pieces(tokenizer: AnyTokenizer, of_byte: Callable[[int, str], int], space: int = 0) -> ByteTable:
    """Return the counts of pieces that write a space as U+2581, which is counted apart at their beginning.

    `of_byte` is the count of a byte token, by its byte and its name; `space` is counted in addition with a space.
    """
    if None in (tokenizer.why_not("bytes"), tokenizer.why_not("letters")) or tokenizer.algorithm == "WordPiece":
        what = "the formula is for pieces that write a space as \u2581"
        raise UnsupportedFeatureError(what, value=tokenizer.algorithm, hint='name "bytes" or "decoded"')
    pieces = pieces_of(tokenizer)
    spaces = np.array([piece.startswith(SPACE) for piece in pieces], dtype=np.bool_)
    counts = np.array([len(piece.removeprefix(SPACE).encode("utf-8", "surrogatepass")) for piece in pieces])
    for id, byte in enumerate(map(byte_of, pieces)):
        if byte is not None:
            counts[id] = of_byte(byte, pieces[id])
    return ByteTable(counts + space * spaces, spaces, np.isin(np.arange(tokenizer.n_ids), tokenizer.control_ids))


class Formula(NamedTuple):
    """A public formula for the bytes of an id: a sentence that describes it, and the table of a tokenizer."""

    words: str
    table: Callable[[AnyTokenizer], ByteTable]


FORMULAS: dict[str, Formula] = {
    "bytes": Formula("the bytes that it adds to a text", _right),
    "decoded": Formula("the UTF-8 of the text that it alone decodes to, where U+FFFD has three bytes", _decoded),
    "sentencepiece": Formula(
        "its piece in UTF-8, but one for a U+2581 that it begins with and none at the beginning; one for a byte token",
        partial(_of_pieces, of_byte=lambda byte, piece: 1),
    ),
    "sentencepiece-decoded": Formula(
        "as in sentencepiece, but three for a byte token that alone decodes to U+FFFD",
        partial(_of_pieces, of_byte=lambda byte, piece: len(_shown(bytes((byte,))))),
    ),
    "sentencepiece-twice": Formula(
        "as in sentencepiece, but one more for a U+2581 that it begins with, and six for a byte token, <0x0A>",
        partial(_of_pieces, of_byte=lambda byte, piece: len(piece), space=1),
    ),
}
"""The public conventions by name, right and wrong ones."""


def of_formula(tokenizer: AnyTokenizer, name: str) -> ByteTable:
    """Return the table of a formula; control tokens count 0."""
    if name not in FORMULAS:
        near = nearest(name, [*FORMULAS, *names_beside(Path(name))])
        hint = f"did you mean {near}?" if near else f"formulas are {', '.join(FORMULAS)}"
        raise WrongTypeError("no such formula or file", value=name, hint=hint)
    table = FORMULAS[name].table(tokenizer)
    table.counts[tokenizer.control_ids] = 0
    return table


def named_or_read(tokenizer: AnyTokenizer, name: str) -> ByteTable:
    """Return the table of a formula, or of a file if there is one of that name."""
    if name in FORMULAS or not name or not Path(name).exists():
        return of_formula(tokenizer, name)
    return read_table(name, tokenizer.n_ids)


def checked_table(table: ByteTable | npt.ArrayLike, n_ids: int, where: str = "table") -> ByteTable:
    """Return a table with a count for each id; refuse another length, and counts that are not whole or are negative."""
    given = table if isinstance(table, ByteTable) else ByteTable(np.asarray(table))
    counts = np.asarray(given.counts)
    if counts.ndim != 1 or len(counts) != n_ids:
        shape = counts.shape[0] if counts.ndim == 1 else counts.shape
        hint = "cut off the rows that only the model's matrix has, or fill up with 0" if counts.ndim == 1 else None
        raise FileFormatError(f"a table has a count for each of the {n_ids} ids", value=shape, where=where, hint=hint)
    if counts.dtype.kind not in "iuf":
        raise FileFormatError("a table has numbers", value=str(counts.dtype), where=where)
    wrong = np.flatnonzero(~((counts >= 0) & (counts <= MOST_COUNTED) & (counts == np.floor(counts))))
    if len(wrong):
        raise _no_count(counts[wrong[0]].item(), int(wrong[0]), where)
    flags = [
        _checked_flags(flags, n_ids, f"{where}, {name}") for flags, name in zip(given[1:], _FIELDS[1:], strict=True)
    ]
    return ByteTable(counts.astype(np.int64), *flags)


def _checked_flags(flags: npt.ArrayLike | None, n_ids: int, where: str) -> BoolArray | None:
    if flags is None:
        return None
    array = np.asarray(flags)
    if array.shape != (n_ids,):
        raise FileFormatError(f"a table has a flag for each of the {n_ids} ids", value=array.shape, where=where)
    wrong = np.flatnonzero(~np.isin(array, (0, 1)))
    if len(wrong):
        raise FileFormatError("a flag is 0 or 1", value=array[wrong[0]].item(), where=f"{where}, id {wrong[0]}")
    return array.astype(np.bool_)


_FIELDS = ("base_bytes", "has_leading_space", "is_boundary_token")


def read_table(path: str | Path, n_ids: int) -> ByteTable:
    """Return the table of a file: .npy or .json with a list, or .npz with base_bytes and, perhaps, the two flags."""
    where = str(path)
    data = read_named(path)
    hint = "a table is a .npy, a .json list, or a .npz with base_bytes; save a tensor with numpy.save"
    if not data:
        raise FileFormatError("the file is empty", where=where, hint=hint)
    try:
        is_numpy = data.startswith((b"\x93NUMPY", b"PK"))
        loaded: Any = np.load(io.BytesIO(data), allow_pickle=False) if is_numpy else json.loads(data)
        fields = {name: loaded[name] for name in _FIELDS if name in loaded} if hasattr(loaded, "files") else {}
    except (ValueError, OSError, EOFError, RecursionError, zipfile.BadZipFile, KeyError) as error:
        raise FileFormatError(f"the file is not a table: {error}", where=where, hint=hint) from None
    if isinstance(loaded, list):
        return checked_table(_of_list(loaded, where), n_ids, where)
    if isinstance(loaded, np.ndarray):
        return checked_table(loaded, n_ids, where)
    if "base_bytes" not in fields:
        what = "the file has no base_bytes" if is_numpy else "a table in JSON is a list"
        raise FileFormatError(what, where=where, hint=hint)
    return checked_table(ByteTable(*(fields.get(name) for name in _FIELDS)), n_ids, where)  # type: ignore[arg-type]


def _of_list(counts: list[object], where: str) -> npt.NDArray[Any]:
    for id, count in enumerate(counts):
        if (
            not isinstance(count, (int, float))
            or isinstance(count, bool)
            or not 0 <= count <= MOST_COUNTED
            or count != int(count)
        ):
            raise _no_count(count, id, where)
    return np.array(counts, dtype=np.float64)


def _no_count(value: object, id: int, where: str) -> FileFormatError:
    return FileFormatError(
        f"a count of bytes is a whole number from 0 to {MOST_COUNTED}", value=value, where=f"{where}, id {id}"
    )


def check_writable(path: str | Path, table: ByteTable) -> None:
    """Refuse a file whose format has no room for a table, or is not known."""
    suffix = Path(path).suffix
    if suffix not in (".npz", ".npy", ".json"):
        raise WrongTypeError("a table is written as .npz, .npy or .json", value=str(path), where="-o")
    if suffix != ".npz" and table.spaces is not None:
        what = "the bytes of an id depend on whether a text begins with it, which one number does not say"
        raise WrongTypeError(what, value=str(path), where="-o", hint="name a .npz, which also has has_leading_space")


def write_table(path: str | Path, table: ByteTable) -> None:
    """Write a table: a .npz has its arrays, a .npy or a .json list only the counts."""
    check_writable(path, table)
    file = io.BytesIO()
    if str(path).endswith(".npz"):
        arrays: dict[str, Any] = {name: array for name, array in zip(_FIELDS, table, strict=True) if array is not None}
        np.savez(file, **arrays)
    elif str(path).endswith(".npy"):
        np.save(file, table.counts)
    else:
        file.write(f"{json.dumps(table.counts.tolist())}\n".encode())
    write_atomically(str(path), file.getvalue())
