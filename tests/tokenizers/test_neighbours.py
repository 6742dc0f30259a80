"""Neighbours: pairs of tokens determine what merging gives, whatever the priorities are."""

from __future__ import annotations

import random
from itertools import pairwise, product
from pathlib import Path

import pytest
from support.by_ranks import merge
from support.tokenizer_files import tiktoken_lines

import tokdfa
from tokdfa.errors import UnsupportedFeatureError
from tokdfa.tokenizers.neighbours import Neighbours, neighbours


def allows(of: Neighbours, left: bytes, right: bytes) -> bool:
    row, position = of.rows.of_token[of.number_of[left]], of.position[of.number_of[right]]
    spans = range(of.rows.pointer[row], of.rows.pointer[row + 1])
    return not any(of.rows.start[i] <= position < of.rows.stop[i] for i in spans)


def check(source: random.Random, path: Path) -> bool:
    """Compare all words of up to seven symbols, and return whether the ranks are improper."""
    every = [bytes(word) for n in (2, 3, 4, 5) for word in product(b"ab" if n > 3 else b"abc", repeat=n)]
    words = source.sample(every, source.randint(3, 12))
    if source.random() < 0.4:
        # Mostly the shorter first, as in real files.
        words.sort(key=lambda word: len(word) + 2 * source.random())
    ranks = {word: rank for rank, word in enumerate([*(bytes([byte]) for byte in range(256)), *words])}
    path.write_bytes(tiktoken_lines(ranks))
    tokenizer = tokdfa.load(path, pretokenizer="none")
    of = neighbours(tokenizer)
    assert {word for word in ranks if merge(word, ranks) == [word]} == set(of.number_of)
    for word, number in of.number_of.items():
        assert of.ids[number] == ranks[word]
    live = [word for word in words if word in of.number_of] + [b"a", b"b", b"c"]
    for left, right in product(live, repeat=2):
        assert allows(of, left, right) == (merge(left + right, ranks) == [left, right]), (left, right, words)
    for n in range(1, 8):
        for word in map(bytes, product(b"abc" if n < 6 else b"ab", repeat=n)):
            merged = merge(word, ranks)
            assert all(allows(of, left, right) for left, right in pairwise(merged))
    # And of every sequence of live tokens whose neighbours are allowed, merging gives these tokens.
    for length in (3, 4):
        for tokens in product(live[-8:], repeat=length):
            if all(allows(of, left, right) for left, right in pairwise(tokens)):
                assert merge(b"".join(tokens), ranks) == list(tokens), (tokens, words)
    return not tokenizer.proper_part.is_everything


def test_random_ranks(tmp_path: Path) -> None:
    source = random.Random(0)
    improper = sum(check(source, tmp_path / f"{number}.tiktoken") for number in range(25))
    assert 2 < improper < 25


@pytest.mark.slow
def test_many_random_ranks(tmp_path: Path) -> None:
    source = random.Random(1)
    print(sum(check(source, tmp_path / f"{number}.tiktoken") for number in range(400)), "improper of 400")


def test_only_of_dictionaries_over_bytes(data: Path) -> None:
    with pytest.raises(UnsupportedFeatureError, match="over bytes"):
        neighbours(tokdfa.load(data / "vocabs" / "mistral_v3.model"))
