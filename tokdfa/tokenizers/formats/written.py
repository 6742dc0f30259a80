"""The vocabulary and the rules of a file as written, which need not be strings of Python to be found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, Uint8Array
from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.kernels.spelling.lookup import WordTable
from tokdfa.kernels.spelling.model import NOWHERE, SEPARATOR, ModelText, Scores, read_model
from tokdfa.tokenizers.decoder import Spellings
from tokdfa.tokenizers.formats.contents import LARGEST_ID
from tokdfa.tokenizers.formats.json_text import JsonObject, parse_object


def joined(parts: Sequence[str]) -> tuple[bytes, int]:
    """Return strings without lone surrogates in UTF-8, and the byte that separates them, which none contains."""
    text = "\0".join(parts).encode("utf-8")
    if text.count(0) == len(parts) - 1:
        return text, 0
    # No byte of UTF-8 is 0xFF.
    return "\udcff".join(parts).encode("utf-8", "surrogateescape"), 0xFF


@dataclass(eq=False)
class Pairs:
    """The rules of a file as written.

    `text` has the rules in UTF-8, separated by `outer`; each is two parts separated by `inner`. These are bytes that no
    part contains; where that does not hold, `find_columns` raises. The callables return the left parts and the right
    ones as strings, or raise the error that the file deserves; and the position of a rule for messages.
    """

    text: bytes | Uint8Array
    n_rules: int
    inner: int
    outer: int
    find_columns: Callable[[], tuple[list[str], list[str]]]
    where: Callable[[int], str]

    @classmethod
    def of_columns(cls, left: list[str], right: list[str], where: Callable[[int], str]) -> Pairs:
        """Return rules given as strings, without lone surrogates."""
        text, separator = joined([*chain.from_iterable(zip(left, right, strict=True))])
        return cls(text, len(left), separator, separator, lambda: (left, right), where)

    def some(self, indices: list[int]) -> Pairs:
        """Return the rules at some indices."""
        left, right = ([column[index] for index in indices] for column in self.columns)
        return Pairs.of_columns(left, right, lambda number: self.where(indices[number]))

    @cached_property
    def columns(self) -> tuple[list[str], list[str]]:
        """The left parts and the right ones."""
        return self.find_columns()

    def fault(self, what: str, index: int, error: type[FileFormatError] = UnsupportedFeatureError) -> FileFormatError:
        """Return an error about one rule."""
        left, right = self.columns
        return error(what, value=f"{left[index]} {right[index]}", where=self.where(index))


class Vocabulary:
    """Spellings without lone surrogates and their ids: distinct ones, and small enough for tables."""

    def __init__(self, spellings: list[str], ids: Int32Array, id_of: Mapping[str, int]) -> None:
        self.spellings, self.ids, self.id_of = spellings, ids, id_of

    @classmethod
    def of_text(cls, words: Spellings, ids: Int32Array, table: WordTable) -> Vocabulary:
        """Return the vocabulary of distinct words in UTF-8, each followed by `SEPARATOR`; `table` is theirs."""
        made = cls.__new__(cls)
        made.words, made.ids, made.table = words, ids, table
        return made

    @cached_property
    def spellings(self) -> list[str]:
        """The spelling of each token."""
        return self.words.text.tobytes().decode("utf-8")[:-1].split(chr(SEPARATOR))

    @cached_property
    def id_of(self) -> Mapping[str, int]:
        """The ids by spelling."""
        return dict(zip(self.spellings, self.ids.tolist(), strict=True))

    @cached_property
    def words(self) -> Spellings:
        """The spellings in UTF-8, each followed by one byte."""
        return in_utf8(self.spellings)

    @cached_property
    def table(self) -> WordTable:
        """The spellings, to be found in compiled code."""
        return WordTable(*self.words, 1)

    def ids_of(self, spellings: Iterable[str]) -> dict[str, int]:
        """Return the ids of some spellings, by spelling; those that are not in the vocabulary are left out."""
        wanted = list(spellings)
        if "id_of" in vars(self):
            return {spelling: self.id_of[spelling] for spelling in wanted if spelling in self.id_of}
        found = self.table.find([spelling.encode("utf-8", "surrogatepass") for spelling in wanted]).tolist()
        return {spelling: int(self.ids[at]) for spelling, at in zip(wanted, found, strict=True) if at >= 0}

    def __contains__(self, spelling: object) -> bool:
        return isinstance(spelling, str) and bool(self.ids_of([spelling]))

    def __len__(self) -> int:
        return len(self.ids)


def in_utf8(words: Sequence[str]) -> Spellings:
    """Return words without lone surrogates in UTF-8, each followed by one byte that none of them contains."""
    text, separator = joined(words)
    data = np.frombuffer(text + bytes([separator]), dtype=np.uint8)
    offsets: Int64Array = np.zeros(len(words) + 1, dtype=np.int64)
    if words:
        offsets[1:] = np.flatnonzero(data == separator) + 1
    return Spellings(data, offsets)


def check_vocabulary(fields: Mapping[str, Any], where: str) -> Vocabulary:
    """Check a JSON object of spellings and ids."""
    spellings = list(fields)
    values = list(fields.values())
    if not spellings:
        raise FileFormatError("the vocabulary has no tokens", where=where)
    if set(map(type, values)) != {int} or min(values) < 0 or max(values) > LARGEST_ID:
        what = f"an id must be an integer from 0 to {LARGEST_ID}"
        odd = next(key for key, value in fields.items() if type(value) is not int or not 0 <= value <= LARGEST_ID)
        raise FileFormatError(what, value=fields[odd], where=f"{where}.{odd}")
    if len(set(values)) < len(values):
        seen: dict[int, str] = {}
        again = next(spelling for spelling in spellings if seen.setdefault(fields[spelling], spelling) != spelling)
        what = f"the same id as that of {seen[fields[again]]!r}"
        raise FileFormatError(what, value=fields[again], where=f"{where}.{again}")
    return Vocabulary(spellings, np.array(values, dtype=np.int32), fields)


class PlainFile(NamedTuple):
    """A tokenizer.json with a sound vocabulary, and sound rules or scores; `top` is the file without these."""

    top: JsonObject
    vocabulary: Vocabulary
    scores: Scores | None
    text: ModelText

    def pairs(self, slowly: Callable[[], Pairs]) -> Pairs:
        """Return the rules, given a function that reads them slowly: for rules as strings, and for their errors."""
        found = self.text
        inner, rules = SEPARATOR if found.in_pairs else ord(" "), found.rules[:-1]
        if not found.in_pairs and b"\0#version" in b"\0" + rules.tobytes():
            return slowly()
        return Pairs(
            rules, found.n_rules, inner, SEPARATOR, lambda: slowly().columns, lambda index: slowly().where(index)
        )


def read_plain(data: bytes, path: Path, kind: str = "BPE", number: Callable[[str], float] = float) -> PlainFile | None:
    """Read a tokenizer.json with a plainly written model of a kind; None if anything is odd, or wrong.

    Then :func:`~tokdfa.tokenizers.formats.json_text.parse_object` reads it, or finds the error. `number` reads a number
    that is not an integer from its spelling, outside of the vocabulary.
    """
    is_scored, has_rules = kind == "Unigram", kind == "BPE"
    found = read_model(data, LARGEST_ID, scored=is_scored)
    if found is None or (found.merges != NOWHERE) != has_rules:
        return None
    parts: dict[str, Any] = {"vocab": [] if is_scored else {}} | ({"merges": []} if has_rules else {})
    cuts = ((found.vocab, b"[]" if is_scored else b"{}"), (found.merges, b"[]"))
    try:
        top = parse_object(_without(data, *cuts[: len(parts)]), path, number=number)
    except FileFormatError:
        return None
    model = top.fields.get("model")
    # A key may have been written in two ways.
    if not isinstance(model, dict) or any(model.get(key) != part for key, part in parts.items()):
        return None
    vocabulary = None if "merges" in model and not has_rules else _vocabulary(found)
    return None if vocabulary is None else PlainFile(top, vocabulary, found.scores, found)


def _vocabulary(found: ModelText) -> Vocabulary | None:
    """Return the vocabulary; None if two words, or two ids, are equal."""
    has_id = np.zeros(int(found.ids.max()) + 1, dtype=np.bool_)
    has_id[found.ids] = True
    table = WordTable(found.text, found.offsets, 1)
    if table.again >= 0 or np.count_nonzero(has_id) < len(found.ids):
        return None
    return Vocabulary.of_text(Spellings(found.text, found.offsets), found.ids, table)


def _without(data: bytes, *parts: tuple[tuple[int, int], bytes]) -> bytes:
    """Return the file with other text in the place of its parts."""
    kept, at = [], 0
    for (begin, end), other in sorted(parts):
        kept += [data[at:begin], other]
        at = end
    return b"".join((*kept, data[at:]))
