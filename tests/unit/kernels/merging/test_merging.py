"""Merging by priority, against merging by hand."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.kernels.library import Struct
from tokdfa.kernels.merging import merging as kernels
from tokdfa.kernels.merging.merging import derivations, derive

PAIRS = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 5)), st.tuples(st.integers(0, 3), st.integers(3, 5)), max_size=12
)


def merge_by_hand(tokens: list[int], pairs: dict[tuple[int, int], tuple[int, int]]) -> list[int]:
    while found := [(*pairs[pair], at) for at, pair in enumerate(pairwise(tokens)) if pair in pairs]:
        at = min((priority, at) for priority, _, at in found)[1]
        tokens = [*tokens[:at], pairs[tokens[at], tokens[at + 1]][1], *tokens[at + 2 :]]
    return tokens


def table(pairs: dict[tuple[int, int], tuple[int, int]]) -> Struct:
    rows = np.array([(*pair, *value) for pair, value in pairs.items()], dtype=np.int32).reshape(-1, 4)
    return kernels.pair_table(*(np.ascontiguousarray(column) for column in rows.T))


@given(PAIRS, st.lists(st.lists(st.integers(0, 5), max_size=24), max_size=4))
def test_pieces_are_merged_as_by_hand(pairs: dict[tuple[int, int], tuple[int, int]], pieces: list[list[int]]) -> None:
    offsets = np.cumsum([0, *map(len, pieces)]).astype(np.int64)
    symbols = np.array([symbol for piece in pieces for symbol in piece], dtype=np.int32)
    ends, tokens = kernels.merge_pieces(symbols, offsets, table(pairs))
    merged = [tokens[ends[i] : ends[i + 1]].tolist() for i in range(len(pieces))]
    assert merged == [merge_by_hand(piece, pairs) for piece in pieces]


def test_of_equal_pairs_the_first_counts() -> None:
    two = np.array([0, 0], np.int32)
    keys = kernels.pair_table(two, two, np.array([5, 6], np.int32), np.array([7, 8], np.int32))
    assert kernels.merge_pieces(two, np.array([0, 2], np.int64), keys)[1].tolist() == [7]


def test_a_long_piece_takes_no_quadratic_time() -> None:
    n = 1 << 20
    pairs = {(level, level): (level, level + 1) for level in range(20)}
    _, tokens = kernels.merge_pieces(np.zeros(n, np.int32), np.array([0, n], np.int64), table(pairs))
    assert tokens.tolist() == [20]


WORDS = st.lists(st.text("abc", min_size=2, max_size=6).map(str.encode), unique=True, max_size=10)


@given(WORDS, st.booleans())
def test_derive_as_by_hand(words: list[bytes], give_splits: bool) -> None:
    number = {bytes([byte]): byte for byte in range(256)} | {word: 256 + i for i, word in enumerate(words)}
    splits = [
        [(number[w[:cut]], number[w[cut:]]) for cut in range(1, len(w)) if w[:cut] in number and w[cut:] in number]
        for w in words
    ]
    pairs: dict[tuple[int, int], tuple[int, int]] = {}
    expected = []
    for i, word in enumerate(words):
        parts = merge_by_hand(list(word), pairs)
        found = tuple(parts) if len(parts) == 2 else (-1, -1)
        expected.append(found)
        for pair in splits[i] if give_splits else [found]:
            pairs.setdefault(pair, (i, 256 + i))
    text = np.frombuffer(b"".join(words), np.uint8).astype(np.int32)
    offsets = np.cumsum([0, *map(len, words)]).astype(np.int64)
    flat = (
        np.array([pair for row in splits for pair in row], dtype=np.int32).reshape(-1, 2)
        if give_splits
        else np.empty((0, 2), np.int32)
    )
    start = np.cumsum([0, *map(len, splits)]).astype(np.int64) if give_splits else np.empty(0, np.int64)
    left, right, first, second = derive(
        text, offsets, 256, start, np.ascontiguousarray(flat[:, 0]), np.ascontiguousarray(flat[:, 1])
    )
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == expected
    for i, word in enumerate(words):
        parts = merge_by_hand(list(word), pairs)
        late = tuple(parts) if len(parts) == 2 and expected[i] == (-1, -1) and not give_splits else (-1, -1)
        assert (first[i], second[i]) == late


@given(PAIRS, st.lists(st.lists(st.integers(0, 5), max_size=24), max_size=4))
def test_derivations_as_by_hand(pairs: dict[tuple[int, int], tuple[int, int]], words: list[list[int]]) -> None:
    offsets = np.cumsum([0, *map(len, words)]).astype(np.int64)
    symbols = np.array([symbol for word in words for symbol in word], dtype=np.int32)
    last, ascending = derivations(symbols, offsets, table(pairs))
    for place, tokens in enumerate(words):
        step, priorities = (-1, -1, -1), []
        while found := [(*pairs[pair], at) for at, pair in enumerate(pairwise(tokens)) if pair in pairs]:
            priority, at = min((priority, at) for priority, _, at in found)
            step = (tokens[at], tokens[at + 1], priority)
            priorities.append(priority)
            tokens = [*tokens[:at], pairs[tokens[at], tokens[at + 1]][1], *tokens[at + 2 :]]
        assert last[place].tolist() == [len(tokens), *step]
        assert ascending[place] == (priorities == sorted(priorities))


RULES = st.lists(st.tuples(*[st.integers(0, 9)] * 2), min_size=1, max_size=12)


@given(RULES, st.randoms())
def test_inner_pairs_are_those_of_the_words_of_tokens(parts: list[tuple[int, int]], drawn: Random) -> None:
    # Tokens 0 to 3 are symbols, and rule i makes token 4 + i of earlier ones; the rules come in any order.
    rules = [(left % (4 + i), right % (4 + i), 4 + i) for i, (left, right) in enumerate(parts)]
    words: list[tuple[int, ...]] = [(symbol,) for symbol in range(4)]
    for left, right, _ in rules:
        words.append(words[left] + words[right])
    expected = {words[left][-1] << 32 | words[right][0] for left, right, _ in rules}
    drawn.shuffle(rules)
    columns = (np.array(column, dtype=np.int32) for column in zip(*rules, strict=True))
    assert kernels.inner_pairs(*columns).tolist() == sorted(expected)


def test_a_token_that_is_made_of_itself_has_no_symbols() -> None:
    columns = (np.array(column, dtype=np.int32) for column in ([0, 2, 0], [1, 0, 2], [3, 2, 4]))
    assert kernels.inner_pairs(*columns).tolist() == [0 << 32 | 1]
