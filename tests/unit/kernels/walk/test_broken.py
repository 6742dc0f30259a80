"""The symbols that are not UTF-8 in texts of ids, and the cuts before them, found one by one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.kernels.walk.differences import find_broken, text_cuts

# Bytes at the edges of the ranges that UTF-8 allows, and whole symbols.
_BYTES = st.sampled_from([*b"a1 b\x80\x8f\x90\x9f\xa0\xbf\xc1\xc2\xdf\xe0\xe2\xed\xef\xf0\xf4\xf5\xff"])
_PARTS = st.one_of(_BYTES.map(lambda byte: bytes([byte])), st.sampled_from("aab1 é€\U0001f600\ufffd").map(str.encode))
WORDS = st.lists(st.lists(_PARTS, min_size=1, max_size=4).map(b"".join), max_size=10)
N_CLASSES = 4
CLASS_OF = np.arange(0x110000, dtype=np.int64).astype(np.uint16) % np.uint16(N_CLASSES)


def rows_of(words: list[bytes], first: int, stop: int, certain: np.ndarray) -> list[list[int]]:
    """Return the rows of one text, spelled by the words from `first` to `stop`."""
    starts = np.cumsum([0, *map(len, words)]).tolist()
    found = []
    token = first
    while token < stop:
        data = b"".join(words[token:stop])
        try:
            data.decode("utf-8")
            break
        except UnicodeDecodeError as error:
            start, end = error.start, error.end
        text = data[:start].decode("utf-8")
        cut = token
        for place in range(1, len(text) - 1):
            byte = starts[token] + len(text[:place].encode())
            left, right = (int(CLASS_OF[ord(symbol)]) for symbol in text[place - 1 : place + 1])
            if certain[left, right] and byte in starts:
                cut = starts.index(byte)
        start, end = start + starts[token], end + starts[token]
        bad = [k for k in range(len(words)) if starts[k] < end and starts[k + 1] > start]
        found.append([token, cut, bad[0], bad[-1] + 1, start, end])
        token = bad[-1] + 1
    return found


@given(WORDS, st.lists(st.integers(0, 10), max_size=3), st.lists(st.booleans(), min_size=16, max_size=16))
def test_broken_symbols_are_those_of_the_decoder(words: list[bytes], cuts: list[int], flags: list[bool]) -> None:
    certain = np.array(flags).reshape(N_CLASSES, N_CLASSES)
    bounds = np.array(sorted([0, *(min(cut, len(words)) for cut in cuts), len(words)]), dtype=np.int64)
    text = np.frombuffer(b"".join(words), dtype=np.uint8)
    ends = np.cumsum([*map(len, words)], dtype=np.int64)
    expected = [row for low, high in pairwise(bounds.tolist()) for row in rows_of(words, low, high, certain)]
    assert find_broken(text_cuts(CLASS_OF, certain), text, ends, bounds).tolist() == expected


def test_rows_have_as_much_room_as_they_need() -> None:
    text = np.full(1000, 0xFF, dtype=np.uint8)
    ends = np.arange(1, 1001)
    certain = np.zeros((N_CLASSES, N_CLASSES), dtype=np.bool_)
    rows = find_broken(text_cuts(CLASS_OF, certain), text, ends, np.array([0, 1000]))
    assert rows[:, 2].tolist() == [*range(1000)]


def test_bounds_beyond_the_text_are_refused() -> None:
    cuts = text_cuts(CLASS_OF, np.zeros((N_CLASSES, N_CLASSES), dtype=np.bool_))
    text, ends = np.zeros(3, dtype=np.uint8), np.array([1, 3])
    for wrong in (
        (text, ends, np.array([0, 3])),
        (text[:2], ends, np.array([0, 2])),
        (text, ends, np.array([0, 2, 1, 2])),
    ):
        with pytest.raises(ValueError, match="must be"):
            find_broken(cuts, *wrong)
    with pytest.raises(ValueError, match="class"):
        text_cuts(CLASS_OF, np.zeros((3, 3), dtype=np.bool_))
