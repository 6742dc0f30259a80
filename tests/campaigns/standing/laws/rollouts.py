"""Rollouts: repaired, the spans give the ids of the library, and the mask decides the class of each."""

from __future__ import annotations

import random
from collections import Counter

import tokdfa
from tests.support import rollouts
from tests.support.families import Member
from tokdfa.base.errors import TokdfaError

__all__ = ["check"]


def check(member: Member, drawn: random.Random) -> Counter[str]:
    """Check a few streams with random masks."""
    met: Counter[str] = Counter()
    for _ in range(3):
        ids = member.stream(drawn)
        mask, again = rollouts.sampled(drawn, len(ids)), member.again(ids)
        try:
            spans = rollouts.found(tokdfa.check_rollout(member.tokenizer, ids, mask))
        except TokdfaError:
            met["refused"] += 1
            continue
        repaired, at = list[int](), 0
        for row in spans:
            assert row.start >= at, (ids, spans)
            repaired += [*ids[at : row.start], *(row.canonical or ())]
            at = row.stop
            flags = {*mask[row.start : row.stop]}
            name = "junctions" if len(flags) > 1 else "drift" if flags == {1} else "bugs"
            assert not flags or row.name == name, (ids, mask, spans)
            met[row.name] += 1
        if again is None or any(row.canonical is None for row in spans):
            met["no text"] += 1
            continue
        assert repaired + ids[at:] == again, (ids, spans)
        met["canonical"] += not spans
    return met
