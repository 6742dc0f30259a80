"""The outlines of violations, read without making the objects, equal the objects' fields."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from tests.support.editing import edited
from tests.support.families import FAMILIES
from tests.support.seeds import seeds
from tokdfa.base.errors import ImproperDictionaryError, LimitExceededError
from tokdfa.jobs.validation.api import check
from tokdfa.jobs.validation.violations import KINDS, Outline, Spans
from tokdfa.jobs.validation.window import Tuning

N_SEEDS = 8
AT_ONCE = ("ranks", "improper ranks", "bytes", "bytes, NFC", "Llama-2", "Gemma", "WordPiece", "BPE of SentencePiece")
# The kinds that are found from arrays, each where the examples must reach it.
REACHED = {
    "bytes": {"boundary", "pair"},
    "ranks": {"boundary", "pair"},
    "bytes, added tokens": {"encoded-otherwise", "pair"},
    "bytes, whole words": {"boundary", "encoded-otherwise", "pair", "piece-is-a-token", "whole-piece-only"},
}


@pytest.mark.parametrize("family", FAMILIES)
def test_outlines_are_those_of_violations(family: str) -> None:
    met: Counter[str] = Counter()
    for seed in seeds(N_SEEDS):
        drawn = random.Random(seed)
        member = FAMILIES[family](drawn)
        documents = drawn.choice([None, drawn.choice(member.ids)])
        for _ in range(3):
            ids = [id for _ in range(drawn.randrange(1, 24)) for id in member.stream(drawn, 16)]
            ids = edited(drawn, ids, member.ids, exchanges=drawn.choice([0.02, 0.2, 0.6]))
            try:
                found = check(member.tokenizer, np.array(ids), all=True, tuning=Tuning(at_once=1), documents=documents)
            except (ImproperDictionaryError, LimitExceededError):
                continue
            for part in found.violations._parts:
                outline = Outline.of(part)
                made = [(each.start, each.index, each.kind, each.rule) for each in part]
                sides = (side.tolist() for side in outline)
                rows = [
                    (start, index, KINDS[kind], None if rule < 0 else rule)
                    for start, index, kind, rule in zip(*sides, strict=True)
                ]
                assert rows == made, (seed, ids)
                if isinstance(part, Spans):
                    met.update(kind.value for _, _, kind, _ in made)
    if family in AT_ONCE:
        assert met.total() > 10
    assert REACHED.get(family, set()) <= met.keys()
