"""Rules in a hash table, and words merged together, against merging one word by the book."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.kernels.rules import NOTHING, find_rules, merged
from tokdfa.kernels.together import LANES, WORD, begin_word, finish_word, merge_together

Rules = dict[tuple[int, int], tuple[int, int]]


def table(rules: list[tuple[int, int, int, int]]) -> tuple[np.ndarray, ...]:
    columns = [np.array(column, dtype=np.int32) for column in zip(*rules, strict=True)] if rules else None
    return find_rules(*(columns or [np.zeros(0, dtype=np.int32)] * 4))


def first_of_each(rules: list[tuple[int, int, int, int]]) -> Rules:
    found: Rules = {}
    for left, right, priority, product in rules:
        found.setdefault((left, right), (priority, product))
    return found


token = st.integers(0, 400)
rules = st.lists(st.tuples(token, token, st.integers(0, 1000), token), max_size=60)


@given(rules, st.lists(st.tuples(token, token), max_size=30))
def test_table_of_rules(rules: list[tuple[int, int, int, int]], pairs: list[tuple[int, int]]) -> None:
    keys, bits, of_symbols = table(rules)
    expected = first_of_each(rules)
    for u, v in [*pairs, *expected]:
        priority, product = expected.get((u, v), (None, None))
        value = NOTHING if priority is None else (priority << 32) | product
        assert merged(keys, bits, np.int64(u), np.int64(v)) == value
        if u < 256 and v < 256:
            assert of_symbols[u << 8 | v] == value


def test_table_with_full_buckets() -> None:
    # As many rules as fit: buckets overflow, and overflow again.
    draw = random.Random(1)
    rules = [(draw.randrange(1 << 20), draw.randrange(1 << 20), i, i) for i in range(50_000)]
    keys, bits, _ = table(rules)
    assert (keys.reshape(-1, 8)[:, 3] >= 0).mean() > 0.02
    for (u, v), (priority, product) in first_of_each(rules).items():
        assert merged(keys, bits, np.int64(u), np.int64(v)) == (priority << 32) | product
        assert merged(keys, bits, np.int64(v), np.int64(u + 1)) == NOTHING


def merge_plainly(word: list[int], rules: Rules) -> list[int]:
    """Merge the strongest pair, of equals the leftmost, until there is none."""
    word = list(word)
    while True:
        found = [(rules[pair], place) for place, pair in enumerate(pairwise(word)) if pair in rules]
        if not found:
            return word
        (_, product), place = min(found)
        word[place : place + 2] = [product]


def merge_in_lanes(words: list[bytes], rules: list[tuple[int, int, int, int]], symbol: np.ndarray) -> list[list[int]]:
    keys, bits, of_symbols = table(rules)
    lanes = np.zeros(WORD * len(words), dtype=np.int32)
    starts = np.zeros(len(words), dtype=np.uint64)
    waiting = np.arange(len(words), dtype=np.int64)
    for w, word in enumerate(words):
        text = np.frombuffer(b"?" + word + b"?", dtype=np.uint8)
        starts[w] = begin_word(of_symbols, symbol, text, 1, 1 + len(word), lanes, WORD * w)
    merge_together(keys, bits, lanes, starts, waiting, len(words))
    ids = np.arange(1000, dtype=np.int32) * 3
    found = []
    for w in range(len(words)):
        out = np.zeros(LANES, dtype=np.int32)
        n = finish_word(lanes, WORD * w, starts[w], ids, out, 0)
        found.append([id // 3 for id in out[:n].tolist()])
    return found


@given(st.lists(st.text("abcd", min_size=1, max_size=LANES - 1).map(str.encode), min_size=1, max_size=9), st.data())
def test_words_are_merged_each_by_itself(words: list[bytes], data: st.DataObject) -> None:
    # Tokens 0 to 3 are the symbols; rules over any tokens, improper ones as well.
    token = st.integers(0, 12)
    rule = st.tuples(token, token, st.integers(0, 5), st.integers(4, 12))
    rules = data.draw(st.lists(rule, max_size=20, unique_by=lambda rule: rule[:2]))
    symbol = np.full(256, -1, dtype=np.int32)
    symbol[list(b"abcd")] = range(4)
    expected = [merge_plainly([byte - ord("a") for byte in word], first_of_each(rules)) for word in words]
    assert merge_in_lanes(words, rules, symbol) == expected


def test_words_of_every_length() -> None:
    rules = [(0, 0, 1, 2), (2, 2, 2, 3), (3, 2, 3, 4), (0, 1, 4, 5), (4, 0, 5, 6)]
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
    _, _, of_symbols = table([])
    assert begin_word(of_symbols, symbol, np.frombuffer(b"aab", dtype=np.uint8), 0, 3, lanes, 0) == 0
