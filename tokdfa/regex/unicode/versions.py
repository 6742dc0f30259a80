"""The tables of other versions of the libraries, as differences to the newest ones.

A table belongs to a range of versions. Its name is its library with one of these versions, such as
``tokenizers==0.20.3``; the name of the library alone means the newest table.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from tokdfa.base.errors import PatternError, UnsupportedFeatureError, WrongTypeError

Table: TypeAlias = Literal["regex", "tokenizers", "tiktoken", "llama.cpp"]
LIBRARIES: tuple[Table, ...] = get_args(Table)
"""The libraries that have tables."""
TABLES: tuple[Table, ...] = LIBRARIES[:3]
"""The libraries with dialects in which users write patterns; the patterns of llama.cpp are its own."""


@dataclass(frozen=True, slots=True)
class Range:
    """Versions of a library that have one table, oldest first.

    The name of the table is the library, if it is the newest one; otherwise with the newest of the versions.
    """

    library: Table
    versions: tuple[str, ...]
    name: str

    def __str__(self) -> str:
        first, last = self.versions[0], self.versions[-1]
        return first if first == last else f"{first} to {last}"


def data_file(name: str) -> Path:
    """Return a file of tables: the newest ones of a library, or of normalization, graphemes or other versions."""
    return Path(__file__).with_name("data").joinpath(f"{name}.json")


def read_data(name: str) -> dict[str, Any]:
    """Return the content of such a file."""
    data: dict[str, Any] = json.loads(data_file(name).read_text("utf-8"))
    return data


@cache
def _file() -> dict[str, Any]:
    return read_data("versions")


@cache
def ranges_of(library: Table) -> tuple[Range, ...]:
    """Return the ranges of versions that have one table each, the newest first."""
    parts = [tuple(entry["versions"]) for entry in _file()[library]]
    names = [library, *(f"{library}=={versions[-1]}" for versions in parts[1:])]
    return tuple(Range(library, versions, name) for versions, name in zip(parts, names, strict=True))


def known_versions(library: Table) -> tuple[str, ...]:
    """Return the versions of a library with known tables, oldest first."""
    return tuple(number for part in reversed(ranges_of(library)) for number in part.versions)


def library_of(table: str) -> Table:
    """Return the library of a table, given by its name."""
    library = table.partition("==")[0] if isinstance(table, str) else table
    for known in LIBRARIES:
        if library == known:
            return known
    raise PatternError("unknown table of character classes", value=table, hint=f"use one of {', '.join(TABLES)}")


def resolve(unicode: str) -> Range:
    """Return the range of versions that has the table of a version, written as ``tokenizers==0.20.3``.

    If it is not of that form, or the tables of that version are not known, the error says which are.
    """
    if not isinstance(unicode, str):
        raise WrongTypeError("a version of the tables is a str such as 'tokenizers==0.20.3'", value=unicode)
    library, mark, number = (part.strip() for part in unicode.partition("=="))
    if library not in TABLES or not mark:
        hint = f"write NAME==VERSION with one of the names {', '.join(TABLES)}; tokdfa formats lists the versions"
        raise UnsupportedFeatureError("no library has Unicode tables of this name", value=unicode, hint=hint)
    known = ranges_of(library_of(library))
    for part in known:
        if number in part.versions:
            return part
    raise UnsupportedFeatureError(
        f"the Unicode tables of this version of {library} are not known",
        value=unicode,
        hint=f"known, one table each: {'; '.join(map(str, known))}; tokdfa formats lists every version",
    )


def patched(table: str) -> dict[str, Any]:
    """Return the data of a table, made from the newest one of its library."""
    library = library_of(table)
    data = read_data(library)
    if "==" not in table:
        return data
    name = resolve(table).name
    for entry, part in zip(_file()[library], ranges_of(library), strict=True):
        _apply(data, entry, part)
        if part.name == name:
            break
    return data


def _apply(data: dict[str, Any], entry: dict[str, Any], part: Range) -> None:
    """Turn the data of a table into the data of the next older one."""
    data["version"] = part.versions[-1]
    for name, deltas in entry.get("classes", {}).items():
        changed = symmetric_difference(data["classes"].get(name, []), deltas)
        data["classes"][name] = changed
        if not changed:
            del data["classes"][name]
    gone, new = entry.get("case", ([], []))
    data["case"] = sorted([members for members in data["case"] if members not in gone] + new)


def symmetric_difference(one: Iterable[int], other: Iterable[int]) -> list[int]:
    """Return the code points that are in one of two sets, given as distances between and lengths of ranges.

    The ends of ranges of the result are the ends in one of the sets that are not ends in both.
    """
    edges = sorted(set(accumulate(one)) ^ set(accumulate(other)))
    return [edge - before for edge, before in zip(edges, [0, *edges], strict=False)]


def changed_normalizers(table: str) -> frozenset[str]:
    """Return the names of the normalizers that do something else with a table than with the newest one."""
    if "==" not in table:
        return frozenset()
    name = resolve(table).name
    library = library_of(table)
    entries = zip(_file()[library], ranges_of(library), strict=True)
    return frozenset(next(entry.get("normalizers", ()) for entry, part in entries if part.name == name))
