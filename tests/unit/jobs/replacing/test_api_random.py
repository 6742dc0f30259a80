"""Replacing in streams of random tokenizers: the new ids are those that tokenizers gives for the new text."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from tests.campaigns.evidence.tally import Tally
from tests.campaigns.standing.laws import replacing
from tests.support import normalized, random_files
from tests.support.families import of_tokenizer_json
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token, spell


def plain_file(drawn: random.Random) -> dict[str, Any]:
    """A tokenizer.json over bytes that encodes texts unchanged."""
    fields = normalized.normalized_file(drawn) | {"normalizer": None}
    for token in fields["added_tokens"]:
        token["lstrip"] = False
    return fields


def overlapping_file(drawn: random.Random) -> dict[str, Any]:
    """A tokenizer.json over bytes with added tokens within, at the beginnings and at the ends of one another."""
    fields = plain_file(drawn)
    vocab = fields["model"]["vocab"]
    contents = ["".join(drawn.choices("ab<> \n", k=drawn.choice([2, 2, 3, 4]))) for _ in range(drawn.randrange(2, 7))]
    contents = [content for content in dict.fromkeys(contents) if spell(content.encode()) not in vocab]
    fields["added_tokens"] = [
        added_token(len(vocab) + number, content, special=drawn.random() < 0.5, normalized=drawn.random() < 0.3)
        for number, content in enumerate(contents)
    ]
    return fields


FILES = {
    **random_files.KINDS,
    "normalized": normalized.normalized_file,
    "plain": plain_file,
    "overlapping": overlapping_file,
}


def met_by_files(kind: str, chosen: Iterable[int], n_rounds: int) -> Counter[str]:
    """Replace in texts of random files; return the cases that were met."""
    met: Counter[str] = Counter()
    for seed in chosen:
        drawn = random.Random(seed)
        member = of_tokenizer_json(kind, FILES[kind](drawn))
        for _ in range(n_rounds if member is not None else 0):
            assert member is not None
            met += replacing.check(member, drawn)
    return met


@pytest.mark.parametrize("kind", FILES)
def test_random_files(kind: str) -> None:
    met = met_by_files(kind, range(28), 3)
    assert min(met[case] for case in ("replaced", "empty match", "across tokens")) > 1, met
    if kind == "plain":
        cases = ("within tokens", "others stay", "special tokens", "merges on the left", "merges on the right")
        assert min(met[case] for case in cases) > 0, met


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
def test_many_random_files(kind: str, tally: Tally) -> None:
    met = met_by_files(kind, seeds(1000), 6)
    print(kind, met)
    assert met["replaced"] > len(seeds(1000)) // 4
    tally("searching", "random cases", 12 * len(seeds(1000)))
