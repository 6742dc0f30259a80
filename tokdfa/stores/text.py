"""Integers as text: separated by white space, or as a JSON array, in files and streams; and JSONL, also packed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Literal, NoReturn

import numpy as np

from tokdfa.base.arrays import BoolArray, IntegerArray
from tokdfa.base.errors import TokenStreamError
from tokdfa.base.files import open_named
from tokdfa.stores.archives import damage, opened
from tokdfa.stores.store import MASK, Chunk, Document, DocumentStore, Store, ids_field, ids_of, value_of

BLOCK = 1 << 20
"""The number of bytes of text that are read at once."""

LONGEST = 64
"""The largest number of bytes of an integer."""

_ONE_STREAM = "give one stream of ids; tokdfa rollouts reads many, one object in each line of a .jsonl file"

_SPACES = (b" ", b"\t", b"\n", b"\r", b"\v", b"\f")
_SPACE = b"".join(_SPACES)
_JSON_SPACE = b" \t\n\r"
_INTEGER = re.compile(rb"-?[0-9]+")
# At most LONGEST bytes, for blocks of any size.
_TEXT_INTEGER = re.compile(rb"-[0-9]{1,63}|[0-9]{1,64}")
_JSON_INTEGER = re.compile(rb"-?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class WrittenStore(Store):
    """A file of integers as text: one JSON array, or separated by white space."""

    def __init__(self, path: Path, is_json: bool) -> None:
        # A missing file is reported now; a file is kept open only while it is read.
        with path.open("rb"):
            pass
        super().__init__(path, "JSON" if is_json else "text")
        self._read = _json if is_json else _text

    def iter_chunks(self, begin: int = 0, end: int | None = None, *, size: int | None = None) -> Iterator[Chunk]:
        """Yield the integers; see :meth:`Store.iter_chunks`."""
        yield from map(Chunk, self._read(_blocks(open_named(self.path), size), str(self.path)))


def iter_text_or_json(stream: BinaryIO, name: str, *, size: int | None = None) -> Iterator[IntegerArray]:
    """Yield the integers of a JSON array if the stream begins like one, and otherwise the integers of a text."""
    blocks = _blocks(stream, size)
    begin = b""
    for block in blocks:
        begin += block
        if begin.lstrip(_SPACE):
            break
    read = _json if begin.lstrip(_SPACE).startswith(b"[") else _text
    yield from read(chain([begin], blocks), name)


def _blocks(stream: BinaryIO, size: int | None) -> Iterator[bytes]:
    with stream:
        while block := stream.read(size or BLOCK):
            yield block


def _text(blocks: Iterator[bytes], name: str) -> Iterator[IntegerArray]:
    rest = b""
    line = 1
    empty = True
    for block in chain(blocks, [b"\n"]):
        text = rest + block
        # The word after the last white space may continue in the next block.
        end = 1 + max(text.rfind(space) for space in _SPACES)
        words = text[:end].split()
        ids = _integers(words, _TEXT_INTEGER)
        if isinstance(ids, int):
            _refuse(words[ids], f"{name}, line {line + _lines_before(text, words, ids)}")
        if words:
            empty = False
            yield ids
        line += text.count(b"\n", 0, end)
        rest = text[end:]
        if len(rest) > LONGEST:
            _refuse(rest, f"{name}, line {line}")
    if empty:
        raise TokenStreamError("no ids: it holds nothing but white space", where=name)


def _json(blocks: Iterator[bytes], name: str) -> Iterator[IntegerArray]:
    array = _JsonArray(name)
    for block in blocks:
        ids = array.read(block)
        if len(ids):
            yield ids
    array.finish()


class _JsonArray:
    """A flat JSON array of integers, read in blocks."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._rest = b""
        self._offset = 0  # The offset at which the rest begins.
        self._part: Literal["before", "inside", "behind"] = "before"
        self._empty = True

    def read(self, block: bytes) -> IntegerArray:
        """Return the integers that this block completes."""
        self._rest += block
        ids: IntegerArray = np.empty(0, dtype=np.int64)
        if self._part == "before" and self._skip_space():
            if not self._rest.startswith(b"["):
                self._refuse("expected an array of integers", _ONE_STREAM if self._rest.startswith(b"{") else None)
            self._take(1)
            self._part = "inside"
        if self._part == "inside":
            ids = self._items()
        if self._part == "behind" and self._skip_space():
            self._refuse("there is data after the array", _ONE_STREAM if self._rest.startswith(b"[") else None)
        return ids

    def finish(self) -> None:
        """Check that the array has ended."""
        if self._part == "before":
            raise TokenStreamError("no ids: the input is empty", where=self._name)
        if self._part == "inside":
            where = f"{self._name}, byte {self._offset + len(self._rest)}"
            raise TokenStreamError("the array is not closed", where=where, hint="is the file cut short?")

    def _items(self) -> IntegerArray:
        bracket = self._rest.find(b"]")
        end = bracket if bracket >= 0 else self._rest.rfind(b",")
        if end < 0:
            self._skip_space()
            word = self._rest.rstrip(_JSON_SPACE)
            if len(word) > LONGEST:
                _refuse_item(word, f"{self._name}, byte {self._offset}")
            return np.empty(0, dtype=np.int64)
        items = self._rest[:end].split(b",")
        words = [item.strip(_JSON_SPACE) for item in items]
        if bracket >= 0 and self._empty and words == [b""]:
            items = words = []
        ids = _integers(words, _JSON_INTEGER)
        if isinstance(ids, int):
            self._take(sum(len(item) + 1 for item in items[:ids]))
            self._skip_space()
            _refuse_item(words[ids], f"{self._name}, byte {self._offset}")
        self._empty = False
        self._take(end + 1)
        if bracket >= 0:
            self._part = "behind"
        return ids

    def _take(self, length: int) -> None:
        self._rest = self._rest[length:]
        self._offset += length

    def _skip_space(self) -> bool:
        """Drop white space at the beginning of the rest, and return whether anything is left."""
        self._take(len(self._rest) - len(self._rest.lstrip(_JSON_SPACE)))
        return bool(self._rest)

    def _refuse(self, what: str, hint: str | None = None) -> NoReturn:
        where = f"{self._name}, byte {self._offset}"
        raise TokenStreamError(what, value=_shown(self._rest), where=where, hint=hint)


