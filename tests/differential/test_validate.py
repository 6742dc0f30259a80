"""Validation of ids made by the tokenizers' own libraries, as they are and after one edit."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.editing import edit_at
from tokdfa.tokenizers.tokenizer import Tokenizer

NAMES = ("gpt2", "cl100k", "o200k")
CORPORA = ("english.txt", "python_code.txt", "multilingual.txt", "fra_eng_en.txt")
EDITS = ("split", "merge", "swap", "replace", "drop")


@dataclass(frozen=True)
class Library:
    """A tokenizer as its own library has it, and as tokdfa loads the same file."""

    encode: Callable[[str], list[int]]
    tokenizer: Tokenizer
    words: dict[int, bytes]
    id_of: dict[bytes, int]


@cache
def library(name: str, data: Path) -> Library:
    folder = data / "vocabs"
    if name == "gpt2":
        tokenizers = pytest.importorskip("tokenizers")
        file = folder / "gpt2" / "tokenizer.json"
        peer = tokenizers.Tokenizer.from_file(str(file))
        tokenizer = tokdfa.load(file)
        encode = lambda text: peer.encode(text, add_special_tokens=False).ids  # noqa: E731 - one line a library
    else:
        tiktoken = pytest.importorskip("tiktoken")
        file = folder / f"{name}_base.tiktoken"
        pattern = json.loads((folder / "patterns.json").read_text(encoding="utf-8"))[name]
        rows = (line.split() for line in file.read_bytes().splitlines())
        ranks = {base64.b64decode(word): int(rank) for word, rank in rows}
        peer = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        tokenizer = tokdfa.load(file, pretokenizer=name)
        encode = peer.encode_ordinary
    text, offsets = tokenizer.id_spellings
    spelled, bounds = text.tobytes(), offsets.tolist()
    words = {id: spelled[bounds[id] : bounds[id + 1]] for id in np.flatnonzero(tokenizer.id_to_token >= 0).tolist()}
    return Library(encode, tokenizer, words, {word: id for id, word in words.items()})


@cache
def corpus(data: Path, name: str) -> str:
    return (data / "corpora" / name).read_text(encoding="utf-8")


def edited(library: Library, ids: list[int], kind: str, drawn: random.Random) -> list[int] | None:
    """Return `ids` with one edit at a random place; None if no place fits it."""
    among = list(library.words) if kind == "replace" else ()
    tried = drawn.sample(range(len(ids)), min(len(ids), 100))
    streams = (edit_at(drawn, ids, at, kind, library.words, library.id_of, among) for at in tried)
    return next((stream for stream in streams if stream is not None), None)


def expected_index(library: Library, ids: Sequence[int]) -> int | None:
    """Return the index by decoding and encoding again; None if the ids are canonical."""
    pieces = [library.words[id] for id in ids]
    try:
        again = library.encode(b"".join(pieces).decode())
    except UnicodeDecodeError as error:
        return next(index for index, end in enumerate(accumulate(map(len, pieces))) if end > error.start)
    if again == list(ids):
        return None
    return next((i for i, (a, b) in enumerate(zip(ids, again, strict=False)) if a != b), min(len(ids), len(again)))


def assert_edits_are_judged(data: Path, name: str, n_edits: int, seed: int) -> dict[str, int]:
    """Compare verdict and index after `n_edits` edits; return the number of each kind that were not canonical."""
    peer = library(name, data)
    drawn = random.Random(f"{name} {seed}")
    spoiled = dict.fromkeys(EDITS, 0)
    done = 0
    while done < n_edits:
        text = corpus(data, drawn.choice(CORPORA))
        begin = drawn.randrange(len(text))
        ids = peer.encode(text[begin : begin + drawn.randrange(20, 1500)])
        kind = drawn.choice(EDITS)
        stream = edited(peer, ids, kind, drawn)
        if stream is None:
            continue
        done += 1
        assert peer.tokenizer.validate(ids), (name, text[begin : begin + 60])
        verdict = peer.tokenizer.validate(stream)
        expected = expected_index(peer, stream)
        assert (bool(verdict), verdict.index) == (expected is None, expected), (name, kind, stream)
        spoiled[kind] += expected is not None
    return spoiled


@pytest.mark.parametrize("name", NAMES)
def test_verdict_and_index_after_an_edit(data: Path, name: str) -> None:
    assert min(assert_edits_are_judged(data, name, 150, seed=0).values()) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_verdict_and_index_after_ten_thousand_edits(data: Path, name: str, tally: Tally) -> None:
    print(name, assert_edits_are_judged(data, name, 10_000, seed=1))
    tally("validation", "spoiled inputs", 10_000)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("file", CORPORA)
def test_what_the_library_gives_is_canonical(data: Path, name: str, file: str) -> None:
    peer = library(name, data)
    verdict = peer.tokenizer.validate(peer.encode(corpus(data, file)[:200_000]))
    assert verdict, verdict.reason


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("file", CORPORA)
def test_what_the_library_gives_for_whole_corpora_is_canonical(data: Path, name: str, file: str, tally: Tally) -> None:
    peer = library(name, data)
    verdict = peer.tokenizer.validate(peer.encode(corpus(data, file)))
    assert verdict, verdict.reason
    tally("validation", "real texts", 1)
