"""The parts of pieces that trainers keep: their alphabets leave out rare characters, and scripts part words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.base.arrays import IntegerArray
from tokdfa.base.errors import PatternError, UnsupportedFeatureError
from tokdfa.base.files import read_named
from tokdfa.regex.unicode.tables import ranges

_SPACE = "▁"
_UNKNOWN = "▅"
_DIGITS = frozenset("0123456789０１２３４５６７８９")
_ANY = -1


def dropped(pieces: Mapping[Any, int], symbols: frozenset[Word]) -> dict[Any, int]:
    """Return pieces without the characters that are not symbols, as tokenizers drops them (``limit_alphabet``)."""
    if any(isinstance(piece, tuple) for piece in pieces):
        return _added((tuple(symbol for symbol in piece if (symbol,) in symbols), n) for piece, n in pieces.items())
    table = {ord(symbol): "" for symbol in _others(pieces, symbols)}
    return _added((piece.translate(table), n) for piece, n in pieces.items())


def _others(pieces: Mapping[str, int], symbols: frozenset[Word]) -> set[str]:
    return {symbol for piece in pieces for symbol in piece}.difference(symbols)


def _added(pieces: Iterable[tuple[Any, int]]) -> dict[Any, int]:
    found: dict[Any, int] = {}
    for piece, n in pieces:
        if piece:
            found[piece] = found.get(piece, 0) + n
    return found


class Spec(NamedTuple):
    """The settings of a SentencePiece model by which its trainer parts words, which the file records."""

    longest: int = 16
    by_script: bool = True
    by_number: bool = True
    by_digit: bool = False
    longest_line: int = 4192

    @classmethod
    def read(cls, path: str | Path) -> Spec:
        """Return the settings of a model; others that change what is merged are refused."""
        from tokdfa.tokenizers.formats.sentencepiece import trainer_spec

        spec = trainer_spec(read_named(path), Path(path))
        usual = {
            "split_by_whitespace": True, "treat_whitespace_as_suffix": False, "allow_whitespace_only_pieces": False,
            "pretokenization_delimiter": "",
        }  # fmt: skip
        for name, value in usual.items():
            if getattr(spec, name, value) != value:
                what = f"training with {name} is not replayed"
                raise UnsupportedFeatureError(what, value=getattr(spec, name), where=str(path))
        return cls(
            spec.max_sentencepiece_length, spec.split_by_unicode_script, spec.split_by_number, spec.split_digits,
            spec.max_sentence_length,
        )  # fmt: skip

    def line(self, rewriter: Callable[[str], str] | None, line: str) -> str:
        """Return a line rewritten; nothing for one that the trainer leaves out, because it is long or has U+2585."""
        text = line.removesuffix("\n")
        if len(text.encode("utf-8", "surrogatepass")) > self.longest_line or _UNKNOWN in text:
            return ""
        return line if rewriter is None else rewriter(line)

    def words(self, words: Mapping[str, int], symbols: frozenset[Word]) -> dict[str, int]:
        """Return the parts of words between which SentencePiece never merges.

        Characters that are not symbols (``character_coverage``) part words, and so do scripts and digits.
        """
        table = {ord(symbol): "\n" for symbol in _others(words, symbols)}
        parts = ((part, n) for word, n in words.items() for part in word.translate(table).split("\n"))
        return _added((run, n) for part, n in parts for run in self._runs(part))

    def _runs(self, word: str) -> Iterator[str]:
        begin, script = 0, _ANY
        for at, character in enumerate(word):
            if character == _SPACE:
                continue
            found = self._script(character)
            is_inherited = found == _inherited()
            found = script if is_inherited else found
            is_digit = self.by_digit and (character in _DIGITS or (at > 0 and word[at - 1] in _DIGITS))
            parts = self.by_script and _ANY not in (found, script) and found != script
            if parts and at > 0 and self._script(word[at - 1]) == _inherited():
                what = "a combining mark between letters of two scripts is not replayed"
                raise UnsupportedFeatureError(what, value=word)
            if at > begin and (parts or is_digit):
                yield word[begin:at]
                begin = at
            script = found
        yield word[begin:]

    def _script(self, character: str) -> int:
        return _ANY if not self.by_number and character in _DIGITS else int(_scripts()[ord(character)])


@cache
def _scripts() -> IntegerArray:
    """Return the script of each code point as SentencePiece has them, Hiragana and Katakana being Han."""
    found = np.full(0x110000, _ANY, np.int16)
    for number in count():
        try:
            parts = ranges(f"unicode_script_{number:03}", "tokenizers")
        except PatternError:
            return found
        for first, last in parts:
            found[first : last + 1] = number
    return found


def _inherited() -> int:
    return int(_scripts()[0x301])
