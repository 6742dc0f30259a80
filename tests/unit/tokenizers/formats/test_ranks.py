"""Dictionaries recovered from ranked words."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tokenizer_files import ranks
from tokdfa import Dictionary, Tokenizer, tokenize_leftmost
from tokdfa.tokenizers.decoder import spellings
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.formats.ranks import from_ranks, rules_of_words

HERE = Path("here")
WORDS = st.lists(st.text("ab", min_size=2, max_size=5).map(str.encode), unique=True, max_size=8)
TEXTS = st.text("abx", max_size=12)


def read(ranked: dict[bytes, int]) -> Contents:
    return from_ranks(spellings(list(ranked)), np.array(list(ranked.values())), HERE, "tiktoken", first_id=0)


@given(WORDS, st.lists(TEXTS))
def test_any_ranks_encode_as_tiktoken_does(words: list[bytes], texts: list[str]) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    ranked = ranks(words)
    theirs = tiktoken.Encoding("test", pat_str=r"[\s\S]+", mergeable_ranks=ranked, special_tokens={})
    tokenizer = Tokenizer(read(ranked))
    for text in [*texts, *(word.decode() for word in words)]:
        assert tokenizer.encode(text).tolist() == theirs.encode_ordinary(text)


@given(WORDS, st.lists(TEXTS))
def test_proper_ones_are_proper_and_say_the_same(words: list[bytes], texts: list[str]) -> None:
    # Whether the rules are complete, by merging any two neighbouring tokens that make a word, lowest rank first.
    contents = read(ranks(words))
    dictionary = contents.dictionary
    ranked = ranks(words)
    differs = False
    for text in [*texts, *(word.decode() for word in words)]:
        tokens = [bytes([byte]) for byte in text.encode()]
        while found := [(ranked[u + v], at) for at, (u, v) in enumerate(pairwise(tokens)) if u + v in ranked]:
            _, at = min(found)
            tokens[at : at + 2] = [tokens[at] + tokens[at + 1]]
        differs |= tokenize_leftmost(dictionary, text.encode()) != tuple(tokens)
    assert contents.merges is not None or not differs
    assert bool(dictionary.properness()) == (contents.merges is None)


@given(WORDS)
def test_the_plain_case_is_a_proper_dictionary(words: list[bytes]) -> None:
    # Ranks of a dictionary trained word by word: each is a pair of earlier ones, live by construction.
    tokens = [b"a", b"b"]
    rules: list[tuple[bytes, bytes]] = []
    for word in words:
        u, v = tokens[word[0] % len(tokens)], tokens[len(word) % len(tokens)]
        trial = Dictionary([*rules, (u, v)])
        if u + v not in tokens and len(trial.live_rules) == len(trial):
            rules.append((u, v))
            tokens.append(u + v)
    assert list(read(ranks(u + v for u, v in rules)).dictionary) == rules


def test_a_token_dead_for_merging_is_a_whole_piece() -> None:
    # ab·c takes the b away before bc could be made, so that abc is all that is left of both.
    tokenizer = Tokenizer(read(ranks([b"ab", b"bc", b"abcd"])))
    assert [str(rule) for rule in tokenizer.dictionary] == ["a≀b", "b≀c"]
    assert tokenizer.extra_tokens == (b"abcd",)
    assert tokenizer.encode("abcd").tolist() == [258]
    assert tokenizer.encode("abcdx").tolist() == [256, 99, 100, 120]
    assert tokenizer.dead_tokens.tolist() == []
    assert [tokenizer.token(number) for number in tokenizer.whole_piece_tokens] == [b"abcd"]


def test_a_split_with_a_weaker_part_makes_the_dictionary_improper() -> None:
    tokenizer = Tokenizer(read(ranks([b"abc", b"ab"])))
    assert tokenizer.encode("abcx").tolist() == [256, 120]
    verdict = tokenizer.dictionary.properness()
    assert not verdict
    assert verdict.witness is not None
    assert (verdict.witness.index, verdict.witness.side, verdict.witness.part) == (0, "left", b"ab")


def test_dead_words_that_are_not_utf8_are_dead() -> None:
    tokenizer = Tokenizer(read(ranks([b"ab", b"b\xff", b"ab\xff\xff"])))
    dead = [tokenizer.token(number) for number in tokenizer.dead_tokens]
    assert dead == [b"ab\xff\xff"]


def assert_splits_of_words(words: list[str], symbols: str) -> int:
    tokens = [*symbols, *words]
    _, splits = rules_of_words(words, {text: n for n, text in enumerate(symbols)}, np.zeros(len(words), np.int32))
    assert splits is not None
    wanted = {
        (tokens.index(word[:cut]), tokens.index(word[cut:]), tokens.index(word))
        for word in words
        for cut in range(1, len(word))
        if word[:cut] in tokens and word[cut:] in tokens
    }
    found = [tuple(row) for row in splits.tolist()]
    assert len(found) == len(wanted)
    assert set(found) == wanted
    assert [product for *_, product in found] == sorted(product for *_, product in found)
    return len(found)


@given(st.lists(st.text("abé", min_size=2, max_size=6), unique=True, min_size=2, max_size=30))
def test_words_of_equal_strength_keep_all_splits(words: list[str]) -> None:
    assert_splits_of_words(words, "éab")


def test_splits_of_long_words() -> None:
    # All their cuts, each with a copy of the word, are too many to be looked up at once.
    words = ["ab" * n for n in range(600, 0, -40)] + ["a" * 40, "ba" * 40]
    n_splits = assert_splits_of_words(words, "abc")
    assert n_splits > 20
