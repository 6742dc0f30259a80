"""The interface of token stores: ids in chunks, the boundaries of documents, offsets in the file, fields of records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tokdfa.base.arrays import BoolArray, Int64Array, IntegerArray, id_array, offsets_of
from tokdfa.base.errors import TokdfaError, TokenStreamError
from tokdfa.base.journal import facts_of
from tokdfa.base.suggestions import nearest

Dtype: TypeAlias = "np.dtype[np.integer[Any]]"

CHUNK = 1 << 18
"""The number of ids that are read at once: the ids of a chunk should still be in the cache when they are judged."""


class Chunk(NamedTuple):
    """Some ids of a store, one after the other: of any width, and not checked to be ids of a tokenizer."""

    ids: IntegerArray
    # The indices in `ids` at which documents begin, ascending; equal ones are empty documents, and the last may be
    # ``len(ids)``. None if the store has no documents.
    starts: Int64Array | None = None
    numbers: Int64Array | None = None  # Of each of these documents its number in the file: a row, a line, a sample
    mask: BoolArray | None = None  # For each id whether it counts in training; None if the store has no such mask

    def part(self, begin: int, end: int) -> Chunk:
        """Return the ids from `begin` to before `end`; documents that begin at the end of all are in the last part."""
        starts, numbers, mask = self.starts, self.numbers, self.mask
        if starts is not None and numbers is not None:
            low, high = np.searchsorted(starts, [begin, end + (end == len(self.ids))])
            starts, numbers = starts[low:high] - begin, numbers[low:high]
        return Chunk(self.ids[begin:end], starts, numbers, None if mask is None else mask[begin:end])


Document = tuple[int, IntegerArray, BoolArray | None]
"""The number of a document in its file, its ids, with no mix of uint64 and signed ones, and their mask."""


def ids_of(value: object, where: str) -> IntegerArray:
    """Return the ids of a list that was read as JSON."""
    if not isinstance(value, list):
        raise TokenStreamError("the ids must be a list of integers", value=value, where=where)
    try:
        ids = id_array(value)
    except TokenStreamError as error:
        location = f"{where}, {error.where}" if error.where else where
        raise TokenStreamError(error.what, value=error.value, where=location) from None
    return signed(ids, where)


def signed(ids: IntegerArray, where: str) -> IntegerArray:
    """Return ids, with uint64 as int64: numpy joins the two types as floats. No id has more than 63 bits."""
    if ids.dtype.kind != "u" or ids.dtype.itemsize < 8:
        return ids
    large = np.flatnonzero(ids >= 1 << 63)
    if len(large):
        at = int(large[0])
        raise TokenStreamError("an id is too large", value=int(ids[at]), where=f"{where}, token {at}")
    return ids.astype(np.int64)


class UnrecordedTypeError(TokenStreamError):
    """A file of raw integers does not record their type."""


class NoFieldsError(TokenStreamError):
    """A field is given for a file that has no records."""

    def __init__(self, path: Path, field: str) -> None:
        super().__init__("a field can be given only for files of records", value=field, where=str(path))


@contextmanager
def refused(
    what: str, errors: Callable[[], tuple[type[Exception], ...]], where: Callable[[], object]
) -> Iterator[None]:
    """Refuse a file where the library that reads it raises one of some errors."""
    try:
        yield
    except TokenStreamError:
        raise
    except errors() as error:
        raise TokenStreamError(what, value=str(error), where=str(where())) from None


class Location(NamedTuple):
    """Where in a file an id is."""

    file: str
    unit: str  # Of the number: ``byte``, ``row``, ``line``, ``sample``, ``member`` or ``token``
    number: int  # The offset of the byte; the row, sample or member from 0, or the line from 1
    token: int  # The index of the id in that record; for ``byte`` and ``token``, in all of the file

    def __str__(self) -> str:
        if self.unit == "token":
            return f"{self.file}, token {self.token}"
        return f"{self.file}, {self.unit} {self.number}, token {self.token}"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """An inconsistency of a store."""

    where: str  # The file, with the location in it if known
    what: str  # One sentence without a full stop

    @classmethod
    def of(cls, error: Exception, path: object) -> Problem:
        """Return the problem that an error reports, located in the file itself unless the error says where."""
        if isinstance(error, TokdfaError) and error.where:
            return cls(error.where, str(error).removeprefix(f"{error.where}: "))
        what = getattr(error, "strerror", None) or str(error)
        other = getattr(error, "filename", None)  # Perhaps a file that is written.
        return cls(str(path), what if other is None or str(other) == str(path) else f"{other}: {what}")

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


@dataclass(eq=False, repr=False)
class Store(ABC):
    """A file, or a group of files, with ids of a tokenizer.

    Files are read and not mapped into memory: a mapped file that shrinks while it is read ends the process. Data are
    not copied again after reading.
    """

    path: Path  # The path that was asked for
    format: str  # In one or two words
    _: KW_ONLY
    files: tuple[Path, ...] = ()  # In the order in which they are read
    dtype: Dtype | None = None  # The integers in the file; None if they are written as text
    n_ids: int | None = None  # If that is known without reading them
    n_documents: int | None = None  # If that is known without reading them
    has_documents: bool = False  # Whether it says where documents begin
    has_mask: bool = False  # Whether it says which ids count in training
    n_steps: int = 1  # The number of steps that can be read separately; see :meth:`iter_chunks`
    unit: str = "token"  # The unit in which documents are numbered; see :class:`Location`
    problems: Sequence[Problem] = ()  # Nothing should be read from an inconsistent store
    members: Sequence[Store] = ()  # The stores that this one consists of; none if it is a single one
    is_guessed: bool = False  # Whether the type of the integers is supposed, and another may be given

    def __post_init__(self) -> None:
        self.files = self.files or (self.path,)
        self.problems, self.members = tuple(self.problems), tuple(self.members)
        self.facts = [*map(facts_of, self.files)]

    def check_unchanged(self) -> None:
        """Raise TokenStreamError if a file has changed since it was opened."""
        for file, before in zip(self.files, self.facts, strict=True):
            if facts_of(file) != before:
                raise TokenStreamError("the file changed while it was read", where=str(file))

    @abstractmethod
    def iter_chunks(self, begin: int = 0, end: int | None = None, *, size: int | None = None) -> Iterator[Chunk]:
        """Yield the ids of steps `begin` to `end` (exclusive), in order; of all steps by default.

        Steps are ids in stores of raw integers, groups of rows in tables, and everything at once elsewhere. `size` is
        how many ids are read at once, or bytes of text; it changes the cost, never the ids. A file that is damaged or
        cut short is a TokenStreamError, and says where.
        """

    def read(self, *, size: int | None = None) -> Iterator[Chunk]:
        """Yield all ids, as `iter_chunks` does; if a file changed meanwhile, a TokenStreamError comes at the end."""
        yield from self.iter_chunks(size=size)
        self.check_unchanged()

    def starts(self) -> Int64Array:
        """Return the ids with which documents begin, in order; all of the store is read unless they are recorded."""
        found = [np.empty(0, dtype=np.int64)]
        first = 0
        for chunk in self.iter_chunks():
            if chunk.starts is not None:
                found.append(chunk.starts + first)
            first += len(chunk.ids)
        return np.concatenate(found)

    def boundary(self, step: int) -> int:
        """Return the last step up to `step` that begins with a document; 0 if only the first one does."""
        return step

    def location(self, number: int, token: int, index: int) -> Location:
        """Return where an id is: in document `number` of the file its id `token`, and in all of the store `index`."""
        if not self.has_documents:
            return Location(str(self.files[0]), "token", index, index)
        return Location(str(self.files[0]), self.unit, number, token)


class DocumentStore(Store):
    """A store that is read as a whole, document by document."""

    @abstractmethod
    def _documents(self) -> Iterator[Document]:
        """Yield all documents."""

    def iter_chunks(self, begin: int = 0, end: int | None = None, *, size: int | None = None) -> Iterator[Chunk]:
        """Yield the documents, joined to chunks of at least `size` ids; see :meth:`Store.iter_chunks`."""
        waiting: list[Document] = []
        n = 0
        for document in self._documents():
            waiting.append(document)
            n += len(document[1])
            if n >= (size or CHUNK):
                yield _joined(waiting)
                waiting, n = [], 0
        if waiting:
            yield _joined(waiting)


def _joined(documents: list[Document]) -> Chunk:
    numbers, ids, masks = zip(*documents, strict=True)
    mask = None if masks[0] is None else np.concatenate(masks)
    return Chunk(np.concatenate(ids), offsets_of(ids)[:-1], np.array(numbers, dtype=np.int64), mask)


IDS = ("input_ids", "token_ids", "tokens", "ids")
"""The usual names of ids: the names of Hugging Face, vLLM and LLM Foundry first."""

MASK = "loss_mask"
"""The usual name of the mask."""


def ids_field(names: Sequence[str], field: str | None, where: str, fitting: Sequence[str] = ()) -> str:
    """Return the field of the ids, with dots into objects: the one asked for, or one of the outermost `names`.

    A single one of `fitting`, the fields that may hold ids by their type, needs no usual name. `where` is for messages.
    """
    if field is None:
        usual = [name for name in IDS if name in names]
        found = usual[0] if usual else fitting[0] if len(fitting) == 1 else None
        if found is None:
            there = f"there are {', '.join(names)}" if names else "its records have no fields"
            what = "it is not clear which field has the ids"
            raise TokenStreamError(what, where=where, hint=f"give --field; {there}")
        return found
    outermost = field.partition(".")[0]
    if field not in names and outermost not in names:
        near = nearest(outermost, names)
        hint = f"did you mean {near}?" if near else f"there are {', '.join(names)}"
        raise TokenStreamError("the field is missing", value=field, where=where, hint=hint if names else None)
    return field


def value_of(record: object, field: str, where: str) -> object:
    """Return the value of a field of a record, with dots into objects."""
    if isinstance(record, Mapping) and field in record:
        return record[field]
    value = record
    for name in field.split("."):
        if not isinstance(value, Mapping) or name not in value:
            raise TokenStreamError("the field is missing", value=field, where=where)
        value = value[name]
    return value
