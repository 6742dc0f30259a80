"""The words of character tables against a walk that tries every byte at every node."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.campaigns.tables.graphemes import charsmap
from tokdfa.kernels.spelling.charsmap import CROWDED, LARGE, UnreadableTableError, read_table


def units_of(table: bytes) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.frombuffer(table, "<u4", int.from_bytes(table[:4], "little") // 4, 4).astype(np.uint32)


def by_trying(units: list[int]) -> list[tuple[bytes, int]]:
    found = []
    nodes = [(b"", (units[0] >> 10) << ((units[0] & 0x200) >> 6))]
    for word, below in nodes:
        for label in range(1, 256):
            place = below ^ label
            if units[place] & 0x800000FF == label:
                after = place ^ (units[place] >> 10) << ((units[place] & 0x200) >> 6)
                longer = word + bytes([label])
                nodes.append((longer, after))
                if units[place] & 0x100:
                    found.append((longer, units[after] & 0x7FFFFFFF))
    return sorted(found)


def test_words_are_those_of_every_path() -> None:
    dice = random.Random(4)
    for _ in range(60):
        words = {"".join(dice.choices("abé中\U0001f600", k=dice.randint(1, 5))) for _ in range(dice.randint(1, 30))}
        units = units_of(charsmap({word: dice.choice(["", "x", "éy"]) for word in words}))
        found = read_table(units)
        parts = found.text.tobytes().split(b"\0")[:-1]
        assert [*zip(parts, found.values.tolist(), strict=True)] == by_trying(units.tolist())
        assert [word.decode() for word in parts] == sorted(words)
        assert found.offsets.tolist() == [0, *np.cumsum([len(part) + 1 for part in parts]).tolist()]


def test_whether_all_words_are_utf8() -> None:
    dice = random.Random(5)
    # The bytes at which UTF-8 sets bounds, and those next to them.
    edges = [1, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF]
    edges += [0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF]
    seen = {True: 0, False: 0}
    for _ in range(1500):
        known = ["é", "ࠀ", "퟿", "\ue000", "\U00010000", "\U0010ffff"]
        start = dice.choice([b"", b"a", dice.choice(known).encode()])
        words = [start + bytes(dice.choices(edges, k=dice.randint(1, 4))), b"z" + dice.choice(known).encode()]
        rules = {word.decode("utf-8", "surrogateescape"): "x" for word in words}
        found = read_table(units_of(charsmap(rules)))
        parts = found.text.tobytes().split(b"\0")[:-1]
        is_utf8 = not any(
            "\udc80" <= letter <= "\udcff" for part in parts for letter in part.decode("utf-8", "surrogateescape")
        )
        assert parts == sorted({*words})
        assert found.is_utf8 == is_utf8
        seen[is_utf8] += 1
    assert min(seen.values()) > 40, seen


@pytest.mark.parametrize("expected", [(0, 0), (0, 64), (8, 0)])
def test_more_words_than_were_expected(expected: tuple[int, int]) -> None:
    units = units_of(charsmap({"a" * length: "x" for length in range(1, 30)}))
    assert all((one == other).all() for one, other in zip(read_table(units), read_table(units, expected), strict=True))


def test_what_has_no_end_or_too_many_words() -> None:
    units = np.zeros(256, np.uint32)
    # The node of "a" has itself for a child, and is a word or none.
    units[0], below = 1 << 10, 1
    place = below ^ ord("a")
    units[place] = ord("a") | (place ^ below) << 10
    with pytest.raises(UnreadableTableError) as error:
        read_table(units)
    assert (error.value.why, error.value.path) == (LARGE, b"a" * 257)
    units[place] |= 0x100
    with pytest.raises(UnreadableTableError) as error:
        read_table(units)
    assert (error.value.why, error.value.path) == (CROWDED, b"a" * 33)


def test_two_ways_at_every_node_are_too_many_nodes() -> None:
    units = np.zeros(256, np.uint32)
    units[0], below = 1 << 10, 1
    for label in b"ab":
        place = below ^ label
        units[place] = label | (place ^ below) << 10
    with pytest.raises(UnreadableTableError) as error:
        read_table(units)
    assert error.value.why == LARGE


@pytest.mark.parametrize("units", [[], [1 << 10] * 255, [0x7FFFFC00] + [0] * 255])
def test_units_that_point_to_nothing(units: list[int]) -> None:
    with pytest.raises(ValueError, match="outside of the table"):
        read_table(np.array(units, np.uint32))
