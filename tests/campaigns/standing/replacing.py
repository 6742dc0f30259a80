"""Replacing: the new ids are those that the library gives for the new text."""

from __future__ import annotations

import random
from collections import Counter

import pytest
import regex

import tokdfa
from tests.campaigns.standing.cases import Case
from tests.campaigns.standing.searching import SECONDS, pattern_of
from tests.campaigns.standing.validating import array_of
from tests.support.tuned import tuned
from tokdfa.base.errors import LimitExceededError, PatternError, TokenStreamError, UnsupportedFeatureError
from tokdfa.jobs.replacing.rewriting import Tuning

SMALL = Tuning(block=3, first_block=2, near=1, context=1, max_known=2)
MOST = 1000


def parts_of(case: Case, ids: list[int]) -> list[tuple[str, bool]]:
    """Return the text of ids, cut at control tokens, with whether each part is one."""
    parts: list[tuple[list[bytes], bool]] = [([], False)]
    for id in ids:
        if id in case.controls:
            parts += [([case.specials[id]], True), ([], False)]
        else:
            parts[-1][0].extend(case.bytes_of([id]))
    return [(b"".join(words).decode(), special) for words, special in parts]


def check(case: Case, drawn: random.Random) -> Counter[str]:
    """Replace in the texts of the case."""
    met: Counter[str] = Counter()
    for text in case.texts[:2]:
        text = text[:MOST]
        ids = case.encode(text)
        pattern = pattern_of(drawn, text)
        new = drawn.choice(["", "a", "the", " ", "é\n", r"\g<0>", r"[\g<0>]", "zq" * 9])
        tuning = drawn.choice([SMALL, Tuning(block=40, first_block=7), Tuning()])
        try:
            replacer = tuned(tokdfa.Replacer, tuning)(case.tokenizer, pattern, new)
        except (PatternError, UnsupportedFeatureError, LimitExceededError):
            met["refused"] += 1
            continue
        try:
            done = [
                (part, 0) if special else regex.subn(pattern, new, part, timeout=SECONDS)
                for part, special in parts_of(case, ids)
            ]
        except TimeoutError:
            met["given up by the peer"] += 1
            continue
        after = "".join(part for part, _ in done)
        expected, count = case.encode(after), sum(n for _, n in done)
        shown = (pattern, new, text)
        found = replacer.replace(array_of(drawn, ids))
        assert found.ids.tolist() == expected, shown
        assert found.count == count, shown
        again, at = [], 0
        for start, stop, new_start, new_stop, _, _ in found.changes:
            again += ids[at:start]
            assert new_start == len(again), shown
            again += expected[new_start:new_stop]
            at = stop
        assert again + ids[at:] == expected, shown
        met["streams"] += 1
        met["replaced"] += count > 0
        met["changed"] += len(found.changes) > 0
        met["nothing matches"] += count == 0
        met["with control tokens"] += count > 0 and not case.controls.isdisjoint(ids)
        met["with added tokens"] += count > 0 and not (case.specials.keys() - case.controls).isdisjoint(ids)
        met["blocks"] += len(ids) > tuning.block
        if drawn.random() < 0.3:
            size = drawn.choice([1, 3, 50])
            part = ids[: 60 * size]
            chunks = [part[begin : begin + size] for begin in range(0, len(part), size)]
            try:
                whole = found if part == ids else replacer.replace(part)
            except TokenStreamError:
                # It ends within a symbol that is attached to the match.
                with pytest.raises(TokenStreamError):
                    [*replacer.iter_replaced(chunks)]
                met["refused"] += 1
                continue
            parts = [*replacer.iter_replaced(chunks)]
            assert [id for each in parts for id in each.ids.tolist()] == whole.ids.tolist(), shown
            met["in chunks"] += 1
    return met
