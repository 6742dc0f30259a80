"""Finding words, and the words of rules, against a dict."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.kernels.spelling.lookup import WordTable

PARTS = st.binary(max_size=20).map(lambda part: bytes(byte & 0x7F | 0x40 for byte in part))
SHORT = st.lists(st.sampled_from([b"", b"a", b"b", b"ab", b"ba", b"aba", b"a" * 7, b"a" * 8, b"a" * 9]), min_size=1)


def slowly(words: list[bytes], rules: list[tuple[bytes, bytes]], skipped: int) -> list[list[int]]:
    """The rows of the rules, up to the first that is empty on a side, or too short, or needs another word."""
    number = {word: number for number, word in enumerate(words)}
    rows = []
    for left, right in rules:
        needed = left, right, left + right[skipped:]
        if not left or len(right) < max(skipped, 1) or not number.keys() >= set(needed):
            break
        rows.append([number[word] for word in needed])
    return rows


@given(
    st.lists(PARTS, min_size=1, unique=True) | SHORT.map(lambda words: [*dict.fromkeys(words)]),
    st.data(),
    st.sampled_from([0, 0, 1, 2]),
    st.sampled_from([(b" ", b"\n"), (b"\0", b"\0"), (b"\xff", b"\xff"), (b" ", b"\xff")]),
)
def test_rules_are_looked_up_as_in_a_dict(
    words: list[bytes], data: st.DataObject, skipped: int, separators: tuple[bytes, bytes]
) -> None:
    part = st.sampled_from(words) | PARTS
    rules = data.draw(st.lists(st.tuples(part, part), max_size=40))
    if data.draw(st.booleans()):
        # Words that make all the rules work.
        made = [word for left, right in rules for word in (left, right, left + right[skipped:])]
        words = [*dict.fromkeys([*words, *made])]
    inner, outer = separators
    text = outer.join(left + inner + right for left, right in rules)
    found, n_found = WordTable.of_text(b"\0".join(words), len(words), 0).find_rules(
        text, len(rules), inner[0], outer[0], skipped
    )
    assert found[:n_found].tolist() == slowly(words, rules, skipped)
    assert found.shape == (len(rules), 3)


def test_what_is_not_a_rule_ends_the_search() -> None:
    table = WordTable.of_text(b"a b ab", 3, ord(" "))
    good = [0, 1, 2]
    for text, n_rules, expected in (
        (b"a b\na b", 2, [good, good]),
        (b"a b\na b", 3, [good, good]),
        (b"a b\nab", 2, [good]),
        (b"a b\na b b", 2, [good]),
        (b"a b\n b", 2, [good]),
        (b"a b\na \n", 2, [good]),
        (b"a b\n", 2, [good]),
        (b"a\nb", 1, []),
        (b"", 1, []),
        (b"a b", 0, []),
    ):
        found, n_found = table.find_rules(text, n_rules, ord(" "), ord("\n"))
        assert found[:n_found].tolist() == expected, text


def test_words_are_counted() -> None:
    for n_words in (0, 1, 3):
        with pytest.raises(ValueError, match="2 words"):
            WordTable.of_text(b"a b", n_words, ord(" "))


def test_many_words_share_a_table() -> None:
    words = [b"%d" % number for number in range(5000)]
    table = WordTable.of_text(b" ".join(words), len(words), ord(" "))
    rules = [(b"%d" % (number // 10), b"%d" % (number % 10)) for number in range(10, 5000)]
    found, n_found = table.find_rules(b"\n".join(map(b" ".join, rules)), len(rules), ord(" "), ord("\n"))
    assert n_found == len(rules)
    assert found.tolist() == [[number // 10, number % 10, number] for number in range(10, 5000)]


@given(st.lists(st.binary(max_size=9) | st.sampled_from([b"", b"a", b"ab"]), min_size=1, max_size=60), st.data())
def test_words_are_looked_up_as_in_a_dict(words: list[bytes], data: st.DataObject) -> None:
    text = np.frombuffer(b"".join(words) + b"x", dtype=np.uint8)
    table = WordTable(text, np.cumsum([0, *map(len, words)]))
    again = next((place for place, word in enumerate(words) if word in words[:place]), -1)
    assert table.again == again
    wanted = data.draw(st.lists(st.sampled_from(words) | st.binary(max_size=9)))
    number = {} if again >= 0 else {word: place for place, word in enumerate(words)}
    assert table.find(wanted).tolist() == [number.get(word, -1) for word in wanted]


def test_offsets_are_checked() -> None:
    text = np.zeros(4, dtype=np.uint8)
    for offsets, gap in (([0, 5], 0), ([3, 2], 0), ([0, 0], 1), ([-1, 2], 0), ([], 0), ([0, 2], -1)):
        with pytest.raises(ValueError, match="words"):
            WordTable(text, np.array(offsets, dtype=np.int64), gap)
    table = WordTable(text, np.array([0, 1]))
    assert table.find_in(text, np.array([1, 2, 2, 4])).tolist() == [0, -1, -1]
    for offsets in ([0, 5], [3, 2], [-1, 2]):
        with pytest.raises(ValueError, match=r"^the offsets are not offsets of words$"):
            table.find_in(text, np.array(offsets, dtype=np.int64))


@given(st.lists(PARTS, min_size=1, max_size=30, unique=True) | SHORT.map(lambda words: [*dict.fromkeys(words)]))
def test_splits_are_looked_up_as_in_a_dict(words: list[bytes]) -> None:
    for unit in (1, 4):
        spelled = [b"".join(bytes([byte]) * unit for byte in word) for word in words]
        offsets = np.cumsum([0, *map(len, spelled)])
        table = WordTable(np.frombuffer(b"".join(spelled), np.uint8), offsets)
        number = {word: number for number, word in enumerate(words)}
        rows = [
            [number[word[:cut]], number[word[cut:]], number[word]]
            for word in words
            for cut in range(1, len(word))
            if word[:cut] in number and word[cut:] in number
        ]
        low = len(words) // 2
        assert table.splits(unit, 0, len(words)).tolist() == rows
        assert table.splits(unit, low, len(words)).tolist() == [row for row in rows if row[2] >= low]
        assert table.splits(unit, low, low).tolist() == []


def test_splits_of_no_words() -> None:
    table = WordTable(np.frombuffer(b"ab", np.uint8), np.array([0, 1, 2]))
    for unit, low, high in ((0, 0, 1), (1, -1, 1), (1, 0, 3), (1, 2, 1)):
        with pytest.raises(ValueError, match="no words"):
            table.splits(unit, low, high)
