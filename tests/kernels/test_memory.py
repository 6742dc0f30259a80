"""The memory of pieces: whatever it recalls is what was to be remembered."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.kernels.memory import (
    ENTRY,
    LONGEST_KEPT,
    SET,
    Memory,
    find_among,
    key_of,
    move_up,
    recall,
    remember,
    set_of,
)

U = np.uint64


def new_memory(sets: int, shelf: int) -> Memory:
    zeros = (np.zeros(n, dtype=np.uint64) for n in (SET * sets, shelf))
    return Memory(*zeros, np.zeros(1, dtype=np.int64))


def look_up(memory: Memory, text: np.ndarray, begin: int, end: int) -> list[int] | None:
    low, high = (U(word) for word in key_of(text, begin, end))
    at = set_of(memory, low, high)
    entry = find_among(memory.entries, at, at + SET, low, high)
    if entry < 0:
        return None
    out = np.zeros(LONGEST_KEPT + 2, dtype=np.int32)
    n = recall(memory, entry, text, begin, end, out, 0)
    move_up(memory, entry)
    return None if n < 0 else out[:n].tolist()


def keep(memory: Memory, text: np.ndarray, begin: int, end: int, ids: list[int]) -> None:
    low, high = (U(word) for word in key_of(text, begin, end))
    out = np.array([*ids, 0, 0], dtype=np.int32)
    remember(memory, set_of(memory, low, high), low, high, text, begin, end, out, 0, len(ids))


lengths = st.one_of(st.integers(1, 40), st.sampled_from([15, 16, 17, 24, 511, 512, 513]))


@given(
    st.lists(st.tuples(lengths, st.integers(0, 3), st.integers(1, 9)), max_size=60),
    st.sampled_from([1, 2, 64]),
)
def test_nothing_wrong_is_recalled(pieces: list[tuple[int, int, int]], sets: int) -> None:
    memory = new_memory(sets, 2 * LONGEST_KEPT)
    known: dict[bytes, list[int]] = {}
    for length, kind, n_ids in pieces:
        piece = bytes((i * (kind + 1) + kind) % 251 for i in range(length))
        text = np.frombuffer(b"x" + piece + b"y", dtype=np.uint8)
        ids = known.setdefault(piece, [-1 - length, *range(kind, kind + n_ids - 1)])
        assert look_up(memory, text, 1, 1 + length) in (None, ids)
        keep(memory, text, 1, 1 + length, ids)
        expected = None if length > LONGEST_KEPT else ids
        assert look_up(memory, text, 1, 1 + length) == expected


def test_long_pieces_with_equal_hashes_are_told_apart() -> None:
    memory = new_memory(1, 2 * LONGEST_KEPT)
    text = np.frombuffer(b"a" * 20 + b"b" * 20, dtype=np.uint8)
    keep(memory, text, 0, 20, [1, 2])
    # Give the second piece the key of the first.
    entry = np.flatnonzero(memory.entries.reshape(-1, ENTRY)[:, 1])[0] * ENTRY
    memory.entries[entry : entry + 2] = key_of(text, 20, 40)
    assert look_up(memory, text, 20, 40) is None


def test_the_shelf_is_emptied_when_it_is_full() -> None:
    memory = new_memory(64, 2 * LONGEST_KEPT)
    texts = [np.frombuffer(bytes([i]) * 100, dtype=np.uint8) for i in range(100)]
    for i, text in enumerate(texts):
        keep(memory, text, 0, 100, [i] * 9)
        assert look_up(memory, text, 0, 100) == [i] * 9
    assert memory.used[0] < len(memory.shelf)
    assert sum(look_up(memory, text, 0, 100) is not None for text in texts) < 60


def test_frequent_pieces_stay() -> None:
    memory = new_memory(1, 2 * LONGEST_KEPT)
    text = np.frombuffer(b"often" + bytes(range(200)), dtype=np.uint8)
    keep(memory, text, 0, 5, [7])
    for i in range(150):
        assert look_up(memory, text, 0, 5) == [7]
        keep(memory, text, 5 + i, 7 + i, [i])
