"""Rules in a hash table, and words merged together, against merging one word by the book."""

from __future__ import annotations

import random
from itertools import accumulate, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.encoding import merged
from tokdfa.kernels.encode.events import BEGINS, EVENT_BITS
from tokdfa.kernels.encode.one_pass import BUCKET, NO_NUMBER, NOTHING, index_rules, index_words, tables_of
from tokdfa.kernels.encode.pieces import DONE, FOREIGN, SLACK, TOO_LONG, PieceRun
from tokdfa.kernels.library import Struct

# Words of fewer bytes are merged with others.
FEW_LANES, LANES = 16, 64
# Longer ones are not merged.
LONGEST_MERGED = 512

Rules = dict[tuple[int, int], int]


def table(rules: list[tuple[int, int, int]], symbols: bytes = b"") -> Struct:
    """Return tables with these rules and no words; the symbols are the tokens from 0 on, and ids three times tokens."""
    columns = np.array(rules, dtype=np.int32).reshape(-1, 3).T.copy()
    found, of_symbols = index_rules(*columns)
    assert found.ctypes.data % 64 == 0
    symbol = np.full(256, -1, dtype=np.int32)
    symbol[list(symbols)] = range(len(symbols))
    ids = np.arange(1000, dtype=np.int32) * 3
    no_words = index_words(np.zeros(0, np.uint8), np.zeros(1, np.int64), np.zeros(0, np.bool_))
    return tables_of(no_words, found, of_symbols, symbol, ids, ids)


def first_of_each(rules: list[tuple[int, int, int]]) -> Rules:
    found: Rules = {}
    for left, right, product in rules:
        found.setdefault((left, right), product)
    return found


token = st.integers(0, 400)
rules = st.lists(st.tuples(token, token, st.integers(1, 400)), max_size=60)


@given(rules, st.lists(st.tuples(token, token), max_size=30))
def test_table_of_rules(rules: list[tuple[int, int, int]], pairs: list[tuple[int, int]]) -> None:
    tables = table(rules)
    expected = first_of_each(rules)
    for u, v in [*pairs, *expected, (0, 0), (NO_NUMBER, 1)]:
        product = expected.get((u, v), NOTHING)
        assert merged(tables, u, v) == product
        if u < 256 and v < 256:
            assert tables.fields["of_symbols"][u << 8 | v] == product


def test_the_first_of_equal_pairs_counts() -> None:
    """Wherever it is: first in its bucket, further on, or in a bucket after a full one."""
    pairs = [(u, v) for u in range(0, 400, 7) for v in range(0, 400, 9)]
    rules = [(u, v, 1 + i % 300) for i, (u, v) in enumerate(pairs)]
    tables = table([*rules, *((u, v, 1 + product % 300) for u, v, product in rules)])
    for u, v, product in rules:
        assert merged(tables, u, v) == product
        if u < 256 and v < 256:
            assert tables.fields["of_symbols"][u << 8 | v] == product


def test_table_with_full_buckets() -> None:
    # Buckets overflow, and overflow again, the last one into the first.
    draw = random.Random(1)
    largest = NO_NUMBER - 1
    rules = [(draw.randint(0, largest), draw.randint(0, largest), largest - i) for i in range(50_000)]
    tables = table(rules)
    assert (tables.fields["rules"].reshape(-1, BUCKET)[:, -1] >> np.uint64(63)).mean() > 0.02
    for (u, v), product in first_of_each(rules).items():
        assert merged(tables, u, v) == product
        assert merged(tables, v, u ^ 1) == NOTHING
    few = [(i, i, i + 1) for i in range(8)]
    for n in range(9):
        tables = table(few[:n])
        for u, _, product in few:
            assert merged(tables, u, u) == (product if u < n else NOTHING)


def merge_plainly(word: list[int], rules: Rules) -> list[int]:
    """Merge the strongest pair, the leftmost of equally strong ones, until none is left."""
    word = list(word)
    while True:
        found = [(rules[pair], place) for place, pair in enumerate(pairwise(word)) if pair in rules]
        if not found:
            return word
        product, place = min(found)
        word[place : place + 2] = [product]


