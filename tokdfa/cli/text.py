"""The text that a command reads: an argument, a file or standard input."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tokdfa.cli.output import remark

__all__ = ["check_one_text", "read_text"]


def check_one_text(text: str | None, path: str | None, does: str) -> None:
    """Raise UsageError unless there is either a text or a file; remark if the text is the name of a file.

    `does` says what the command does, such as "encodes".
    """
    if (text is None) == (path is None):
        raise click.UsageError("give either TEXT or --file F, and not both")
    if text is not None and _is_file(text):
        remark(f"{text} is taken as a text, and there is a file of this name (--file {text} {does} the file)")


def read_text(text: str | None, path: str | None) -> str:
    """Return the text, or that of the file; - is standard input.

    Raises
    ------
    AlphabetError
        If it is not UTF-8; the error says where.
    OSError
        If the file cannot be read.
    """
    if text is not None:
        return text
    from tokdfa.errors import AlphabetError

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
