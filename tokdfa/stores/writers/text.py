"""Writing JSONL: of each line, only the lists that change are written anew, and all else stays byte for byte."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate
from json.decoder import scanstring  # type: ignore[attr-defined]
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from tokdfa.base.atomic import Data
from tokdfa.base.errors import TokenStreamError
from tokdfa.stores.archives import damage, opened, packing
from tokdfa.stores.store import ids_of, refused
from tokdfa.stores.text import JsonlStore
from tokdfa.stores.writers.edit import BATCH, MASKS, Edit, new_values

_DECODER = json.JSONDecoder()
_SPACE = " \t\n\r"
_NUMBERS = (bool, int, float)


class _Value(NamedTuple):
    """A value in a line, and where its text begins and ends."""

    value: Any
    begin: int
    end: int


_Fields = dict[str, _Value]


class _Line(NamedTuple):
    """A line, the number of it, its ids, and the lists of numbers next to them."""

    text: str
    number: int
    ids: _Value
    others: _Fields


def check_can_write(store: JsonlStore) -> None:
    """Accept any."""


def contents(store: JsonlStore, edit: Edit, folder: Path) -> dict[str | Path, Data]:
    """Return the file with other ids, packed like the old one."""
    return {folder / store.path.name: partial(_write, store, edit)}


def _write(store: JsonlStore, edit: Edit, stream: BinaryIO) -> None:
    with packing(stream, store.compression) as packed:
        waiting: list[_Line | str] = []
        n = 0
        for line in _lines(store):
            waiting.append(line)
            n += 0 if isinstance(line, str) else len(line.ids.value)
            if n >= BATCH:
                packed.write(_edited(store, edit, waiting))
                waiting, n = [], 0
        packed.write(_edited(store, edit, waiting))


def _lines(store: JsonlStore) -> Iterator[_Line | str]:
    """Yield the lines; those that are blank as they are."""
    number = 0
    what = "the file is cut short or damaged"
    with refused(what, damage, lambda: store.path), opened(store.path, store.compression) as stream:
        for number, line in enumerate(stream, 1):
            try:
                text = line.decode("utf-8")
                yield _read(text, number, store.field) if text.strip(_SPACE) else text
            except (ValueError, RecursionError, KeyError, IndexError) as error:
                where = f"{store.path}, line {number}"
                raise TokenStreamError(
                    "the line is not JSON with a list of ids", value=str(error), where=where
                ) from None


def _read(text: str, number: int, field: str | None) -> _Line:
    begin = _after_space(text, 0)
    if field is None:
        ids = _value(text, begin)
        _check_end(text, ids.end)
        return _Line(text, number, ids, {})
    fields, end = _fields(text, begin)
    _check_end(text, end)
    names = [field] if field in fields else field.split(".")
    for name in names[:-1]:
        fields, _ = _fields(text, fields[name].begin)
    others = {
        name: each
        for name, each in fields.items()
        if name != names[-1] and isinstance(each.value, list) and all(type(one) in _NUMBERS for one in each.value)
    }
    return _Line(text, number, fields[names[-1]], others)


def _check_end(text: str, at: int) -> None:
    if _after_space(text, at) < len(text):
        raise ValueError(f"more data at character {at}")


def _fields(text: str, at: int) -> tuple[_Fields, int]:
    """Return the fields of an object, of several with the same name the last one, as `json` does; and its end."""
    found: _Fields = {}
    if text[at] != "{":
        raise ValueError(f"no object at character {at}")
    at = _after_space(text, at + 1)
    while text[at] != "}":
        name, at = scanstring(text, at + 1, True)
        at = _after_space(text, at)
        if text[at] != ":":
            raise ValueError(f"no colon at character {at}")
        found[name] = _value(text, _after_space(text, at + 1))
        at = _after_space(text, found[name].end)
        if text[at] == ",":
            at = _after_space(text, at + 1)
    return found, at + 1


def _value(text: str, at: int) -> _Value:
    value, end = _DECODER.raw_decode(text, at)
    return _Value(value, at, end)


def _after_space(text: str, at: int) -> int:
    while text[at : at + 1] in _SPACE and at < len(text):
        at += 1
    return at


def _edited(store: JsonlStore, edit: Edit, lines: Sequence[_Line | str]) -> bytes:
    """Return lines with other ids."""
    records = [line for line in lines if not isinstance(line, str)]
    if not records:
        return "".join(map(str, lines)).encode()
    own = [ids_of(line.ids.value, f"{store.path}, line {line.number}") for line in records]
    lengths = np.array([*map(len, own)], dtype=np.int64)
    where = f"{store.path}, lines {records[0].number} to {records[-1].number}"
    starts = np.cumsum(lengths) - lengths
    edited = edit.documents(np.concatenate(own), starts, where)
    changed = {*edited.changed.tolist()}
    if not changed:
        return "".join(line if isinstance(line, str) else line.text for line in lines).encode()
    new: list[list[tuple[_Value, list[Any]]]] = [
        [(line.ids, ids.tolist())] for line, ids in zip(records, edited.documents(), strict=True)
    ]
    bounds = [*edited.starts.tolist(), len(edited.ids)]
    for name in dict.fromkeys(name for line in records for name in line.others):
        there = [line.others[name].value for line in records if name in line.others]
        if len(there) < len(records):
            if name in MASKS:
                raise TokenStreamError("some lines have no such mask", value=name, where=where)
            continue
        values = np.empty(sum(map(len, there)), dtype=object)
        values[:] = [each for part in there for each in part]
        carried = new_values(edited, name, values, [*map(len, there)], lengths, where)
        if carried is not None:
            for at, line in enumerate(records):
                new[at].append((line.others[name], carried[bounds[at] : bounds[at + 1]].tolist()))
    numbers = accumulate((not isinstance(line, str) for line in lines), initial=0)
    return "".join(
        line if isinstance(line, str) else line.text if at not in changed else _spliced(line.text, new[at])
        for at, line in zip(numbers, lines, strict=False)
    ).encode()


def _spliced(text: str, lists: list[tuple[_Value, list[Any]]]) -> str:
    """Return a line with other lists, which have blanks after commas if the old ones had some."""
    parts = []
    at = 0
    for old, values in sorted(lists, key=lambda each: each[0].begin):
        comma = ", " if ", " in text[old.begin : old.end] else ","
        parts += [text[at : old.begin], json.dumps(values, separators=(comma, ":"))]
        at = old.end
    return "".join(parts) + text[at:]
