"""Replacing: the library gives the new ids for the new text, and the changes make them of the old ones."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import regex

import tokdfa
from tests.campaigns.standing.laws.finding import REFUSALS, SECONDS, pattern_of, segments_of
from tests.campaigns.standing.laws.parts import in_parts
from tests.support.families import Member
from tests.support.tuned import tuned
from tokdfa.base.errors import AlphabetError, TokenStreamError
from tokdfa.jobs.replacing.rewriting import Tuning

__all__ = ["check"]

TUNINGS = [Tuning(block=3, first_block=2, near=1, context=1, max_known=2), Tuning(block=40, first_block=7), Tuning()]


def check(member: Member, drawn: random.Random) -> Counter[str]:
    """Replace in streams that spell a text, and encode the new text by the library."""
    met: Counter[str] = Counter()
    for _ in range(2):
        ids = member.encode(member.text(drawn))
        segments = None if ids is None else segments_of(member, ids)
        if ids is None or segments is None or member.again(ids) != ids:
            met["no round trip"] += 1
            continue
        pattern = pattern_of(drawn, "".join(segment for segment, _ in segments))
        new = drawn.choice(["", "a", " ", "é\n", r"[\g<0>]", *(part for part in member.parts[:1] if "\\" not in part)])
        try:
            done = [
                (text, 0) if special else regex.subn(pattern, new, text, timeout=SECONDS) for text, special in segments
            ]
            tuning = drawn.choice(TUNINGS)
            replacer = tuned(tokdfa.Replacer, tuning)(member.tokenizer, pattern, new)
            found = replacer.replace(ids)
        except (*REFUSALS, AlphabetError, TokenStreamError, TimeoutError, regex.error):
            met["refused"] += 1
            continue
        expected = member.encode("".join(text for text, _ in done))
        if expected is None:
            continue
        assert found.ids.tolist() == expected, (pattern, new, ids)
        assert found.count == sum(n for _, n in done), (pattern, new, ids)
        assert_changes(found, ids)
        met["streams"] += 1
        met["replaced"] += found.count > 0
        met["nothing matches"] += found.count == 0
        met["blocks"] += len(ids) > tuning.block
        met["special tokens"] += len(segments) > 1
        parts = [np.array(part, dtype=np.int32) for part in in_parts(drawn, ids)]
        again = [id for each in replacer.iter_replaced(parts) for id in each.ids.tolist()]
        assert again == expected, (pattern, new, ids, parts)
    return met


def assert_changes(found: tokdfa.Replaced, ids: list[int]) -> None:
    """Assert that the changes make the new ids out of the old ones."""
    made: list[int] = []
    at = 0
    for change in found.changes:
        start, stop, new_start, new_stop = change[:4]
        made += ids[at:start]
        assert new_start == len(made), (ids, change)
        made += found.ids[new_start:new_stop].tolist()
        at = stop
    assert made + ids[at:] == found.ids.tolist(), ids