def _integers(words: list[bytes], form: re.Pattern[bytes]) -> IntegerArray | int:
    """Return the integers of these words, or the index of the first word that is not an integer of 64 bits."""
    if all(map(form.fullmatch, words)):
        try:
            return np.array(list(map(int, words)), dtype=np.int64)
        except (OverflowError, ValueError):
            pass
    return next(index for index, word in enumerate(words) if not form.fullmatch(word) or _exceeds_64_bits(word))


def _exceeds_64_bits(word: bytes) -> bool:
    return len(word) > LONGEST or not -(2**63) <= int(word) < 2**63


def _lines_before(text: bytes, words: list[bytes], index: int) -> int:
    """Return the number of lines of `text` that end before word `index`."""
    at = 0
    for word in words[: index + 1]:
        at = text.index(word, at) + len(word)
    return text.count(b"\n", 0, at)


def _refuse(word: bytes, where: str) -> NoReturn:
    if _INTEGER.fullmatch(word):
        what = "an integer of more than 64 bits" if _exceeds_64_bits(word) else "an integer with leading zeros"
        raise TokenStreamError(what, value=_shown(word), where=where)
    if word.startswith(b"+") and _INTEGER.fullmatch(word[1:]):
        what = "an integer must not have a plus sign"
        raise TokenStreamError(what, value=_shown(word), where=where, hint="leave it out")
    if _FLOAT.fullmatch(word):
        raise TokenStreamError("ids must be integers, not floats", value=_shown(word), where=where)
    hint = _ONE_STREAM if word.startswith(b"{") else None
    raise TokenStreamError("not an integer", value=_shown(word), where=where, hint=hint)


def _refuse_item(item: bytes, where: str) -> NoReturn:
    if item.startswith((b"[", b"{")):
        what = "expected one flat array of integers"
        raise TokenStreamError(what, value=_shown(item), where=where, hint=_ONE_STREAM)
    if not item:
        raise TokenStreamError("a comma with nothing before or after it", where=where)
    _refuse(item, where)


def _shown(data: bytes) -> str:
    return data[:LONGEST].decode("utf-8", "backslashreplace")


def iter_json_lines(path: Path, compression: str = "") -> Iterator[tuple[int, object | TokenStreamError]]:
    """Yield the values of the lines of a file that are not blank, each with the number of its line, from 1.

    A line that is not JSON yields an error; so does damage in a packed file, once, and ends the iteration.
    """
    number = 0
    with opened(path, compression) as stream:
        try:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield number, _value(line)
        except damage() as error:
            yield number + 1, TokenStreamError("the file is cut short or damaged", value=str(error))


def _value(line: bytes) -> object | TokenStreamError:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        what = "the line is not JSON" if line.endswith(b"\n") else "the last line is not whole"
        return TokenStreamError(what, value=_shown(line), hint=str(error))
    return value


class JsonlStore(DocumentStore):
    """A file with one JSON object a line; the ids in a field, by default one with a usual name, are a document."""

    def __init__(self, path: Path, compression: str = "", field: str | None = None) -> None:
        first = next((value for _, value in iter_json_lines(path, compression)), None)
        if isinstance(first, TokenStreamError):
            raise TokenStreamError(first.what, value=first.value, where=f"{path}, line 1", hint=first.hint)
        if first is None:
            raise TokenStreamError("no ids: the file is empty", where=str(path))
        names = [*first] if isinstance(first, dict) else []
        self.field = None if isinstance(first, list) and field is None else ids_field(names, field, str(path))
        self._mask = MASK if MASK in names else None
        self.compression = compression
        name = "JSONL" + (f" ({compression})" if compression else "")
        super().__init__(path, name, has_documents=True, has_mask=self._mask is not None, unit="line")

    def _documents(self) -> Iterator[Document]:
        for number, value in iter_json_lines(self.path, self.compression):
            where = f"{self.path}, line {number}"
            if isinstance(value, TokenStreamError):
                raise TokenStreamError(value.what, value=value.value, where=where, hint=value.hint)
            ids = ids_of(value if self.field is None else value_of(value, self.field, where), where)
            mask = None if self._mask is None else _mask(value_of(value, self._mask, where), len(ids), where)
            yield number, ids, mask


def _mask(value: object, n: int, where: str) -> BoolArray:
    if not isinstance(value, list) or len(value) != n or not all(flag in (0, 1) for flag in value):
        raise TokenStreamError("the mask must have a 0 or 1 for each id", value=value, where=where)
    return np.array(value, dtype=np.bool_)
