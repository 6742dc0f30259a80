"""Words as labels, which are readable and different for different words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tokdfa.automata.alphabet import Word

__all__ = ["character_sign", "word_label", "word_labels"]

_OWN_SIGNS = {" ": "␣", "\n": r"\n", "\t": r"\t", "\r": r"\r", "␣": r"\u2423"}
_LEAST_RANGE = 4
_LOOKS_ESCAPED = re.compile(r"\\[\\xuUntr]")


def word_label(word: Word) -> str:
    r"""Return the label of `word` in a picture.

    Printable text is shown as it is, except that a space is shown as ``␣``. Line breaks, control characters, lone
    surrogates, bytes that are not UTF-8 and all other unprintable characters become escapes: ``\n``, ``\x00``,
    ``\u200f``. In a word that has any of these, or reads as if it had, backslashes are doubled. So different words over
    one alphabet have different labels, except that the symbols of a word over longer symbols are joined without a mark.
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
    """Yield the labels of `words` in order, each with the number of words that it represents.

    Four or more symbols with consecutive codes become one label such as ``a … z``. No word has such a label, because a
    space in a word is shown as ``␣``.
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
    # A symbol of several characters is not consecutive with any other.
    return ord(first) if len(first) == 1 else -2 - 2 * len(first)


def character_sign(character: str) -> str:
    """Return the sign of one character: itself if it is printable, otherwise an escape, and ``␣`` for a space."""
    if character in _OWN_SIGNS:
        return _OWN_SIGNS[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _byte_sign(character: str) -> str:
    """Return the sign of a character decoded from bytes, where a surrogate represents a byte that is not UTF-8."""
    code = ord(character)
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else character_sign(character)
