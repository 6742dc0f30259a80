"""Spelling numbered words, against joining them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.kernels.spelling.spell import spell


@given(st.lists(st.binary(max_size=20), min_size=1), st.data())
def test_words_one_after_the_other(words: list[bytes], data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.integers(-2, len(words) - 1)))
    text = np.frombuffer(b"".join(words), dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, words)])
    spelled, lengths = spell(text, offsets, np.array(numbers, dtype=np.int32))
    expected = [words[number] if number >= 0 else b"" for number in numbers]
    assert spelled.tobytes() == b"".join(expected)
    assert lengths.tolist() == [len(word) for word in expected]
