"""The table of code points says of each of them what the normalizer says of it alone."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

from tokdfa.kernels.wordpiece.end_to_end import (
    ALONE,
    CONTINUES,
    KIND,
    KIND_BITS,
    REORDER,
    SEQUENCE,
    SKIP,
    SPACE,
    SYMBOL,
)
from tokdfa.regex.unicode.normalization import HANGUL_FIRST, HANGUL_LAST, syllables, tables
from tokdfa.regex.unicode.ranges import LAST, contains
from tokdfa.tokenizers.models.wordpiece.codes import ASCII, CodeTable, is_kept
from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer, LlamaCppNormalizer, WordNormalizer
from tokdfa.tokenizers.models.wordpiece.words import Words

BERTS = [BertNormalizer(*(bool(number >> bit & 1) for bit in range(4))) for number in range(16)]
NORMALIZERS = [*BERTS, *(LlamaCppNormalizer(*flags) for flags in [(True, True), (False, True), (True, False)])]
POINTS = sorted({ord(c) for c in "ä中国하é\u08d4\u302e\u0307İ。。ß\u212b\u3000▁가"})
ALONE_WORDS = {"a": 5, "中": 7, ",": 9, "。": 0, "豈": 2, " ": 4, "é": 6}
OTHER = 11


class Slow:
    """The codes by their definition, one code point at a time."""

    def __init__(self, normalizer: WordNormalizer) -> None:
        self.normalizer = normalizer
        self.numbers = {**{chr(code): code for code in range(ASCII)}}
        self.numbers |= {chr(code): ASCII + place for place, code in enumerate(POINTS)}

    def item(self, character: str) -> int:
        if character in self.normalizer.spaces:
            return SPACE
        if character in self.normalizer.punctuation:
            return self.word(character)
        return self.numbers.get(character, ASCII + len(POINTS)) << KIND_BITS | SYMBOL

    def word(self, character: str) -> int:
        return (ALONE_WORDS.get(character, OTHER) + 1) << KIND_BITS | ALONE

    def code(self, character: str) -> list[int]:
        """The code, or the codes of a sequence."""
        data = tables()
        if contains(self.normalizer.removed, ord(character)):
            return [SKIP | CONTINUES]
        text, flags = self.normalizer.effect(character), 0
        if self.normalizer.reorders:
            parts = data.decompose(character)
            flags = CONTINUES if parts[0] in data.combining else 0
            if any(part in data.combining and part not in data.mark for part in parts):
                return [REORDER | flags]
        if not text:
            return [SKIP | flags]
        if len(text) == 3 and text[0] == text[2] == " " and text[1] not in self.normalizer.spaces:
            return [self.word(text[1])]
        return [self.item(part) for part in text]


def _chosen(dice: random.Random) -> list[int]:
    """Code points at which much happens, and some of all others."""
    data = tables()
    edges = [edge for ranges in (data.control, data.chinese) for pair in ranges for edge in pair]
    near = {edge + step for edge in edges for step in (-1, 0, 1)} | {*POINTS, *map(ord, ALONE_WORDS), LAST}
    listed = {*data.decompositions, *data.lowercase, *data.combining, *data.mark, *data.space}
    hangul = {HANGUL_FIRST - 1, HANGUL_FIRST, HANGUL_LAST, HANGUL_LAST + 1}
    found = {*range(0x500), *near, *map(ord, listed), *hangul, *dice.sample(range(LAST + 1), 3_000)}
    return sorted(code for code in found if 0 <= code <= LAST and not 0xD800 <= code < 0xE000)


@pytest.mark.parametrize("normalizer", NORMALIZERS, ids=repr)
def test_each_code_is_what_the_normalizer_says(normalizer: WordNormalizer) -> None:
    alone = Words.of(ALONE_WORDS, ALONE_WORDS.values())
    made = CodeTable.of(normalizer, np.array(POINTS, np.int32), alone, OTHER)
    slow, kept = Slow(normalizer), is_kept(normalizer)
    pages, blocks, pool = made.pages.tolist(), made.blocks.tolist(), made.pool.tolist()
    n_sequences = 0
    for code in _chosen(random.Random(5)):
        found = blocks[pages[code >> 8] << 8 | code & 255]
        parts = [found]
        if found & KIND == SEQUENCE:
            start = found >> KIND_BITS
            parts = pool[start + 1 : start + 1 + pool[start]]
            n_sequences += 1
        assert parts == slow.code(chr(code)), hex(code)
        apart = chr(code) in normalizer.spaces | normalizer.punctuation
        assert kept[code] == (normalizer.effect(chr(code)) == chr(code) and not apart), hex(code)
    assert n_sequences == 0 or normalizer.reorders or normalizer.lowercase


@pytest.mark.parametrize("normalizer", NORMALIZERS, ids=repr)
def test_marks_have_their_parts(normalizer: WordNormalizer) -> None:
    made = CodeTable.of(normalizer, np.array(POINTS, np.int32), Words.of([], []), OTHER)
    slow, data = Slow(normalizer), tables()
    assert made.marks.tolist() == sorted(made.marks.tolist())
    assert bool(len(made.marks)) == normalizer.reorders
    parts = made.mark_parts.reshape(-1, 2).tolist()
    for row, mark in enumerate(map(chr, made.marks.tolist())):
        mine = parts[made.mark_pointer[row] : made.mark_pointer[row + 1]]
        wanted = []
        for part in data.decompose(mark):
            lower = data.lowercase.get(part, part) if normalizer.lowercase else part
            number = -1 if part in data.mark else slow.numbers.get(lower, ASCII + len(POINTS))
            wanted.append([data.combining.get(part, 0), number])
        assert mine == wanted


def test_effects_are_those_of_each_character() -> None:
    for normalizer in pickle.loads(pickle.dumps(BERTS)):
        for character, text in normalizer.effects.items():
            assert text == normalizer.effect(character), repr(character)


def test_syllables_are_decomposed_all_at_once() -> None:
    parts = ["".join(map(chr, filter(None, row))) for row in syllables().tolist()]
    assert parts == [tables().decompose(chr(code)) for code in range(HANGUL_FIRST, HANGUL_LAST + 1)]
