"""The cache of pieces: the ids that it has of a piece are those that were added."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import encoding
from tests.support.encoding import add_piece, key_of
from tokdfa.kernels.encode.one_pass import LONGEST_PACKED
from tokdfa.kernels.encode.pieces import ENTRY, LONGEST_KEPT, MANY_MISSED, grow, new_cache
from tokdfa.kernels.library import Struct


def look_up(memory: Struct, text: bytes, begin: int, end: int) -> list[int] | None:
    ids = encoding.look_up(memory, text, begin, end)
    return None if ids is None else ids.tolist()


def keep(memory: Struct, text: bytes, begin: int, end: int, ids: list[int]) -> None:
    add_piece(memory, text, begin, end, np.array(ids, dtype=np.int32))


@given(st.binary(max_size=40), st.data())
def test_the_key_of_a_short_piece_is_its_packing(text: bytes, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, min(LONGEST_PACKED, len(text) - begin)))
    spelled = b"".join(word.to_bytes(8, "little") for word in key_of(text, begin, begin + length))
    assert spelled == text[begin : begin + length].ljust(LONGEST_PACKED, b"\0") + bytes([length])


@given(st.binary(min_size=16, max_size=600))
def test_the_key_of_a_long_piece_is_none_of_a_short_one(text: bytes) -> None:
    assert key_of(text, 0, len(text))[1] >> 56 == 0xFF
    # The bytes after the piece do not matter.
    assert key_of(text + b"x", 0, len(text)) == key_of(text, 0, len(text))


lengths = st.one_of(st.integers(1, 40), st.sampled_from([15, 16, 17, 24, 511, 512, 513]))


@given(
    st.lists(st.tuples(lengths, st.integers(0, 3), st.integers(1, 9)), max_size=60),
    st.sampled_from([1, 2, 64]),
)
def test_no_wrong_ids_are_found(pieces: list[tuple[int, int, int]], sets: int) -> None:
    memory = new_cache(4 * sets, 2 * LONGEST_KEPT)
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
    memory = new_cache(4, 2 * LONGEST_KEPT)
    text = b"a" * 20 + b"b" * 20 + b"c" * 500
    keep(memory, text, 0, 20, [1, 2])
    # Give other pieces the key of the first, one of them longer than all that is on the overflow.
    entries = memory.fields["entries"]
    entry = np.flatnonzero(entries.reshape(-1, ENTRY)[:, 1])[0] * ENTRY
    for begin, end in ((20, 40), (40, 540)):
        entries[entry : entry + 2] = key_of(text, begin, end)
        assert look_up(memory, text, begin, end) is None


def test_the_shelf_is_emptied_when_it_is_full() -> None:
    memory = new_cache(256, 2 * LONGEST_KEPT)
    texts = [bytes([i]) * 100 for i in range(100)]
    for i, text in enumerate(texts):
        keep(memory, text, 0, 100, [i] * 9)
        assert look_up(memory, text, 0, 100) == [i] * 9
    assert memory.pointer.used < len(memory.fields["overflow"])
    assert sum(look_up(memory, text, 0, 100) is not None for text in texts) < 60


def test_frequent_pieces_stay() -> None:
    memory = new_cache(4, 2 * LONGEST_KEPT)
    text = b"often" + bytes(range(200))
    keep(memory, text, 0, 5, [7])
    for i in range(150):
        assert look_up(memory, text, 0, 5) == [7]
        keep(memory, text, 5 + i, 7 + i, [i])


def numbered(first: int, n: int) -> tuple[bytes, list[tuple[int, int]]]:
    """Return a text and its pieces, all different, with short and long ones among them."""
    words = [b"%d." % (first + i) * (1 + i % 7 // 6) for i in range(n)]
    bounds = np.cumsum([0, *map(len, words)]).tolist()
    return b"".join(words), list(pairwise(bounds))


def ids_of(number: int) -> list[int]:
    return [number, number, number, number] if number % 3 else [number]


@given(st.integers(1, 300), st.integers(0, 2**31), st.sampled_from([1, 4, 32]))
def test_a_memory_that_lacks_what_was_there_grows_and_keeps_all(n: int, first: int, times: int) -> None:
    memory = new_cache(1 << 11, 1 << 14)
    small = new_cache(16, 1 << 14).fields["entries"]
    memory.set("entries", small)
    text, pieces = numbered(first, n)
    for i, piece in enumerate(pieces):
        keep(memory, text, *piece, ids_of(i))
    before = [look_up(memory, text, *piece) for piece in pieces]
    pointer = memory.pointer
    pointer.n_missed, pointer.n_again, pointer.n_distinct = MANY_MISSED, MANY_MISSED // 2, times * n
    grow(memory, 1 << 13)
    wanted = ENTRY * 2 ** (4 * times * n - 1).bit_length()
    grows = wanted > len(small)
    assert len(memory.fields["entries"]) == (min(wanted, ENTRY << 13) if grows else len(small))
    # Before it grows again, all that were seen may be missed once more.
    expected = -times * n if grows and wanted < ENTRY << 13 else 0
    assert pointer.n_missed == pointer.n_again == expected
    # Those that it did not lack are there, and it can be used as before.
    after = [look_up(memory, text, *piece) for piece in pieces]
    assert after == before
    for i, piece in enumerate(pieces):
        assert after[i] in (None, ids_of(i))
        keep(memory, text, *piece, ids_of(i))
        assert look_up(memory, text, *piece) == ids_of(i)


@given(st.lists(st.integers(0, 40), max_size=80))
def test_the_pieces_that_were_there_before_are_counted(numbers: list[int]) -> None:
    memory = new_cache(1 << 20)
    text, pieces = numbered(0, 41)
    for number in numbers:
        keep(memory, text, *pieces[number], ids_of(number))
    pointer = memory.pointer
    assert (pointer.n_missed, pointer.n_distinct) == (len(numbers), len(set(numbers)))
    assert pointer.n_again == len(numbers) - len(set(numbers))
    assert sum(int(word).bit_count() for word in memory.fields["seen"]) == len(set(numbers))


def test_a_memory_does_not_grow_for_pieces_that_never_come_back() -> None:
    memory = new_cache(1 << 17)
    size, pointer = len(memory.fields["entries"]), memory.pointer
    text, pieces = numbered(10**6, 175_000)
    most = 0
    for i, piece in enumerate(pieces):
        add_piece(memory, text, *piece, np.array([i, i, i], dtype=np.int32))
        if pointer.n_missed == MANY_MISSED:
            most = max(most, pointer.n_distinct)
            grow(memory, 1 << 17)
            assert pointer.n_missed == 0
    assert len(memory.fields["entries"]) == size
    # The bits were cleared before most of them were set.
    assert 1 << 17 < most < (1 << 17) + 2 * MANY_MISSED
    assert pointer.n_distinct < 1 << 16
    # When more of them do come back than there is room for, it grows.
    for _ in range(2):
        for i, piece in enumerate(pieces[-40_000:]):
            add_piece(memory, text, *piece, np.array([i, i, i], dtype=np.int32))
            grow(memory, 1 << 17)
    assert len(memory.fields["entries"]) > size
    assert len(memory.fields["seen"]) == 0
    keep(memory, text, *pieces[0], [1])
    assert pointer.n_missed == 0


@pytest.mark.parametrize(("used", "expected"), [(1 << 13, 1 << 14), (3 << 12, 1 << 14), ((3 << 12) + 1, 1 << 16)])
def test_a_shelf_that_is_nearly_full_becomes_longer(used: int, expected: int) -> None:
    memory = new_cache(1 << 17, 1 << 14)
    pointer, text = memory.pointer, b"ab" * 20
    keep(memory, text, 0, 40, [1, 2, 3, 4])
    pointer.n_missed, pointer.used = MANY_MISSED, used
    grow(memory, 1 << 17)
    assert len(memory.fields["overflow"]) == pointer.n_overflow == expected
    assert look_up(memory, text, 0, 40) == [1, 2, 3, 4]
    # Up to as many words as the pieces may take.
    for _ in range(9):
        pointer.n_missed, pointer.used = MANY_MISSED, pointer.n_overflow
        grow(memory, 1 << 17)
    assert pointer.n_overflow == ENTRY << 17
    assert look_up(memory, text, 0, 40) == [1, 2, 3, 4]


def test_few_missed_pieces_change_nothing() -> None:
    memory = new_cache(1 << 20)
    size, pointer = len(memory.fields["entries"]), memory.pointer
    pointer.n_missed = pointer.n_again = MANY_MISSED - 1
    grow(memory, 1 << 20)
    assert (len(memory.fields["entries"]), pointer.n_missed) == (size, MANY_MISSED - 1)


def test_a_memory_at_its_end_counts_nothing() -> None:
    memory = new_cache(16)
    text, pieces = numbered(0, 50)
    for i, piece in enumerate(pieces):
        keep(memory, text, *piece, ids_of(i))
    assert len(memory.fields["seen"]) == memory.pointer.n_missed == 0
