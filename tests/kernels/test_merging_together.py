"""Rules in a hash table, and words merged together, against merging one word by the book."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.kernels.packed import load, pack
from tokdfa.kernels.rules import BUCKET, NO_NUMBER, NOTHING, find_rules, merged, room_for_rules
from tokdfa.kernels.together import (
    AT_ONCE,
    FEW_LANES,
    LANES,
    WORD,
    begin_long_word,
    begin_short_word,
    finish_word,
    merge_together,
)

Rules = dict[tuple[int, int], int]


def table(rules: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray]:
    columns = np.array(rules, dtype=np.int32).reshape(-1, 3).T.copy()
    found = room_for_rules(len(rules))
    assert found.ctypes.data % 64 == 0
    return found, find_rules(*columns, found)


def first_of_each(rules: list[tuple[int, int, int]]) -> Rules:
    found: Rules = {}
    for left, right, product in rules:
        found.setdefault((left, right), product)
    return found


token = st.integers(0, 400)
rules = st.lists(st.tuples(token, token, st.integers(1, 400)), max_size=60)


@given(rules, st.lists(st.tuples(token, token), max_size=30))
def test_table_of_rules(rules: list[tuple[int, int, int]], pairs: list[tuple[int, int]]) -> None:
    keys, of_symbols = table(rules)
    expected = first_of_each(rules)
    for u, v in [*pairs, *expected, (0, 0), (int(NO_NUMBER), 1)]:
        product = expected.get((u, v), int(NOTHING))
        assert merged(keys, np.int64(u), np.int64(v)) == product
        if u < 256 and v < 256:
            assert of_symbols[u << 8 | v] == product


def test_table_with_full_buckets() -> None:
    # Buckets overflow, and overflow again, the last one into the first.
    draw = random.Random(1)
    largest = int(NO_NUMBER) - 1
    rules = [(draw.randint(0, largest), draw.randint(0, largest), largest - i) for i in range(50_000)]
    keys, _ = table(rules)
    assert (keys.reshape(-1, BUCKET)[:, -1] < 0).mean() > 0.02
    for (u, v), product in first_of_each(rules).items():
        assert merged(keys, np.int64(u), np.int64(v)) == product
        assert merged(keys, np.int64(v), np.int64(u ^ 1)) == NOTHING
    few = [(i, i, i + 1) for i in range(8)]
    for n in range(9):
        keys, _ = table(few[:n])
        for u, _, product in few:
            assert merged(keys, np.int64(u), np.int64(u)) == (product if u < n else NOTHING)


def merge_plainly(word: list[int], rules: Rules) -> list[int]:
    """Merge the strongest pair, of equals the leftmost, until there is none."""
    word = list(word)
    while True:
        found = [(rules[pair], place) for place, pair in enumerate(pairwise(word)) if pair in rules]
        if not found:
            return word
        product, place = min(found)
        word[place : place + 2] = [product]


def begin(of_symbols: np.ndarray, symbol: np.ndarray, word: bytes, lanes: np.ndarray, at: int) -> np.uint64:
    text = np.frombuffer(b"?" + word + b"?", dtype=np.uint8)
    n = len(word)
    if n >= FEW_LANES:
        return np.uint64(begin_long_word(of_symbols, symbol, text, 1, 1 + n, lanes, at))
    low, high = pack(np.uint64(load(text, 1)), np.uint64(load(text, 9)), n)
    return np.uint64(begin_short_word(of_symbols, symbol, np.uint64(low), np.uint64(high), n, lanes, at))


def merge_in_lanes(words: list[bytes], rules: list[tuple[int, int, int]], symbol: np.ndarray) -> list[list[int]]:
    keys, of_symbols = table(rules)
    lanes = np.zeros(WORD * len(words), dtype=np.int32)
    starts = np.zeros(len(words), dtype=np.uint64)
    n_lanes = [FEW_LANES if len(word) < FEW_LANES else LANES for word in words]
    for w, word in enumerate(words):
        starts[w] = begin(of_symbols, symbol, word, lanes, WORD * w)
    for n in (FEW_LANES, LANES):
        waiting = np.array([w for w in range(len(words)) if n_lanes[w] == n], dtype=np.int64)
        merge_together(keys, lanes, starts, waiting, len(waiting), n)
    ids = np.arange(1000, dtype=np.int32) * 3
    found = []
    for w in range(len(words)):
        out = np.zeros(LANES + AT_ONCE, dtype=np.int32)
        n = finish_word(lanes, WORD * w, n_lanes[w], starts[w], ids, out, 0)
        found.append([id // 3 for id in out[:n].tolist()])
    return found


@given(st.lists(st.text("abcd", min_size=1, max_size=LANES - 1).map(str.encode), min_size=1, max_size=9), st.data())
def test_words_are_merged_each_by_itself(words: list[bytes], data: st.DataObject) -> None:
    # Tokens 0 to 3 are the symbols; rules over any tokens, improper ones as well.
    token = st.integers(0, 12)
    rule = st.tuples(token, token, st.integers(4, 12))
    rules = data.draw(st.lists(rule, max_size=20, unique_by=lambda rule: rule[:2]))
    symbol = np.full(256, -1, dtype=np.int32)
    symbol[list(b"abcd")] = range(4)
    expected = [merge_plainly([byte - ord("a") for byte in word], first_of_each(rules)) for word in words]
    assert merge_in_lanes(words, rules, symbol) == expected


def test_words_of_every_length() -> None:
    rules = [(0, 0, 2), (2, 2, 3), (3, 2, 4), (0, 1, 5), (4, 0, 6)]
    symbol = np.full(256, -1, dtype=np.int32)
    symbol[list(b"ab")] = range(2)
    draw = random.Random(2)
    words = [bytes(draw.choice(b"aaab") for _ in range(n)) for n in range(1, LANES) for _ in range(3)]
    expected = [merge_plainly([byte - ord("a") for byte in word], first_of_each(rules)) for word in words]
    assert merge_in_lanes(words, rules, symbol) == expected


def test_foreign_bytes_are_told() -> None:
    symbol = np.full(256, -1, dtype=np.int32)
    symbol[ord("a")] = 0
    lanes = np.zeros(WORD, dtype=np.int32)
    _, of_symbols = table([])
    assert begin(of_symbols, symbol, b"aa", lanes, 0) == 3
    for word in (b"aab", b"aaba" * 5):
        assert begin(of_symbols, symbol, word, lanes, 0) == 0
