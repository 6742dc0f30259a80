"""Spelling numbered words, against joining them; words of letters that represent bytes, against a dict."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.kernels.spelling.spell import read_letters, spell, spell_bytes


@given(st.lists(st.binary(max_size=20), min_size=1), st.data())
def test_words_one_after_the_other(words: list[bytes], data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.integers(-2, len(words) - 1)))
    text = np.frombuffer(b"".join(words), dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, words)])
    spelled, lengths = spell(text, offsets, np.array(numbers, dtype=np.int32))
    expected = [words[number] if number >= 0 else b"" for number in numbers]
    assert spelled.tobytes() == b"".join(expected)
    assert lengths.tolist() == [len(word) for word in expected]


@given(st.lists(st.binary(max_size=20), min_size=1), st.data(), st.sampled_from([1, 2, 9_000]))
def test_words_as_one_object(words: list[bytes], data: st.DataObject, times: int) -> None:
    numbers = data.draw(st.lists(st.integers(-2, len(words) - 1), max_size=9))
    text = np.frombuffer(b"".join(words), dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, words)])
    expected = b"".join(words[number] for number in numbers if number >= 0) * times
    # Repeated, they are so many that their lengths are found in several rounds.
    repeated = np.tile(np.array(numbers, dtype=np.int32), times)
    for leave_out in {0, min(1, len(expected)), len(expected)}:
        assert spell_bytes(text, offsets, repeated, leave_out) == expected[: len(expected) - leave_out]


def test_an_object_that_others_have_is_not_written() -> None:
    # Python has one object of each byte, and one of none.
    kept = [bytes([byte]) for byte in range(256)]
    text = np.arange(256, dtype=np.uint8)
    for byte in range(256):
        assert spell_bytes(text, np.arange(257), np.array([byte], dtype=np.int32)) == kept[byte]
    assert [each[0] for each in kept] == list(range(256))
    assert bytes(1) == b"\0"
    assert spell_bytes(text, np.arange(257), np.array([-1], dtype=np.int32)) == b""


LETTERS = st.text(st.sampled_from("ab\xe9\u0101\u07ff\u0800\u20ac\U0001f600"))


@given(st.lists(LETTERS, min_size=1), st.sampled_from([0, 1]))
def test_letters_are_read_as_bytes(words: list[str], gap: int) -> None:
    meaning = {"a": 1, "\xe9": 0, "\u0101": 255, "\u07ff": 7}
    table = np.full(0x800, -1, dtype=np.int32)
    for letter, byte in meaning.items():
        table[ord(letter)] = byte
    text = np.frombuffer(b"".join(word.encode() + b" " * gap for word in words) + b" ", dtype=np.uint8)
    offsets = np.cumsum([0, *(len(word.encode()) + gap for word in words)])
    read, ends, foreign = read_letters(text, offsets, gap, table)
    known = [meaning.keys() >= set(word) for word in words]
    assert (~foreign).tolist() == known
    found = [read[start:end].tolist() for start, end in pairwise(ends.tolist())]
    assert found == [[meaning[letter] for letter in word] if ok else [] for word, ok in zip(words, known, strict=True)]


def test_letters_are_checked() -> None:
    text, table = np.zeros(4, dtype=np.uint8), np.zeros(2, dtype=np.int32)
    for offsets, gap in (([0, 5], 0), ([1, 0], 0), ([0, 0], 1), ([-1, 2], 0), ([0], 0), ([0, 2], 2)):
        with pytest.raises(ValueError, match="words"):
            read_letters(text, np.array(offsets), gap, table)
    with pytest.raises(ValueError, match=r"^a table of 2049 code points$"):
        read_letters(text, np.array([0, 4]), 0, np.zeros(0x801, dtype=np.int32))
