"""Texts that come in chunks: real tokenizers give the ids of the text in one call, for any chunks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.extra import extra_file, llama3_json, write_json
from tests.support.libraries import pair
from tokdfa import Tokenizer

CORPORA = ["english", "python_code", "multilingual", "fra_eng_en"]
NAMES = ["gpt2", "cl100k", "o200k", "tekken", "llama3", "qwen"]
# Long pieces are given out token by token; and text that looks like special tokens.
LONG = "the" * 150 + " " * 300 + "\n" * 90 + "x" + "<|end<|endoftext|><|endoftext|" + "中" * 200 + "!" * 400


def load(name: str, data: Path, folder: Path) -> Tokenizer:
    if name == "llama3":
        return tokdfa.load(write_json(llama3_json(), folder / "tokenizer.json"))
    if name == "qwen":
        return tokdfa.load(extra_file("qwen.tiktoken"), pretokenizer="qwen2")
    return pair(name, data).tokenizer


def stretch(data: Path, corpus: str, begin: int, size: int) -> str:
    text = (data / f"corpora/{corpus}.txt").read_bytes()[begin : begin + size].decode("utf-8", "ignore")
    middle = len(text) // 2
    return text[:middle] + LONG + text[middle:]


def assert_chunks_give_the_whole(tokenizer: Tokenizer, text: str, chunk: int) -> None:
    expected = tokenizer.encode(text)
    data = text.encode()
    stream = tokenizer.stream()
    parts = [stream.feed(data[at : at + chunk]) for at in range(0, len(data), chunk)]
    parts.append(stream.finish())
    assert np.array_equal(np.concatenate(parts), expected), (chunk, text[:50])


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k"])
def test_some_chunks(name: str, data: Path) -> None:
    tokenizer = pair(name, data).tokenizer
    for chunk in (1, 7, 64):
        assert_chunks_give_the_whole(tokenizer, stretch(data, "multilingual", 1_000_000, 2_000), chunk)


@pytest.mark.slow
@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("name", NAMES)
def test_chunks_of_every_size(name: str, corpus: str, data: Path, tmp_path: Path) -> None:
    tokenizer = load(name, data, tmp_path)
    text = stretch(data, corpus, 500_000, 20_000)
    for chunk in range(1, 65):
        assert_chunks_give_the_whole(tokenizer, text, chunk)
