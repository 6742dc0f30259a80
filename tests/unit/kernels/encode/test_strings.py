"""Strings are found in texts of bytes as by looking for each of them at each offset."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from tokdfa.kernels.encode.strings import StringFinder

# The least and the most bytes of strings: those found by two bytes, by hashes with each stride, and all of them.
SIZES = [(1, 4), (3, 6), (7, 10), (11, 40), (60, 90), (1, 300)]


def beginning_at_end(words: list[bytes], text: bytes) -> int:
    """Return where the longest end of a text begins with which a string begins."""
    ends = {word[:size] for word in words for size in range(len(word))}
    return next(at for at in range(len(text) + 1) if text[at:] in ends)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_the_first_string_to_end_is_within_the_offsets_found(sizes: tuple[int, int]) -> None:
    drawn, met = random.Random(str(sizes)), Counter[str]()
    for _ in range(200):
        letters = drawn.choice([b"ab", b"a~b", b"the ", b"etaoin shrdlu", bytes(range(256))])
        words = [bytes(drawn.choices(letters, k=drawn.randint(*sizes))) for _ in range(drawn.choice([1, 2, 12, 40]))]
        text = bytes(drawn.choices(letters, k=drawn.choice([0, 3, 70, 200]))) if drawn.random() < 0.5 else b"."
        text = b"z" * drawn.choice([0, 0, 7, 63, 64]) + text
        text += drawn.choice(words)[: -1 if drawn.random() < 0.5 else None]
        text += (
            bytes(drawn.choices(letters, k=drawn.choice([0, 7, 99])))
            if drawn.random() < 0.5
            else b"." * drawn.randrange(2)
        )
        # Nothing may be read after the end of an array.
        start, stop = StringFinder(words).find(np.frombuffer(text, dtype=np.uint8).copy())
        found = [(at, at + len(word)) for word in {*words} for at in range(len(text)) if text.startswith(word, at)]
        met["found" if found else "open" if start < len(text) else "none"] += 1
        if not found:
            assert (start, stop) == (beginning_at_end(words, text), -1), (words, text)
            continue
        assert stop >= min(end for _, end in found), (words, text)
        assert all(begin >= start for begin, end in found if end <= stop), (words, text)
    assert min(met[name] for name in ("found", "open", "none")) > 5, met


def test_a_thousand_strings_are_found_wherever_they_are() -> None:
    drawn = random.Random(3)
    words = [f"{drawn.choice('abcdefgh')}{number} and {number * 7919 % 1000}".encode() for number in range(1000)]
    finder = StringFinder(words)
    for number, word in enumerate(words):
        text = b"and 12 " * (number % 40) + b"." * (number % 9) + word + b" and" * (number % 7)
        start, stop = finder.find(text)
        assert start <= text.index(word) < text.index(word) + len(word) <= stop
    assert finder.find(b"and 12 a1 and " * 100) == (1400, -1)


def test_periodic_texts_take_linear_time() -> None:
    finder = StringFinder([b"a" * 5_000 + b"b", b"ab" * 3_000 + b"c"])
    assert finder.find(b"a" * 1_000_000) == (995_000, -1)
    assert finder.find(b"ab" * 500_000)[1] == -1
