"""Real tokenizers, each with the function that its own library encodes by."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import tokdfa
from tokdfa import Tokenizer


class Pair(NamedTuple):
    """A tokenizer as loaded here, and its library's functions: one text, many texts."""

    tokenizer: Tokenizer
    encode: Callable[[str], list[int]]
    encode_all: Callable[[list[str]], list[list[int]]]


@cache
def ranks(path: Path) -> dict[bytes, int]:
    """The ranks of a .tiktoken file."""
    rows = (line.split() for line in path.read_bytes().splitlines())
    return {base64.b64decode(word): int(rank) for word, rank in rows}


@cache
def pair(name: str, data: Path) -> Pair:
    """The tokenizer of this name: gpt2, cl100k, o200k or tekken."""
    if name == "gpt2":
        tokenizers = pytest.importorskip("tokenizers")
        theirs = tokenizers.Tokenizer.from_file(str(data / "vocabs/gpt2/tokenizer.json"))
        return Pair(
            tokdfa.load(data / "vocabs/gpt2"),
            lambda text: theirs.encode(text).ids,
            lambda texts: [encoding.ids for encoding in theirs.encode_batch_fast(texts)],
        )
    if name == "tekken":
        tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
        import mistral_common

        path = Path(mistral_common.__file__).parent / "data/tekken_240911.json"
        ours = tekken.Tekkenizer.from_file(path)

        def encode(text: str) -> list[int]:
            return ours.encode(text, bos=False, eos=False)

        return Pair(tokdfa.load(path), encode, lambda texts: [*map(encode, texts)])
    tiktoken = pytest.importorskip("tiktoken")
    path = data / f"vocabs/{name}_base.tiktoken"
    pattern: Any = json.loads((data / "vocabs/patterns.json").read_bytes())[name]
    encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks(path), special_tokens={})
    return Pair(
        tokdfa.load(path, pretokenizer=name),
        encoding.encode_ordinary,
        lambda texts: encoding.encode_ordinary_batch(texts, num_threads=2),
    )
