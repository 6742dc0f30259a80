"""The memory of pieces: whatever it recalls is what was to be remembered."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.kernels.encode.memory import ENTRY, LONGEST_KEPT, key_of, make_room, new_memory, recall, remember
from tokdfa.kernels.encode.one_pass import LONGEST_PACKED
from tokdfa.kernels.library import Struct


def look_up(memory: Struct, text: bytes, begin: int, end: int) -> list[int] | None:
    ids = recall(memory, text, begin, end)
    return None if ids is None else ids.tolist()


def keep(memory: Struct, text: bytes, begin: int, end: int, ids: list[int]) -> None:
    remember(memory, text, begin, end, np.array(ids, dtype=np.int32))


@given(st.binary(max_size=40), st.data())
def test_the_key_of_a_short_piece_is_its_packing(text: bytes, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, min(LONGEST_PACKED, len(text) - begin)))
    spelled = b"".join(word.to_bytes(8, "little") for word in key_of(text, begin, begin + length))
    assert spelled == text[begin : begin + length].ljust(LONGEST_PACKED, b"\0") + bytes([length])


@given(st.binary(min_size=16, max_size=600))
def test_the_key_of_a_long_piece_is_none_of_a_short_one(text: bytes) -> None:
    assert key_of(text, 0, len(text))[1] >> 56 == 0xFF
    # What follows the piece in memory does not matter.
    assert key_of(text + b"x", 0, len(text)) == key_of(text, 0, len(text))


lengths = st.one_of(st.integers(1, 40), st.sampled_from([15, 16, 17, 24, 511, 512, 513]))


@given(
    st.lists(st.tuples(lengths, st.integers(0, 3), st.integers(1, 9)), max_size=60),
    st.sampled_from([1, 2, 64]),
)
def test_nothing_wrong_is_recalled(pieces: list[tuple[int, int, int]], sets: int) -> None:
    memory = new_memory(4 * sets, 2 * LONGEST_KEPT)
    known: dict[bytes, list[int]] = {}
    for length, kind, n_ids in pieces:
        piece = bytes((i * (kind + 1) + kind) % 251 for i in range(length))
        text = b"x" + piece + b"y"
        ids = known.setdefault(piece, [-1 - length, *range(kind, kind + n_ids - 1)])
        assert look_up(memory, text, 1, 1 + length) in (None, ids)
        keep(memory, text, 1, 1 + length, ids)
        expected = None if length > LONGEST_KEPT else ids
        assert look_up(memory, text, 1, 1 + length) == expected


def test_long_pieces_with_equal_hashes_are_told_apart() -> None:
    memory = new_memory(4, 2 * LONGEST_KEPT)
    text = b"a" * 20 + b"b" * 20 + b"c" * 500
    keep(memory, text, 0, 20, [1, 2])
    # Give other pieces the key of the first, one of them longer than all that is on the shelf.
    entries = memory.fields["entries"]
    entry = np.flatnonzero(entries.reshape(-1, ENTRY)[:, 1])[0] * ENTRY
    for begin, end in ((20, 40), (40, 540)):
        entries[entry : entry + 2] = key_of(text, begin, end)
        assert look_up(memory, text, begin, end) is None


def test_the_shelf_is_emptied_when_it_is_full() -> None:
    memory = new_memory(256, 2 * LONGEST_KEPT)
    texts = [bytes([i]) * 100 for i in range(100)]
    for i, text in enumerate(texts):
        keep(memory, text, 0, 100, [i] * 9)
        assert look_up(memory, text, 0, 100) == [i] * 9
    assert memory.pointer.used < len(memory.fields["shelf"])
    assert sum(look_up(memory, text, 0, 100) is not None for text in texts) < 60


def test_frequent_pieces_stay() -> None:
    memory = new_memory(4, 2 * LONGEST_KEPT)
    text = b"often" + bytes(range(200))
    keep(memory, text, 0, 5, [7])
    for i in range(150):
        assert look_up(memory, text, 0, 5) == [7]
        keep(memory, text, 5 + i, 7 + i, [i])


@given(st.integers(1, 300), st.integers(0, 2**31))
def test_a_crowded_memory_grows_and_keeps_all(n: int, seed: int) -> None:
    memory = new_memory(16, 2 * LONGEST_KEPT)
    memory.pointer.most_kept = 4
    text = b"".join(b"%d." % (seed + i) for i in range(n)) + b"z" * 30
    bounds = [0, *(i + 1 for i, byte in enumerate(text) if byte == ord(".")), len(text)]
    pieces = list(pairwise(bounds))
    for i, piece in enumerate(pieces):
        keep(memory, text, *piece, [i, i, i, i] if i % 3 else [i])
        before = [look_up(memory, text, *piece) for piece in pieces[: i + 1]]
        is_crowded, size = memory.pointer.n_kept > memory.pointer.most_kept, len(memory.fields["entries"])
        make_room(memory, 1 << 13)
        assert len(memory.fields["entries"]) == (4 * size if is_crowded else size)
        assert [look_up(memory, text, *piece) for piece in pieces[: i + 1]] == before
    kept = np.count_nonzero(memory.fields["entries"].reshape(-1, ENTRY)[:, 1])
    assert memory.pointer.n_kept == kept <= memory.pointer.most_kept


def test_a_memory_at_its_end_does_not_grow() -> None:
    memory = new_memory(16)
    size = len(memory.fields["entries"])
    memory.pointer.n_kept = 16
    make_room(memory, 16)
    assert len(memory.fields["entries"]) == size
