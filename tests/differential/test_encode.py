"""Ids of real tokenizers equal their own libraries' ids."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.campaigns.evidence.tally import Tally
from tests.support.libraries import pair
from tokdfa import Tokenizer

CORPORA = ["english", "python_code", "multilingual", "fra_eng_en"]

# Symbols that patterns distinguish, and symbols that tokens are made of.
ALPHABET = [
    *(" ", "  ", "      ", "\n", "\r\n", "\n\n", "\t", "\x0b", "\x1c", "\x85", "\xa0", "\u2028", "\u3000"),
    *("a", "b", "ab", "the", "The", "ING", "Ab", "é", "ſ", "ʕ", "ǅ", "ª", "中", "国", "の", "ア", "한", "ا", "क", "ि"),
    *("\u0301", "\u200d", "\u20e3", "0", "1", "12", "2024", "²", "½", "Ⅷ", "٣", "'", "'s", "'S", "'ſ", "'ll", "'Re"),
    *("!", "??", "/", "//", "_", "-", "—", "$", "€", "😀", "👩‍👩‍👧", "\U000e0067", "\x00", "\x7f", "\ufeff", "\ufffd"),
    *("<|endoftext|>", "<|end", "|>", "<s>", "</s>", "[INST]"),
]


def slices(data: Path, size: int = 20_000, count: int = 3) -> Iterator[str]:
    choice = random.Random(11)
    for name in CORPORA:
        text = (data / f"corpora/{name}.txt").read_text(encoding="utf-8")
        for _ in range(count):
            begin = choice.randrange(len(text) - size)
            yield text[begin : begin + size]


def odd_texts(count: int = 1500) -> Iterator[str]:
    choice = random.Random(12)
    for _ in range(count):
        yield "".join(choice.choices(ALPHABET, k=choice.randrange(1, 9)))


def texts_of_tokens(tokenizer: Tokenizer, count: int = 500) -> Iterator[str]:
    choice = random.Random(13)
    ids = tokenizer.token_to_id[tokenizer.token_to_id >= 0]
    for _ in range(count):
        picked = choice.choices(range(len(ids)), k=choice.randrange(1, 5))
        yield tokenizer.decode_bytes(ids[picked]).decode("utf-8", "ignore")


def assert_encoded_alike(tokenizer: Tokenizer, encode: Callable[[str], list[int]], texts: Iterator[str]) -> None:
    n_texts = 0
    for text in texts:
        assert tokenizer.encode(text).tolist() == encode(text), text[:200]
        n_texts += 1
    assert n_texts


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "tekken"])
def test_odd_texts_are_encoded_as_by_the_library(name: str, data: Path) -> None:
    tokenizer, encode, _ = pair(name, data)
    assert_encoded_alike(tokenizer, encode, odd_texts())
    assert_encoded_alike(tokenizer, encode, texts_of_tokens(tokenizer))


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "tekken"])
def test_corpora_are_encoded_as_by_the_library(name: str, data: Path) -> None:
    tokenizer, encode, _ = pair(name, data)
    assert_encoded_alike(tokenizer, encode, slices(data))
    for text in slices(data, size=1000, count=1):
        assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.slow
@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "tekken"])
def test_whole_corpora(name: str, corpus: str, data: Path, tally: Tally) -> None:
    tokenizer, encode, _ = pair(name, data)
    text = (data / f"corpora/{corpus}.txt").read_text(encoding="utf-8")
    ids = tokenizer.encode(text)
    assert ids.tolist() == encode(text)
    assert tokenizer.decode(ids) == text
    tally("encoding", "real texts", 1)
