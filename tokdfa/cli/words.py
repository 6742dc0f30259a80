"""The file of --words: words to search for, one per line."""

from __future__ import annotations

from pathlib import Path

from tokdfa.errors import PatternError

__all__ = ["read_words"]


def read_words(path: str) -> list[bytes]:
    """Return the words in a file, taken literally; empty lines are left out.

    Raises
    ------
    PatternError
        If there are none.
    """
    lines = Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines()
    words = list(filter(None, lines))
    if not words:
        raise PatternError("the file contains no words", where=path, hint="write one word per line")
    return words
