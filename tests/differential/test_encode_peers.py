"""Ids in bulk and on adversarial texts: against the libraries, and against merging straight from the ranks.

tiktoken and tokenizers encode a piece of a million letters in seconds, so that they are asked about long pieces, too.
Texts without pre-tokenizer they do not take; there the oracle is a priority queue, or rounds, over the ranks.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.by_ranks import merge_by_queue, merge_by_rounds
from tests.support.libraries import pair, ranks
from tokdfa import Tokenizer
from tokdfa.tokenizers.encoding.batches import encode_batch

NAMES = ["gpt2", "cl100k", "o200k"]
RANKED = ["cl100k", "o200k"]
SYMBOLS = [*"abcdefgh    \n\t.,'\"0123456789-ABCé中한\u0301\u200d\U0001f600\x00\xa0"]
BITS = ["the", " and", "ing", "'s", "'LL", "\r\n", "    ", "2024", "://", "!!!", "ſ", "Straße", "नमस्ते", "<|endoftext|>"]
LOT = 50_000


def random_strings(seed: int, count: int) -> Iterator[str]:
    """Strings of a few symbols and bits of words, of any code points, and of both."""
    draw = random.Random(seed)
    for i in range(count):
        n = draw.randrange(1, 16)
        if i % 4 == 0:
            points = (draw.randrange(0x110000 if draw.random() < 0.3 else 0x3000) for _ in range(n))
            yield "".join(chr(point) for point in points if not 0xD800 <= point < 0xE000)
        else:
            yield "".join(draw.choices(SYMBOLS if i % 4 < 3 else [*SYMBOLS, *BITS], k=n))


def assert_strings_encoded_alike(name: str, data: Path, seed: int, count: int) -> None:
    tokenizer, _, encode_all = pair(name, data)
    strings = list(random_strings(seed, count))
    ids, offsets = encode_batch(tokenizer, strings, threads=1)
    for text, (start, end), expected in zip(strings, pairwise(offsets.tolist()), encode_all(strings), strict=True):
        assert ids[start:end].tolist() == expected, text


def words_of_letters(tokenizer: Tokenizer, count: int, longest: int = 30) -> list[str]:
    """Tokens of four letters or more, without anything else: texts of them are one piece."""
    draw = random.Random(5)
    ids = tokenizer.token_to_id[tokenizer.token_to_id >= 0]
    found: list[str] = []
    while len(found) < count:
        word = tokenizer.decode_bytes([int(ids[draw.randrange(len(ids))])])
        if 4 <= len(word) <= longest and word.isalpha() and word.islower():
            found.append(word.decode())
    return found


def near_merges(tokenizer: Tokenizer, length: int, count: int) -> Iterator[str]:
    """Repetitions of a token and of near tokens, so that merges are begun everywhere and come to nothing."""
    for word in words_of_letters(tokenizer, count):
        for unit in (word[:-1], word[:-1] + word, word + word[1:], word[1:] + word[:-1]):
            yield (unit * (length // len(unit) + 1))[:length]


def random_tokens(tokenizer: Tokenizer, count: int, seed: int = 6) -> str:
    ids = tokenizer.token_to_id[tokenizer.token_to_id >= 0]
    picked = random.Random(seed).choices(range(len(ids)), k=count)
    return tokenizer.decode_bytes(ids[picked]).decode("utf-8", "replace")


@pytest.mark.parametrize("name", NAMES)
def test_random_strings(name: str, data: Path) -> None:
    assert_strings_encoded_alike(name, data, seed=1, count=2_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_million_random_strings(name: str, data: Path, tally: Tally) -> None:
    for lot in range(1_000_000 // LOT):
        assert_strings_encoded_alike(name, data, seed=100 + lot, count=LOT)
    tally("encoding", "random cases", 1_000_000 // LOT * LOT)


@pytest.mark.parametrize("name", NAMES)
def test_texts_of_random_tokens(name: str, data: Path) -> None:
    tokenizer, encode, _ = pair(name, data)
    text = random_tokens(tokenizer, 20_000)
    assert tokenizer.encode(text).tolist() == encode(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_texts_of_a_million_random_tokens(name: str, data: Path, tally: Tally) -> None:
    tokenizer, encode, _ = pair(name, data)
    for seed in range(4):
        text = random_tokens(tokenizer, 250_000, seed)
        assert tokenizer.encode(text).tolist() == encode(text)
    tally("encoding", "random cases", 4)


@pytest.mark.parametrize("name", NAMES)
def test_long_pieces(name: str, data: Path) -> None:
    tokenizer, encode, _ = pair(name, data)
    words = words_of_letters(tokenizer, 4_000)
    texts = [*("a" * 10_000, "中" * 3_000, "!" * 5_000, " " * 9_999 + "x", "\n" * 9_999, "é" * 4_001), "".join(words)]
    for text in (*texts, *near_merges(tokenizer, 3_000, count=5)):
        assert tokenizer.encode(text).tolist() == encode(text), text[:50]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_pieces_of_a_million_symbols(name: str, data: Path) -> None:
    tokenizer, encode, _ = pair(name, data)
    texts = ["a" * 1_000_000, "".join(words_of_letters(tokenizer, 150_000))]
    for text in (*texts, *near_merges(tokenizer, 1_000_000, count=1)):
        assert tokenizer.encode(text).tolist() == encode(text), text[:50]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_ten_million_equal_letters(name: str, data: Path) -> None:
    tokenizer, encode, _ = pair(name, data)
    text = "a" * 10_000_000
    ids = tokenizer.encode(text)
    assert np.array_equal(ids, encode(text))
    if name in RANKED:
        assert np.array_equal(ids, merge_by_rounds(ranks(data / f"vocabs/{name}_base.tiktoken"), text.encode()))


def without_pretokenizer(name: str, data: Path) -> tuple[Tokenizer, dict[bytes, int]]:
    path = data / f"vocabs/{name}_base.tiktoken"
    return tokdfa.load(path, pretokenizer="none"), ranks(path)


def test_the_oracles_agree() -> None:
    draw = random.Random(7)
    for _ in range(300):
        words = [b"a", b"b"]
        for _ in range(draw.randrange(1, 12)):
            word = draw.choice(words) + draw.choice(words)
            if word not in words:
                words.append(word)
        table = {word: rank for rank, word in enumerate(words)}
        text = bytes(draw.choices(b"ab", k=draw.randrange(1, 60)))
        slowest = [text[i : i + 1] for i in range(len(text))]
        while len(slowest) > 1:
            rank, i = min((table.get(u + v, 99), i) for i, (u, v) in enumerate(pairwise(slowest)))
            if rank == 99:
                break
            slowest[i : i + 2] = [slowest[i] + slowest[i + 1]]
        assert merge_by_queue(table, text) == [table[word] for word in slowest]
        by_letter = b"a" * len(text)
        assert merge_by_rounds(table, by_letter) == merge_by_queue(table, by_letter)


@pytest.mark.parametrize("name", RANKED)
def test_without_pretokenizer(name: str, data: Path) -> None:
    tokenizer, table = without_pretokenizer(name, data)
    corpus = (data / "corpora/multilingual.txt").read_bytes()[2_000_000:2_020_000].decode("utf-8", "ignore")
    texts = [corpus, random_tokens(tokenizer, 4_000), "\n" * 5_000 + " " * 5_000, *near_merges(tokenizer, 2_000, 5)]
    for text in texts:
        assert tokenizer.encode(text).tolist() == merge_by_queue(table, text.encode()), text[:50]


@pytest.mark.slow
@pytest.mark.parametrize("name", RANKED)
def test_without_pretokenizer_at_length(name: str, data: Path) -> None:
    tokenizer, table = without_pretokenizer(name, data)
    corpus = (data / "corpora/english.txt").read_text(encoding="utf-8")[:1_000_000]
    for text in (corpus, random_tokens(tokenizer, 200_000), *near_merges(tokenizer, 500_000, 1)):
        assert np.array_equal(tokenizer.encode(text), merge_by_queue(table, text.encode())), text[:50]
    text = "a" * 10_000_000 + "b"
    assert np.array_equal(tokenizer.encode(text), merge_by_rounds(table, text.encode()))
