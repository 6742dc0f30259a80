"""The argument IDS: one store of ids, or standard input; and the options that say how to read it."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tokdfa.base.errors import AlphabetError, PatternError, TokdfaError, TokenStreamError
from tokdfa.base.files import read_named
from tokdfa.cli.output import remark

if TYPE_CHECKING:
    from tokdfa.base.arrays import Int64Array, IntegerArray
    from tokdfa.jobs.splices.parts import Part
    from tokdfa.jobs.validation.violation import Violation
    from tokdfa.stores.store import Chunk, Location, Store


def check_ids_output(path: str, option: str = "-o") -> None:
    """Refuse a file for ids if its name promises another format than .npy."""
    from tokdfa.stores.opening import names_another_format

    if names_another_format(Path(path)):
        what = f"{path}: ids are written as .npy only; give a name that ends in .npy"
        raise click.BadParameter(what, param_hint=option)


@contextmanager
def of_file(path: str | Path | None) -> Iterator[None]:
    """Have errors about ids name their file."""
    try:
        yield
    except TokenStreamError as error:
        if path is None or not (error.where or "").startswith("token "):
            raise
        where = f"{'standard input' if path == '-' else path}, {error.where}"
        raise TokenStreamError(error.what, value=error.value, where=where, hint=error.hint) from None


class Records:
    """The lines, rows, samples or members of a store that is being read: where in them ids are."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._starts: list[int] = []
        self._numbers: list[int] = []
        self._n_ids = 0

    def see(self, chunk: Chunk) -> None:
        """Remember the documents of a chunk."""
        if chunk.starts is not None and chunk.numbers is not None:
            self._starts += (chunk.starts + self._n_ids).tolist()
            self._numbers += chunk.numbers.tolist()
        self._n_ids += len(chunk.ids)

    def of(self, chunks: Iterator[Chunk]) -> Iterator[IntegerArray]:
        """Yield the ids of chunks, and remember their documents."""
        for chunk in chunks:
            self.see(chunk)
            if len(chunk.ids):
                yield chunk.ids

    def name(self, document: int) -> str:
        """Return the name of a document that has been read, such as ``line 4``."""
        return f"{self._store.unit} {self._numbers[document]:,}"

    def where(self, violation: Violation) -> Location:
        """Return where a violation is that has been read."""
        known = bisect_right(self._starts, violation.start) - 1
        if known < 0 or not self._store.has_documents:
            return self._store.location(0, violation.index, violation.index)
        token = violation.index - self._starts[known]
        return self._store.location(self._numbers[known], token, violation.index)


def ids_and_documents(
    ids: str, dtype: str | None, field: str | None, documents: str | None
) -> tuple[Iterator[IntegerArray], int | Int64Array | None, Records | None]:
    """Return the ids; the documents that are asked for, or else the documents of the store; and its records."""
    from tokdfa.stores import consistent, iter_ids, open_store

    if documents == "none" or ids == "-":
        separated = None if documents in (None, "none") else _documents(documents)
        return iter_ids(ids, dtype=dtype, field=field), separated, None
    if documents is not None:
        return iter_ids(ids, dtype=dtype, field=field), _documents(documents), None
    store = consistent(open_store(ids, dtype=dtype, field=field))
    starts = store.starts() if store.has_documents else None
    records = Records(store)
    return records.of(store.read()), starts, records if store.unit not in ("byte", "token") else None


def stream_of(ids: str, dtype: str | None, field: str | None, documents: str | None) -> Store:
    """Return the ids of one file, or of standard input, with the documents that another file gives, if there is one."""
    from tokdfa.jobs.shards.stream import IdStream
    from tokdfa.stores import consistent, iter_ids, open_store

    starts = None if documents in (None, "none") else _documents(documents)
    if ids == "-" or not (starts is None or isinstance(starts, int)):
        own = None if isinstance(starts, int) else starts
        return IdStream("standard input" if ids == "-" else ids, iter_ids(ids, dtype=dtype, field=field), own)
    return consistent(open_store(ids, dtype=dtype, field=field))


def _documents(value: str) -> int | Int64Array:
    """Return a separator, or the first token of each document from a file."""
    import numpy as np

    from tokdfa.stores import iter_ids

    if value.isascii() and value.isdecimal():
        return int(value)
    if not Path(value).exists():
        what = f"{value!r} is neither an id nor none, and there is no file of this name"
        raise click.BadParameter(what, param_hint="--documents")
    try:
        starts: Int64Array = np.concatenate([np.zeros(0, dtype=np.int64), *iter_ids(value)])
    except TokdfaError as error:
        raise click.BadParameter(str(error), param_hint="--documents") from None
    falling = np.flatnonzero(starts[1:] < starts[:-1])
    if falling.size:
        row = int(falling[0]) + 1
        what = f"{value}, row {row + 1}: document starts must ascend, not {starts[row]} after {starts[row - 1]}"
        raise click.BadParameter(what, param_hint="--documents")
    return starts


def ids_in(given: str, *, dtype: str | None = None, field: str | None = None) -> IntegerArray | list[int]:
    """Return the ids of an argument: numbers, such as 64,2513, or the store of this name, or standard input."""
    import numpy as np

    from tokdfa.stores import iter_ids

    if given.replace(",", " ").replace(" ", "0").isdecimal() and given.isascii():
        return listed_ids(given)
    found: IntegerArray = np.concatenate([np.zeros(0, dtype=np.int64), *iter_ids(given, dtype=dtype, field=field)])
    return found


