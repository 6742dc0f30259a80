"""The members of every family agree with their libraries, and reach what their family is about."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.support.families import FAMILIES
from tokdfa.base.errors import AlphabetError


@pytest.mark.parametrize("family", FAMILIES)
def test_ids_and_verdicts_are_those_of_the_library(family: str) -> None:
    met: Counter[str] = Counter()
    for seed in range(8):
        drawn = random.Random(f"{family} {seed}")
        member = FAMILIES[family](drawn)
        for _ in range(5):
            text, ids = member.text(drawn), member.stream(drawn)
            expected, again = member.encode(text), member.again(ids)
            if expected is not None:
                try:
                    assert member.tokenizer.encode(text).tolist() == expected, text
                    met["texts"] += bool(text)
                except AlphabetError:
                    met["a symbol would be lost"] += 1
            if again is not None:
                assert bool(member.tokenizer.validate(ids)) == (again == ids), ids
                met["canonical" if again == ids else "spoiled"] += 1
            spelled = member.spell(ids)
            if spelled is not None:
                assert spelled.decode("utf-8", "replace") == member.decode(ids), ids
                text = member.decode(ids)
                if "\ufffd" not in text:
                    assert member.tokenizer.decode(ids) == text, ids
                    parts = [ids[:2], ids[2:]]
                    assert "".join(member.tokenizer.decoder.iter_text(parts)) == text, ids
                    met["decoded"] += 1
                met["spelled"] += 1
    assert min(met[name] for name in ("texts", "canonical", "spoiled", "spelled", "decoded")) > 3, met


@pytest.mark.parametrize("family", FAMILIES)
def test_members_are_drawn_again_by_their_seed(family: str) -> None:
    one, other = (FAMILIES[family](random.Random(3)) for _ in range(2))
    assert one.tokenizer.fingerprint == other.tokenizer.fingerprint
    assert one.ids == other.ids
