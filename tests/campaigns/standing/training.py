"""Training: the rules equal the published trainer's, and the tokenizers library's."""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import models, pre_tokenizers, trainers

import tokdfa
from tests.campaigns.standing.texts import ENGLISH, stretch
from tests.support.tokenizer_files import SPELLED
from tokdfa.training.naive import train_naive
from tokdfa.training.rules import COUNT_RULES, TIE_RULES

BYTE_OF = {letter: byte for byte, letter in SPELLED.items()}


def check(drawn: random.Random) -> Counter[str]:
    """Train on random pieces, and on a random file."""
    met: Counter[str] = Counter()
    for _ in range(3):
        on_pieces(drawn, met)
    if drawn.random() < 0.5:
        on_a_file(drawn, met)
    return met


def on_pieces(drawn: random.Random, met: Counter[str]) -> None:
    """Train on pieces with multiplicities."""
    symbols = drawn.choice(["a", "ab", "abc", "abcdefgh", ["the", "a", "b", "ing"]])
    pieces: dict[Any, int] = {}
    for _ in range(drawn.randrange(1, drawn.choice([4, 12, 40]))):
        drawn_symbols = drawn.choices(symbols, k=drawn.randrange(1, drawn.choice([4, 12, 70])))
        pieces["".join(drawn_symbols) if isinstance(symbols, str) else tuple(drawn_symbols)] = drawn.randrange(1, 6)
    tie, count = drawn.choice(TIE_RULES), drawn.choice(COUNT_RULES)
    options = {
        "tie": tie,
        "count": count,
        "min_frequency": drawn.randrange(1, 5),
        "max_token_length": None if tie == "huggingface" else drawn.choice([None, None, 2, 3, 7]),
    }
    merges = drawn.choice([0, 1, 3, 20, 60])
    made = tokdfa.train_greedy(pieces, merges, **options)
    assert made == train_naive(pieces, merges, **options), (pieces, merges, options)
    met["pieces"] += 1
    met[f"tie {tie}"] += 1
    met[f"count {count}"] += 1
    met["no pair is left"] += len(made) < merges


def on_a_file(drawn: random.Random, met: Counter[str]) -> None:
    """Train on a file as the library does."""
    text = "".join(stretch(drawn, drawn.randrange(300)) for _ in range(3))
    text += "".join(drawn.choices(ENGLISH, k=drawn.choice([0, 2000])))
    merges = drawn.choice([5, 40, 200])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "corpus")
        path.write_bytes(text.encode())
        ours = tokdfa.train(path, merges, like="tokenizers", min_frequency=2, threads=drawn.randrange(1, 3))
        theirs = by_tokenizers(path, merges)
    assert [(bytes(rule.left), bytes(rule.right)) for rule in ours] == theirs, text
    met["files"] += 1
    met["rules"] += len(theirs)


def by_tokenizers(path: Path, merges: int) -> list[tuple[bytes, bytes]]:
    """Return the rules of the library."""
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = byte_level
    alphabet = byte_level.alphabet()
    tokenizer.train(
        [str(path)],
        trainers.BpeTrainer(vocab_size=256 + merges, min_frequency=2, show_progress=False, initial_alphabet=alphabet),
    )
    rows = json.loads(tokenizer.to_str())["model"]["merges"]
    parts = [row if isinstance(row, list) else row.split(" ") for row in rows]
    return [(bytes(map(BYTE_OF.__getitem__, left)), bytes(map(BYTE_OF.__getitem__, right))) for left, right in parts]