def listed_ids(given: str, option: str = "ids") -> list[int]:
    """Return ids written as numbers."""
    words = given.replace(",", " ").split()
    wrong = next((word for word in words if not (word.isascii() and word.isdecimal() and len(word) < 10)), None)
    if wrong is not None:
        raise click.UsageError(f"{option}: {wrong!r} is not an id (ids are numbers, such as 64,2513)")
    return [*map(int, words)]


_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
_ESCAPE = re.compile(r"\\(?:([ntr\\])|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|)")


def given_text(text: str, *, escapes: bool) -> str:
    """Return a text given as an argument: with its escapes read, or literally, with a remark if it has some."""
    _check_utf8(text)
    if escapes:
        return _ESCAPE.sub(_read_escape, text)
    found = next((match[0] for match in _ESCAPE.finditer(text) if match[0] not in ("\\", "\\\\")), None)
    if found is not None:
        remark(f"{found} is taken literally, as {len(found)} characters (with --escapes it is one)")
    return text


def _check_utf8(text: str) -> None:
    """Refuse an argument with a byte that is not UTF-8, which Python reads as half of a surrogate pair."""
    wrong = next((index for index, symbol in enumerate(text) if "\udc80" <= symbol <= "\udcff"), None)
    if wrong is not None:
        before, bad = (part.encode("utf-8", "surrogateescape") for part in (text[:wrong], text[wrong]))
        raise AlphabetError("not UTF-8", value=bad, where=f"{_option_of(text)}, byte {len(before)}")


def _option_of(text: str) -> str:
    """Return the name of the argument or option of the current command that has this value."""
    context = click.get_current_context(silent=True)
    for parameter in [] if context is None else context.command.params:
        value = context.params.get(parameter.name or "") if context is not None else None
        if any(text in each for each in (value if isinstance(value, tuple) else [value]) if isinstance(each, str)):
            return parameter.opts[0] if isinstance(parameter, click.Option) else (parameter.name or "").upper()
    return "an argument"


def given_parts(text: str, *, escapes: bool) -> tuple[Part, ...]:
    """Return the parts of a text with slots; the escapes of a slot's regular expression are its own."""
    from tokdfa.jobs.splices.parts import checked_parts, parts_of

    _check_utf8(text)
    parts = parts_of(text)
    return checked_parts(given_text(part, escapes=escapes) if isinstance(part, str) else part for part in parts)


def _read_escape(match: re.Match[str]) -> str:
    sign, short, long = match.groups()
    if sign is not None:
        return _SIGNS[sign]
    point = int(short or long or "110000", 16)
    if point < 0x110000:
        return chr(point)
    where, value = (
        f"{_option_of(match.string)}, character {match.start()}",
        match.string[match.start() : match.start() + 10],
    )
    hint = r"known are \n, \t, \r, \\, \uXXXX and \UXXXXXXXX; without --escapes a text is literal"
    raise PatternError("an unknown escape in a text", value=value, where=where, hint=hint)


def check_one_text(text: str | None, path: str | None, does: str, *, escapes: bool = False) -> None:
    """Raise UsageError unless there is either a text or a file; remark if the text is the name of a file.

    `does` is the verb of the command, such as "encodes".
    """
    if (text is None) == (path is None):
        raise click.UsageError("give either TEXT or --file F, and not both")
    if escapes and text in (None, "-"):
        raise click.UsageError("--escapes is for TEXT; a file and standard input are read as they are")
    if text is not None and text != "-" and _is_file(text):
        remark(f"{text} is taken as a text, and there is a file of this name (--file {text} {does} the file)")


def read_text(text: str | None, path: str | None, *, escapes: bool = False) -> str:
    """Return the text, as :func:`given_text` does, or the text of the file; - is standard input for both."""
    if text is not None and text != "-":
        return given_text(text, escapes=escapes)
    if path is None or path == "-":
        name, data = "standard input", sys.stdin.buffer.read()
    else:
        name, data = path, read_named(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        bad = data[error.start : error.start + 4]
        raise AlphabetError("not UTF-8", value=bad, where=f"{name}, byte {error.start}") from None


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # Too long for a name, or with a null character.
        return False


def read_words(path: str) -> list[bytes]:
    """Return the words in a file, taken literally; empty lines are left out."""
    lines = read_named(path).removeprefix(b"\xef\xbb\xbf").splitlines()
    words = list(filter(None, lines))
    if not words:
        raise PatternError("the file contains no words", where=path, hint="write one word per line")
    return words


def read_patterns(path: str, other: str) -> dict[str, str]:
    """Return the patterns of a file, each with its replacement or name (`other`); empty lines are left out."""
    found: dict[str, str] = {}
    for number, line in enumerate(read_words(path), 1):
        pattern, tab, value = line.decode("utf-8", "surrogateescape").partition("\t")
        if not tab or not pattern or pattern in found:
            what = (
                "no tab after a pattern" if not tab else "no pattern" if not pattern else "the pattern is there twice"
            )
            hint = f"write a pattern, a tab and its {other} in each line"
            raise PatternError(what, value=line, where=f"{path}, pattern {number}", hint=hint)
        found[pattern] = value
    return found
