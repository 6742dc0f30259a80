"""Words as labels: readable, and never two words with one label."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tokdfa.alphabet import Word

__all__ = ["character_sign", "word_label", "word_labels"]

_OWN_SIGNS = {" ": "␣", "\n": r"\n", "\t": r"\t", "\r": r"\r", "␣": r"\u2423"}
_LEAST_RANGE = 4
_LOOKS_ESCAPED = re.compile(r"\\[\\xuUntr]")


def word_label(word: Word) -> str:
    r"""Return `word` as it should stand in a picture.

    Printable text stands for itself, but a space is shown as ``␣``. Line breaks, control characters, lone surrogates,
    bytes that are not UTF-8 and whatever else does not print become escapes: ``\n``, ``\x00``, ``\u200f``. A word
    that has any of these, or that reads as if it had, also gets its backslashes doubled. So the labels of different
    words over one alphabet differ; only the symbols of a word over longer symbols are joined without a trace.
    """
    if isinstance(word, bytes):
        text = word.decode("utf-8", "surrogateescape")
        signs = [_byte_sign(character) for character in text]
    else:
        text = word if isinstance(word, str) else "".join(word)
        signs = [character_sign(character) for character in text]
    if any(sign.startswith("\\") for sign, character in zip(signs, text, strict=True) if character != "\\") or (
        _LOOKS_ESCAPED.search(text)
    ):
        signs = [r"\\" if sign == "\\" else sign for sign in signs]
    return "".join(signs)


def word_labels(words: Iterable[Word]) -> Iterator[tuple[str, int]]:
    """Yield the labels of `words` in their order, each with the number of words that it stands for.

    Four or more symbols of which each is the next after the one before, by their codes, become one label such as
    ``a … z``. It is that of no word, for a space in a word is shown as ``␣``.
    """
    run: list[Word] = []
    for word in words:
        if run and not (len(word) == len(run[-1]) == 1 and _code(word) == _code(run[-1]) + 1):
            yield from _flushed(run)
            run = []
        run.append(word)
    yield from _flushed(run)


def _flushed(run: list[Word]) -> Iterator[tuple[str, int]]:
    if len(run) >= _LEAST_RANGE:
        yield f"{word_label(run[0])} … {word_label(run[-1])}", len(run)
    else:
        yield from ((word_label(word), 1) for word in run)


def _code(symbol: Word) -> int:
    first = symbol[0]
    if isinstance(first, int):
        return first
    # A symbol of several characters follows nothing and nothing follows it.
    return ord(first) if len(first) == 1 else -2 - 2 * len(first)


def character_sign(character: str) -> str:
    """Return how one character is shown: as itself when it prints, as an escape when it does not, ``␣`` for a space."""
    if character in _OWN_SIGNS:
        return _OWN_SIGNS[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _byte_sign(character: str) -> str:
    """Return the sign of a character decoded from bytes, where a surrogate stands for a byte that is not UTF-8."""
    code = ord(character)
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else character_sign(character)
