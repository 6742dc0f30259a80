"""Normalization, splitting and symbol numbers of every code point, compiled into one table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import numpy as np

from tokdfa.arrays import Int32Array, Uint16Array, Uint32Array
from tokdfa.kernels.wordpiece.codes import (
    ALONE,
    BLOCK_BITS,
    CONTINUES,
    KIND,
    KIND_BITS,
    REORDER,
    SEQUENCE,
    SKIP,
    SPACE,
    SYMBOL,
)
from tokdfa.unicode.normalization import HANGUL_FIRST, HANGUL_LAST, tables
from tokdfa.wordpiece.normalizer import WordNormalizer

__all__ = ["CodeTable"]


_N_CODE_POINTS = 0x110000


class CodeTable(NamedTuple):
    """The meaning of each code point to the end-to-end tokenizer, in a two-stage table.

    The code of c is ``blocks[pages[c >> 8] * 256 + c % 256]``: a kind, a flag and a payload, as
    `tokdfa.kernels.wordpiece.codes` describes them. `pool` has the codes of the sequences, each after its length.
    The code points whose normal form has a combining mark that stays, and all other marks, are in `marks`, ascending.
    The decomposition of mark i is ``mark_parts[mark_pointer[i]:mark_pointer[i + 1]]``, each part as combining class
    and symbol number; the number is -1 if the part is removed.
    """

    pages: Uint16Array
    blocks: Uint32Array
    pool: Uint32Array
    marks: Int32Array
    mark_pointer: Int32Array
    mark_parts: Int32Array

    @classmethod
    def of(
        cls, normalizer: WordNormalizer, symbols: Mapping[str, int], foreign: int, alone: Mapping[str, int], other: int
    ) -> CodeTable:
        """Compile `normalizer`.

        Parameters
        ----------
        normalizer : WordNormalizer
            The settings.
        symbols, foreign
            The number of each symbol of the trie, and the number of all others.
        alone, other
            The ids of words of one character, and the id of such words that are not entries.
        """
        return _Compiler(normalizer, symbols, foreign, alone, other).compile()


class _Compiler:
    def __init__(
        self, normalizer: WordNormalizer, symbols: Mapping[str, int], foreign: int, alone: Mapping[str, int], other: int
    ) -> None:
        self._normalizer = normalizer
        self._symbols = symbols
        self._foreign = foreign
        self._alone = alone
        self._other = other
        self._pool: list[int] = []

    def compile(self) -> CodeTable:
        normalizer = self._normalizer
        codes = np.full(_N_CODE_POINTS, _code(SYMBOL, self._foreign), np.uint32)
        for first, last in normalizer.ideographs:
            codes[first : last + 1] = _code(ALONE, self._other + 1)
        kept = {*self._symbols, *self._alone, *normalizer.spaces, *normalizer.punctuation}
        for character in sorted(kept.union(normalizer.effects)):
            codes[ord(character)] = self._of(character)
        if normalizer.reorders:
            codes[HANGUL_FIRST : HANGUL_LAST + 1] = self._hangul()
        for first, last in normalizer.removed:
            codes[first : last + 1] = _code(SKIP, 0) | CONTINUES

        blocks: dict[bytes, int] = {}
        pages = [blocks.setdefault(block.tobytes(), len(blocks)) for block in codes.reshape(-1, 1 << BLOCK_BITS)]
        return CodeTable(
            np.array(pages, np.uint16),
            np.frombuffer(b"".join(blocks), np.uint32),
            np.array(self._pool, np.uint32),
            *self._marks(),
        )

    def _of(self, character: str) -> int:
        """Return the code of one character."""
        data = tables()
        text = self._normalizer.effects.get(character)
        if text is None:
            text = self._normalizer.effect(character)
        flags = 0
        if self._normalizer.reorders:
            parts = data.decompose(character)
            if data.combining.get(parts[0]):
                flags = CONTINUES
            if any(part in data.combining and part not in data.mark for part in parts):
                return _code(REORDER, 0) | flags
        if not text:
            return _code(SKIP, 0) | flags
        if len(text) == 3 and text[0] == text[2] == " " and text[1] not in self._normalizer.spaces:
            return self._word(text[1])
        items = [self._item(part) for part in text]
        if len(items) == 1:
            return items[0]
        # No character makes more symbols than it has bytes, which bounds the number of tokens; and none ends a word
        # within what it makes.
        assert len(items) <= len(character.encode("utf-8"))
        assert all(item & KIND == SYMBOL for item in items[:-1])
        self._pool += [len(items), *items]
        return _code(SEQUENCE, len(self._pool) - len(items) - 1)

    def _hangul(self) -> Uint32Array:
        """Return the codes of the Hangul syllables, each a sequence of two or three symbols."""
        syllables = _syllables()
        jamo = {part: self._item(part) for part in set().union(*syllables)}
        first = len(self._pool)
        for syllable in syllables:
            items = [jamo[part] for part in syllable]
            self._pool += [len(items), *items]
        lengths = np.fromiter(map(len, syllables), np.int64, len(syllables)) + 1
        return ((first + np.cumsum(lengths) - lengths) << KIND_BITS | SEQUENCE).astype(np.uint32)

    def _item(self, character: str) -> int:
        if character in self._normalizer.spaces:
            return _code(SPACE, 0)
        if character in self._normalizer.punctuation:
            return self._word(character)
        return _code(SYMBOL, self._symbols.get(character, self._foreign))

    def _word(self, character: str) -> int:
        return _code(ALONE, self._alone.get(character, self._other) + 1)

    def _marks(self) -> tuple[Int32Array, Int32Array, Int32Array]:
        pointer, rows = [0], []
        marks: list[str] = []
        if self._normalizer.reorders:
            data = tables()
            surviving = data.combining.keys() - data.mark
            assert not surviving & (self._normalizer.spaces | self._normalizer.punctuation)
            marks = sorted(
                {
                    *data.combining,
                    *(c for c, text in data.decompositions.items() if text[0] in data.combining),
                    *(c for c, text in data.decompositions.items() if surviving & set(text)),
                }
            )
            for character in marks:
                for part in data.decompose(character):
                    lower = data.lowercase.get(part, part) if self._normalizer.lowercase else part
                    assert len(lower) == 1
                    number = -1 if part in data.mark else self._symbols.get(lower, self._foreign)
                    rows.append((data.combining.get(part, 0), number))
                pointer.append(len(rows))
        return (
            np.array([ord(character) for character in marks], np.int32),
            np.array(pointer, np.int32),
            np.array(rows, np.int32).ravel(),
        )


@cache
def _syllables() -> tuple[str, ...]:
    """Return the decompositions of the Hangul syllables."""
    decompose = tables().decompose
    return tuple(decompose(chr(code)) for code in range(HANGUL_FIRST, HANGUL_LAST + 1))


def _code(kind: int, payload: int) -> int:
    return payload << KIND_BITS | kind
