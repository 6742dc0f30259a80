"""The texts that a command reads: arguments, files or standard input. Arguments are literal without --escapes."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tokdfa.base.errors import AlphabetError, PatternError
from tokdfa.cli.output import remark

if TYPE_CHECKING:
    from tokdfa.jobs.splices.parts import Part

escapes_option = click.option(
    "--escapes",
    is_flag=True,
    help=r"Read \n, \t, \r, \\, \uXXXX and \UXXXXXXXX in texts given as arguments; by default these are literal.",
)

_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
_ESCAPE = re.compile(r"\\(?:([ntr\\])|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|)")


def given_text(text: str, *, escapes: bool) -> str:
    """Return a text given as an argument: with its escapes read, or literally, with a remark if it has some."""
    if escapes:
        return _ESCAPE.sub(_read_escape, text)
    found = next((match[0] for match in _ESCAPE.finditer(text) if match[0] not in ("\\", "\\\\")), None)
    if found is not None:
        remark(f"{found} is taken literally, as {len(found)} characters (with --escapes it is one)")
    return text


def given_parts(text: str, *, escapes: bool) -> tuple[Part, ...]:
    """Return the parts of a text with slots; the escapes of a slot's regular expression are its own."""
    from tokdfa.jobs.splices.parts import checked_parts, parts_of

    parts = parts_of(text)
    return checked_parts(given_text(part, escapes=escapes) if isinstance(part, str) else part for part in parts)


def _read_escape(match: re.Match[str]) -> str:
    sign, short, long = match.groups()
    if sign is not None:
        return _SIGNS[sign]
    point = int(short or long or "110000", 16)
    if point < 0x110000:
        return chr(point)
    where, value = f"character {match.start()}", match.string[match.start() : match.start() + 10]
    hint = r"known are \n, \t, \r, \\, \uXXXX and \UXXXXXXXX; without --escapes a text is literal"
    raise PatternError("an unknown escape in a text", value=value, where=where, hint=hint)


def check_one_text(text: str | None, path: str | None, does: str, *, escapes: bool = False) -> None:
    """Raise UsageError unless there is either a text or a file; remark if the text is the name of a file.

    `does` says what the command does, such as "encodes".
    """
    if (text is None) == (path is None):
        raise click.UsageError("give either TEXT or --file F, and not both")
    if escapes and text is None:
        raise click.UsageError("--escapes is for TEXT; a file is read as it is")
    if text is not None and _is_file(text):
        remark(f"{text} is taken as a text, and there is a file of this name (--file {text} {does} the file)")


def read_text(text: str | None, path: str | None, *, escapes: bool = False) -> str:
    """Return the text, as :func:`given_text` does, or the text of the file; - is standard input."""
    if text is not None:
        return given_text(text, escapes=escapes)
    assert path is not None
    data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        bad = data[error.start : error.start + 4]
        raise AlphabetError("not UTF-8", value=bad, where=f"{path}, byte {error.start}") from None


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # Too long for a name, or with a null character.
        return False


def read_words(path: str) -> list[bytes]:
    """Return the words in a file, taken literally; empty lines are left out."""
    lines = Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines()
    words = list(filter(None, lines))
    if not words:
        raise PatternError("the file contains no words", where=path, hint="write one word per line")
    return words