def encode(tables: Struct, words: list[bytes]) -> tuple[int, list[list[int]]]:
    """Encode words by these tables, with an empty cache; return the status and the ids written for each word."""
    run = PieceRun(tables, tables, 16, None)
    text = b"".join(words)
    bounds = np.array([0, *accumulate(map(len, words))], dtype=np.int64)
    out, ends = np.full(len(text) + SLACK, -7, dtype=np.int32), np.zeros(len(words), dtype=np.int64)
    status = run.encode(text, bounds << EVENT_BITS | BEGINS, out, ends)
    ends = ends[: run.next]
    return status, [out[start:end].tolist() for start, end in pairwise([0, *ends.tolist()])]


def merge_in_lanes(words: list[bytes], rules: list[tuple[int, int, int]], symbols: bytes) -> list[list[int]]:
    status, found = encode(table(rules, symbols), words)
    assert status == DONE
    return [[id // 3 for id in ids] for ids in found]


some_words = st.lists(st.text("abcd", min_size=1, max_size=LANES - 1).map(str.encode), min_size=1, max_size=9)
longer_words = st.lists(st.text("abcd", min_size=LANES, max_size=2 * LANES).map(str.encode), min_size=1, max_size=2)


@given(some_words | longer_words, st.data())
def test_words_are_merged_each_by_itself(words: list[bytes], data: st.DataObject) -> None:
    # Tokens 0 to 3 are the symbols; rules over any tokens, improper ones as well.
    token = st.integers(0, 12)
    rule = st.tuples(token, token, st.integers(4, 12))
    rules = data.draw(st.lists(rule, max_size=20, unique_by=lambda rule: rule[:2]))
    expected = [merge_plainly([byte - ord("a") for byte in word], first_of_each(rules)) for word in words]
    assert merge_in_lanes(words, rules, b"abcd") == expected


def test_words_of_every_length() -> None:
    rules = [(0, 0, 2), (2, 2, 3), (3, 2, 4), (0, 1, 5), (4, 0, 6)]
    draw = random.Random(2)
    lengths = [*range(1, LANES)] * 3 + [
        *range(LANES, LANES + 70, 5),
        *range(LONGEST_MERGED - 200, LONGEST_MERGED + 1, 40),
    ]
    words = [bytes(draw.choice(b"aaab") for _ in range(n)) for n in lengths]
    expected = [merge_plainly([byte - ord("a") for byte in word], first_of_each(rules)) for word in words]
    assert merge_in_lanes(words, rules, b"ab") == expected


def test_blocks_with_many_new_words() -> None:
    # They are large, with more longer words than there is room for.
    rules = [(0, 0, 2), (2, 2, 3), (3, 2, 4), (0, 1, 5), (4, 0, 6)]
    draw = random.Random(3)
    words = [bytes(draw.choice(b"aaab") for _ in range(draw.randint(1, LANES + 9))) for _ in range(400)]
    expected = [merge_plainly([byte - ord("a") for byte in word], first_of_each(rules)) for word in words]
    assert merge_in_lanes(words, rules, b"ab") == expected


def test_all_256_bytes_are_symbols() -> None:
    rules = [(0, 255, 256), (255, 255, 257), (256, 257, 258)]
    words = [b"\x00\xff", b"\xff" * 9, b"\x00\xff\xff\xff" * 60, b"\x00\xff\xff\xff" * 3, b"\x00\xff\xff\xff" * 8]
    expected = [merge_plainly([*word], first_of_each(rules)) for word in words]
    assert merge_in_lanes(words, rules, bytes(range(256))) == expected


def test_foreign_bytes_are_told() -> None:
    tables = table([(0, 0, 1)], b"a")
    for word in (b"aab", b"b", b"aaba" * 5, b"aaba" * 40):
        for n in (20, 200):
            before, after = [b"aa", b"aaa"] * n, [b"aaaa"] * 20
            assert encode(tables, [*before, word, *after]) == (FOREIGN, [[3], [3, 0]] * n)


def test_words_that_are_too_long_are_told() -> None:
    tables = table([(0, 0, 1)], b"a")
    assert encode(tables, [b"aa", b"a" * LONGEST_MERGED])[0] == DONE
    assert encode(tables, [b"aa", b"a" * (LONGEST_MERGED + 1), b"a"]) == (TOO_LONG, [[3]])
