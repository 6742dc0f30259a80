"""Neighbours: pairs of tokens determine the results of merging, for any priorities."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.by_ranks import merge
from tests.support.tokenizer_files import tiktoken_lines
from tokdfa.automata.alphabet import Word
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.formats.ranks import over_scored
from tokdfa.tokenizers.neighbours import Neighbours, neighbours
from tokdfa.tokenizers.tokenizer import Tokenizer


def allows(of: Neighbours, left: Word, right: Word) -> bool:
    row, position = of.rows.of_token[of.number_of[left]], of.position[of.number_of[right]]
    spans = range(of.rows.pointer[row], of.rows.pointer[row + 1])
    return not any(of.rows.start[i] <= position < of.rows.stop[i] for i in spans)


def assert_neighbours_by_merging(source: random.Random, path: Path) -> bool:
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
    # And of every sequence of live tokens with allowed neighbours, merging gives these tokens.
    for length in (3, 4):
        for tokens in product(live[-8:], repeat=length):
            if all(allows(of, left, right) for left, right in pairwise(tokens)):
                assert merge(b"".join(tokens), ranks) == list(tokens), (tokens, words)
    return not tokenizer.proper_part.is_everything


def test_random_ranks(tmp_path: Path) -> None:
    source = random.Random(0)
    improper = sum(assert_neighbours_by_merging(source, tmp_path / f"{number}.tiktoken") for number in range(25))
    assert 2 < improper < 25


@pytest.mark.slow
def test_many_random_ranks(tmp_path: Path, tally: Tally) -> None:
    source = random.Random(1)
    paths = (tmp_path / f"{number}.tiktoken" for number in range(400))
    print(sum(assert_neighbours_by_merging(source, path) for path in paths), "improper of 400")
    tally("validation", "random cases", 400)


def test_of_dictionaries_over_characters() -> None:
    source = random.Random(2)
    met: Counter[str] = Counter()
    for _ in range(25):
        words, rules = ["a", "é", "\u2581"], []
        for _ in range(source.randint(2, 8)):
            pair = source.choice(words), source.choice(words)
            if pair not in rules and len("".join(pair)) < 6:
                rules.append(pair)
                words.append("".join(pair))
        source.shuffle(rules)
        dictionary = tokdfa.Dictionary.from_pairs(rules, alphabet="aé\u2581")
        ids = np.arange(len(dictionary.alphabet), dtype=np.int32)
        tokenizer = Tokenizer(Contents(format="tokenizer.json", dictionary=dictionary, ids=ids))
        of = neighbours(tokenizer)
        met["improper"] += not dictionary.properness()
        for left, right in product(of.number_of, repeat=2):
            ids = of.ids[[of.number_of[left], of.number_of[right]]]
            is_allowed = tokenizer.encode_piece(left + right).tolist() == ids.tolist()
            assert allows(of, left, right) == is_allowed, (rules, left, right)
            met["forbidden"] += not is_allowed
    assert met["improper"] > 3, met
    assert met["forbidden"] > 30, met


def test_of_scores_that_are_equal() -> None:
    source = random.Random(3)
    met: Counter[str] = Counter()
    for _ in range(60):
        every = ["".join(word) for n in (2, 3, 4) for word in product("ab", repeat=n)]
        words = ["a", "b", *source.sample(every, source.randint(2, 7))]
        normal = {word: (number, -float(source.randrange(3))) for number, word in enumerate(words)}
        columns = np.arange(len(words), dtype=np.int32), np.array([score for _, score in normal.values()])
        tokenizer = Tokenizer(Contents(format="sentencepiece", **over_scored(words, *columns, {}, "here")))
        of = neighbours(tokenizer)
        scores = [score for word, (_, score) in normal.items() if len(word) > 1]
        met["equal"] += len({*scores}) < len(scores)
        met["late"] += len(tokenizer.proper_part.late) > 0
        for left, right in product(of.number_of, repeat=2):
            ids = of.ids[[of.number_of[left], of.number_of[right]]]
            is_allowed = tokenizer.encode_piece("".join(left + right)).tolist() == ids.tolist()
            assert allows(of, left, right) == is_allowed, (normal, left, right)
    assert met["equal"] > 30, met
    assert met["late"] > 9, met


@pytest.mark.slow
def test_of_runs_of_spaces(data: Path) -> None:
    # The runs of spaces of this model have one score, and the leftmost pair merges first.
    tokenizer = tokdfa.load(data / "vocabs" / "mistral_v3.model")
    of = neighbours(tokenizer)
    assert isinstance(tokenizer, Tokenizer)
    runs = [word for word in of.number_of if {*word} == {"\u2581"}]
    assert len(runs) == 15
    assert len(tokenizer.proper_part.late) == 14
    source = random.Random(3)
    others = source.sample([word for word in of.number_of if word[0] == "\u2581" or word[-1] == "\u2581"], 60)
    pairs = [*product(runs, repeat=2), *((run, word) for run in runs for word in others)]
    encoded = tokenizer.encode_pieces(["".join(left + right) for left, right in pairs])
    for (left, right), begin, end in zip(pairs, encoded.offsets[:-1], encoded.offsets[1:], strict=True):
        ids = of.ids[[of.number_of[left], of.number_of[right]]]
        is_allowed = encoded.ids[begin:end].tolist() == ids.tolist()
        assert allows(of, left, right) == is_allowed, (left, right)
