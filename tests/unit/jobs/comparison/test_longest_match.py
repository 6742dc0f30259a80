"""Comparing tokenizers that take the longest token: against all short texts."""

from __future__ import annotations

import random
from itertools import product

import pytest

import tokdfa
from tests.support.seeds import seeds
from tests.support.tokenizer_files import rwkv_lines
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.comparison.longest_match import compare_longest_matches
from tokdfa.jobs.comparison.models import Tuning
from tokdfa.jobs.comparison.result import Outcome, Part

BYTES = {bytes([byte]): byte + 1 for byte in range(256)}
TEXTS = ["".join(text) for n in range(1, 5) for text in product("abé", repeat=n)]


def tokens(drawn: random.Random) -> dict[bytes, int]:
    words = {"".join(drawn.choices("abé", k=drawn.randrange(2, 4))).encode() for _ in range(drawn.randrange(1, 6))}
    return BYTES | {word: 300 + index for index, word in enumerate(sorted(words))}


def test_witnesses_are_shortest_among_all_short_texts() -> None:
    answers = []
    for seed in seeds(40):
        drawn = random.Random(seed)
        first = tokens(drawn)
        second = dict(first) if drawn.random() < 0.3 else tokens(drawn)
        if drawn.random() < 0.3:
            second[b"\xa9a"] = 400
            first[b"\xa9a"] = drawn.choice([400, 401])
        a, b = (tokdfa.load(rwkv_lines(side)) for side in (first, second))
        found = tokdfa.compare(a, b)
        differing = [text for text in TEXTS if a.encode(text).tolist() != b.encode(text).tolist()]
        if found:
            assert not differing
            assert first == second
        else:
            text = str(found.witness.text)
            assert found.witness.tokens_a == tuple(a.encode(text).tolist())
            assert found.witness.tokens_b == tuple(b.encode(text).tolist())
            assert found.witness.tokens_a != found.witness.tokens_b
            if found.checked[Part.SHORTEST] is Outcome.PROVEN:
                assert len(text.encode()) <= min((len(other.encode()) for other in differing), default=99)
        answers.append(bool(found))
    assert 5 < sum(answers) < 35


def test_ids_alone_and_what_no_text_shows() -> None:
    a = tokdfa.load(rwkv_lines(BYTES | {b"ab": 300}))
    b = tokdfa.load(rwkv_lines(BYTES | {b"ab": 301}))
    assert tokdfa.compare(a, b).witness == ("ab", (300,), (301,))
    assert tokdfa.compare(a, b, ignore_ids=True)
    # No text has these bytes side by side.
    with pytest.raises(UnsupportedFeatureError):
        compare_longest_matches(
            a, tokdfa.load(rwkv_lines(BYTES | {b"ab": 300, b"\xff\xff": 301})), tuning=Tuning(max_seconds=0.2)
        )
