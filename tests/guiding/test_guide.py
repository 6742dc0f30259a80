"""Guides allow exactly the prefixes of the canonical streams of a language, by brute force."""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import regex
from support.tokenizer_files import added_token, tiktoken_lines, tokenizer_json

import tokdfa
from tokdfa.guiding.guide import Guide
from tokdfa.splitting.named import NAMED

tiktoken = pytest.importorskip("tiktoken")
tokenizers = pytest.importorskip("tokenizers")

SYMBOLS = ["a", "b", " ", "\n", "'", "s", "1", "é", "\u00ea", "中"]
NAMES = ["gpt2_tiktoken", "cl100k", "o200k"]


def random_ranks(source: random.Random, n: int = 14) -> dict[bytes, int]:
    """Ranks of random words over bytes, some of which begin or end within a symbol."""
    data = "".join(source.choices(SYMBOLS, k=60)).encode()
    words = {data[at : at + source.randint(2, 5)] for at in source.sample(range(50), n)}
    ordered = sorted(words, key=lambda word: (len(word) + 2 * source.random(), word))
    return {word: rank for rank, word in enumerate([*(bytes([byte]) for byte in range(256)), *ordered])}


def check_against(guide: Guide, streams: set[tuple[int, ...]]) -> int:
    """Compare a guide with all streams of its language; return the number of prefixes."""
    nexts: dict[tuple[int, ...], set[int]] = {}
    for stream in streams:
        for place in range(len(stream)):
            nexts.setdefault(stream[:place], set()).add(stream[place])
        nexts.setdefault(stream, set())
    states = {(): guide.initial}
    for prefix in sorted(nexts, key=len):
        if prefix:
            state = guide.step(states[prefix[:-1]], prefix[-1])
            assert state is not None, prefix
            states[prefix] = state
        state = states[prefix]
        assert set(guide.allowed(state).tolist()) == nexts[prefix], prefix
        assert guide.is_final(state) == (prefix in streams), prefix
    return len(nexts)


def some_languages(source: random.Random, symbols: list[str]) -> list[tuple[str, list[str]]]:
    """Finite languages, as regular expressions and as lists of their texts."""
    chosen = source.sample(symbols, 4)
    every = ["".join(word) for n in range(4) for word in product(chosen, repeat=n)]
    found = [(f"[{regex.escape(''.join(chosen))}]{{0,3}}", every)]
    exact = ["".join(word) for word in product(chosen[:3], repeat=4)]
    found.append((f"[{regex.escape(''.join(chosen[:3]))}]{{4}}", exact))
    texts = ["".join(source.choices(symbols, k=source.randint(1, 7))) for _ in range(12)]
    found.append(("|".join(map(regex.escape, texts)), texts))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_finite_languages_of_rank_files(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    name = NAMES[seed % 3]
    ranks = random_ranks(source)
    path = tmp_path / "small.tiktoken"
    path.write_bytes(tiktoken_lines(ranks))
    tokenizer = tokdfa.load(path, pretokenizer=name)
    pattern = NAMED[name].steps[0].pattern
    oracle = tiktoken.Encoding("oracle", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    for language, texts in some_languages(source, SYMBOLS):
        streams = {tuple(oracle.encode_ordinary(text)) for text in texts}
        assert check_against(tokdfa.guide(tokenizer, language), streams) > len(streams) / 2


def test_the_random_ranks_have_tokens_of_whole_pieces(tmp_path: Path) -> None:
    found = 0
    for seed in range(6):
        path = tmp_path / f"{seed}.tiktoken"
        path.write_bytes(tiktoken_lines(random_ranks(random.Random(seed))))
        found += len(tokdfa.load(path, pretokenizer=NAMES[seed % 3]).whole_piece_tokens) > 0
    assert found > 1


def random_file(source: random.Random, path: Path) -> Any:
    """Write a tokenizer.json with special tokens, and tokens that merging never gives; return the library's object."""
    symbols = [byte for symbol in SYMBOLS for byte in symbol.encode()]
    words = [bytes([byte]) for byte in dict.fromkeys(symbols)]
    rules = []
    while len(rules) < 10:
        left, right = source.choice(words), source.choice(words)
        if left + right not in words:
            rules.append((left, right))
            words.append(left + right)
    file = tokenizer_json(rules)
    vocab = file["model"]["vocab"]
    for word in ("aab", "Ġab", "b1b"):
        vocab.setdefault(word, len(vocab))
    file["model"]["ignore_merges"] = source.random() < 0.7
    file["added_tokens"] = [added_token(len(vocab) + n, content) for n, content in enumerate(["<|a|>", "'b"])]
    path.write_text(json.dumps(file), encoding="utf-8")
    return tokenizers.Tokenizer.from_file(str(path))


@pytest.mark.parametrize("seed", range(4))
def test_finite_languages_with_special_tokens(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    library = random_file(source, tmp_path / "tokenizer.json")
    tokenizer = tokdfa.load(tmp_path / "tokenizer.json")
    symbols = [*SYMBOLS[:4], "'b", "<|", "a|>", "<|a|>"]
    spelled = 0
    for language, texts in some_languages(source, symbols):
        if "<" in language:
            language = "|".join(map(regex.escape, texts))
        streams = {tuple(library.encode(text).ids) for text in texts}
        spelled += sum(max(stream, default=0) >= tokenizer.n_ids - 2 for stream in streams)
        assert check_against(tokdfa.guide(tokenizer, language), streams) > len(streams) / 2
    assert spelled > 3


def walk(guide: Guide, source: random.Random, most: int) -> list[int]:
    """Walk at random, among all ids or among the rarer ones, and then to the nearest end."""
    state, ids = guide.initial, []
    for _ in range(300):
        allowed = guide.allowed(state).tolist()
        if guide.is_final(state) and (len(ids) >= most or not allowed):
            return ids
        assert allowed, ids
        if source.random() < 0.5:
            allowed = [id for id in allowed if id >= 200] or allowed
        ids.append(source.choice(allowed))
        following = guide.step(state, ids[-1])
        assert following is not None
        state = following
    raise AssertionError("no end was found")


@pytest.mark.parametrize("seed", range(3))
def test_walks_through_all_texts_are_canonical(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    library = random_file(source, tmp_path / "tokenizer.json")
    tokenizer = tokdfa.load(tmp_path / "tokenizer.json")
    guide = tokenizer.guide()
    for _ in range(40):
        ids = walk(guide, source, 8)
        assert library.encode(library.decode(ids, skip_special_tokens=False)).ids == ids
    # And streams of texts are read, whatever they are.
    for _ in range(300):
        text = "".join(source.choices([*SYMBOLS, "<|a|>", "<|"], k=8))
        assert guide.is_final(guide.read(library.encode(text).ids))
