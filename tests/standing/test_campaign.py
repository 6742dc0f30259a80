"""The standing campaign finds no difference on its first seeds, reaches what it is about, and notices faults."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.standing.campaign import PROMISES, run
from tests.standing.cases import case

# Part -> what some of the first seeds have to reach.
REACHED = {
    "encode": [
        *("texts", "not ASCII", "longer than a stretch", "a special token", "a piece of more than 64 bytes"),
        *("documents in one call", "several threads", "an empty document", "in parts", "not UTF-8"),
        *("a part that ends within a symbol", "rules", "ranks", "rules in any order", "ranks, another pattern"),
    ],
    "validate": [
        *("canonical", "spoiled", "not UTF-8", "more than a chunk", "in chunks", "all violations", "documents"),
        "all violations, improper",
        *("a document that is spoiled", "an unused id", "violation: pair", "violation: border", "violation: not-utf8"),
    ],
    "search": [
        *("a match", "a match over several tokens", "a match within a token", "wanted first", "wanted longest"),
        *("words", "blocks", "in chunks", "not canonical", "not UTF-8", "aligned"),
        "a match with an added token",
    ],
    "replace": [
        *("replaced", "changed", "nothing matches", "with control tokens", "with added tokens", "blocks", "in chunks")
    ],
    "train": ["pieces", "files", "no pair is left", "count overlapping", "tie first-seen", "tie sentencepiece"],
    "wordpiece": ["texts", "not ASCII", "an added token", "documents in one call", "canonical", "spoiled"],
}


@pytest.mark.parametrize("part", PROMISES)
def test_first_seeds(part: str) -> None:
    outcome = run(range(60), [part])
    assert not outcome.differences, outcome.differences[0]
    assert outcome.seeds == 60
    missed = [name for name in REACHED[part] if not outcome.met[part][name]]
    assert not missed, (missed, outcome.met[part])


def another(ids: np.ndarray) -> np.ndarray:
    """Return other ids than these."""
    return np.append(ids, ids[-1:])


def encoded_wrongly(encode: Callable[[Any, str], np.ndarray]) -> Callable[[Any, str], np.ndarray]:
    return lambda tokenizer, text: another(encode(tokenizer, text))


def test_faults_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokdfa.Tokenizer, "encode", encoded_wrongly(tokdfa.Tokenizer.encode))
    outcome = run(range(3), ["encode"])
    assert len(outcome.differences) == 3
    assert [seed for _, seed, _ in outcome.differences] == [0, 1, 2]


def test_cases_are_drawn_again_by_their_seed() -> None:
    one, other = (case(random.Random("case 5")) for _ in range(2))
    assert one.texts == other.texts
    assert one.words == other.words
    assert one.tokenizer.fingerprint == other.tokenizer.fingerprint
