"""Words in the order of their bytes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tokdfa.kernels.spelling.lookup import sort_words


@pytest.mark.parametrize("gap", [0, 1])
def test_the_order_is_that_of_bytes(gap: int) -> None:
    dice = random.Random(gap)
    for _ in range(400):
        letters = dice.choice([b"a", b"ab", b"a\0", bytes(range(256))])
        longest = dice.choice([1, 8, 9, 17, 40])
        words = [bytes(dice.choices(letters, k=dice.randint(0, longest))) for _ in range(dice.randint(1, 40))]
        offsets = np.cumsum([0, *(len(word) + gap for word in words)])
        text = np.frombuffer(b"".join(word + b"z" * gap for word in words), np.uint8)
        wanted = sorted(range(len(words)), key=lambda number: (words[number], number))
        assert sort_words(text, offsets, gap).tolist() == wanted


def test_long_words_with_much_in_common() -> None:
    words = [b"a" * 5_000 + bytes([dice]) for dice in (7, 3, 5)] + [b"a" * 5_000, b"a" * 4_999]
    offsets = np.cumsum([0, *map(len, words)])
    assert sort_words(np.frombuffer(b"".join(words), np.uint8), offsets, 0).tolist() == [4, 3, 1, 2, 0]


@pytest.mark.parametrize("offsets", [[0, 2, 1], [0, 9], [-1, 2], [0]])
def test_offsets_of_no_words(offsets: list[int]) -> None:
    with pytest.raises(ValueError, match="words"):
        sort_words(np.zeros(3, np.uint8), np.array(offsets), 0)
