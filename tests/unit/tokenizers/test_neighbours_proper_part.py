"""The proper part of improper ranks: it merges alike except where it says that it does not."""

from __future__ import annotations

import random
from itertools import pairwise, product
from pathlib import Path

import numpy as np

import tokdfa
from tests.support.by_ranks import merge
from tests.support.tokenizer_files import tiktoken_lines
from tests.support.tuned import validate_tuned
from tokdfa.automata.bpe import tokenize_leftmost
from tokdfa.jobs.validation.engine import model_of
from tokdfa.jobs.validation.window import Tuning
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.tokenizer import Tokenizer

FEW = Tuning(close_window=16)


def load(words: list[bytes], path: Path, pattern: str = r" ?\S+|\s+") -> tuple[Tokenizer, dict[bytes, int]]:
    ranks = {word: rank for rank, word in enumerate([*(bytes([byte]) for byte in range(256)), *words])}
    path.write_bytes(tiktoken_lines(ranks))
    return tokdfa.load(path, pretokenizer=pattern), ranks


def random_words(source: random.Random) -> list[bytes]:
    every = [bytes(word) for n in (2, 3, 4) for word in product(b"ab" if n == 4 else b"abc", repeat=n)]
    words = source.sample(every, source.randint(3, 9))
    # Mostly the shorter first, as in real files.
    return sorted(words, key=len) if source.random() < 0.4 else words


def test_the_part_is_everything_if_and_only_if_it_always_merges_alike(tmp_path: Path) -> None:
    source = random.Random(0)
    seen = {True: 0, False: 0}
    for number in range(60):
        tokenizer, ranks = load(random_words(source), tmp_path / f"{number}.tiktoken")
        part = tokenizer.proper_part
        assert part.dictionary.properness()
        late = {bytes(tokenizer.token(token)) for token in part.late.tolist()}
        pairs = {tuple(bytes(tokenizer.token(token)) for token in pair) for pair in part.pairs.tolist()}
        differs = False
        for n in range(1, 7):
            for word in map(bytes, product(b"abc" if n < 6 else b"ab", repeat=n)):
                merged = merge(word, ranks)
                proper = list(tokenize_leftmost(part.dictionary, word))
                is_told = bool(late.intersection(merged)) or bool(pairs.intersection(pairwise(proper)))
                assert merged == proper or is_told
                # Only a different merging is reported, where the other one has no late token either.
                assert merged != proper or not pairs.intersection(pairwise(proper)) or late.intersection(proper)
                differs |= merged != proper
        assert part.is_everything != differs
        seen[part.is_everything] += 1
    assert all(seen.values())


def test_verdicts_over_improper_ranks(tmp_path: Path) -> None:
    """Against encoding again by tiktoken's own definition, whole-piece rule included."""
    source = random.Random(1)
    walked = canonical = 0
    for number in range(25):
        tokenizer, ranks = load(random_words(source), tmp_path / f"{number}.tiktoken")
        id_of = {**ranks}
        words = {rank: word for word, rank in ranks.items()}

        def encode(text: bytes, ranks: dict[bytes, int] = ranks, id_of: dict[bytes, int] = id_of) -> list[int]:
            pieces = text.replace(b" ", b"\0 ").split(b"\0")
            return [
                id_of[token]
                for piece in pieces
                if piece
                for token in ([piece] if piece in ranks else merge(piece, ranks))
            ]

        walked += model_of(tokenizer).table is not None
        some = [*b"abc", *range(256, len(ranks))]
        streams = [list(stream) for n in range(1, 4) for stream in product(some, repeat=n)]
        streams = source.sample(streams, min(len(streams), 150))
        streams += [source.choices([*some, 32], k=12) for _ in range(50)]
        texts = [bytes(source.choices(b"abc ", k=30)).replace(b"  ", b" a").strip() for _ in range(60)]
        for stream in [*streams, *map(encode, texts)]:
            text = b"".join(map(words.__getitem__, stream))
            if b"  " in text or text.endswith(b" "):
                continue
            expected = encode(text)
            verdict = validate_tuned(tokenizer, stream, tuning=FEW)
            same = next((i for i, (a, b) in enumerate(zip(stream, expected, strict=False)) if a != b), None)
            assert bool(verdict) == (stream == expected), (stream, expected)
            assert verdict.index == (None if verdict else same if same is not None else min(len(stream), len(expected)))
            canonical += stream == expected
    assert walked == 25
    assert canonical > 1_500


def test_an_example_has_one_late_token(tmp_path: Path) -> None:
    # ab is weaker than abc, which it brings about.
    tokenizer, ranks = load([b"abc", b"ab"], tmp_path / "example.tiktoken")
    part = tokenizer.proper_part
    assert [tokenizer.token(token) for token in part.late.tolist()] == [b"abc"]
    assert not part.is_everything
    assert tokenizer.encode("abca").tolist() == [ranks[b"abc"], ord("a")]
    assert validate_tuned(tokenizer, [ranks[b"abc"], ord("a")], tuning=FEW)
    assert not validate_tuned(tokenizer, [ranks[b"ab"], ord("c")], tuning=FEW)
    # A token that nothing makes is not a reason: it is a whole piece only, or never there.
    tokenizer, _ = load([b"ab", b"cab", b"abc"], tmp_path / "whole.tiktoken")
    assert tokenizer.proper_part.is_everything


def test_of_characters() -> None:
    # ab is weaker than abc, which it brings about, as above.
    dictionary = tokdfa.Dictionary.from_pairs([("ab", "c"), ("a", "b")], alphabet="abc")
    tokenizer = Tokenizer(Contents(format="tokenizer.json", dictionary=dictionary, ids=np.arange(5, dtype=np.int32)))
    part = tokenizer.proper_part
    assert part.dictionary.alphabet.kind == "characters"
    assert [tokenizer.token(token) for token in part.late.tolist()] == ["abc"]
