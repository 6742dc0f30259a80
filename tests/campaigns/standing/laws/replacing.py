"""Replacing: the library gives the new ids for the new text, and the changes make them of the old ones."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import regex

import tokdfa
from tests.campaigns.standing.laws import finding
from tests.campaigns.standing.laws.changing import refuses
from tests.campaigns.standing.laws.finding import REFUSALS, SECONDS, segments_of
from tests.campaigns.standing.laws.parts import in_parts
from tests.support.families import Member
from tests.support.tuned import tuned
from tokdfa.base.errors import AlphabetError, TokenStreamError
from tokdfa.jobs.replacing.rewriting import Tuning

__all__ = ["check"]

TUNINGS = [Tuning(block=3, first_block=2, near=1, context=1, max_known=2), Tuning(block=40, first_block=7), Tuning()]
DTYPES = [np.int32, np.int64, np.uint16]


def pattern_of(drawn: random.Random, text: str) -> str:
    """Return a pattern that often matches somewhere in a text, and often within tokens."""
    if drawn.random() < 0.2:
        return drawn.choice(["", "x*", r"\b", "(?m)^", "$", "(?=a)", r"\s*", "a??"])
    if drawn.random() < 0.4:
        return finding.pattern_of(drawn, text)

    def part() -> str:
        if not text or drawn.random() < 0.3:
            return drawn.choice(["a", "b", " ", r"\w", r"\s", "[^a]", ".", r"\b", "(?!b)", "(?<=a)", "^", "$"])
        begin = drawn.randrange(len(text))
        return regex.escape(text[begin : begin + drawn.randrange(1, 4)])

    parts = [f"({part()})" if drawn.random() < 0.4 else part() for _ in range(drawn.randrange(1, 4))]
    joined = drawn.choice(["", "", "|"]).join(parts)
    ends = drawn.choice(["", "", "", "+", "+?", "{1,2}", "++"])
    return f"(?:{joined}){ends}" if ends else joined


def replacement_of(drawn: random.Random, text: str, n_groups: int, contents: list[str]) -> str:
    """Return a replacement: with groups, a part of the text, or the content of a token."""
    if drawn.random() < 0.3:
        group = rf"\{drawn.randrange(1, n_groups + 1)}" if n_groups else ""
        return drawn.choice(["", "a", "["]) + drawn.choice([r"\g<0>", group, r"\g<0>\g<0>"]) + drawn.choice(["", "b"])
    options = ["", "", "a", "b", " ", "ab", " a", "é\n", "zq" * 9, *contents]
    begin = drawn.randrange(len(text) + 1)
    options += [text[begin : begin + drawn.randrange(1, 4)]] * 4
    return drawn.choice(options).replace("\\", r"\\")


def check(member: Member, drawn: random.Random) -> Counter[str]:
    """Replace in streams that spell a text, at once and in chunks."""
    met: Counter[str] = Counter()
    for _ in range(2):
        ids = member.encode(member.text(drawn))
        segments = None if ids is None else segments_of(member, ids)
        if ids is None or segments is None or member.again(ids) != ids:
            met["no round trip"] += 1
            continue
        text = "".join(segment for segment, _ in segments)
        pattern = pattern_of(drawn, text)
        try:
            new = replacement_of(drawn, text, regex.compile(pattern).groups, member.parts)
            done = [
                (part, 0) if special else regex.subn(pattern, new, part, timeout=SECONDS) for part, special in segments
            ]
            replacer = tuned(tokdfa.Replacer, tuning := drawn.choice(TUNINGS))(member.tokenizer, pattern, new)
        except (*REFUSALS, TimeoutError, regex.error):
            met["refused"] += 1
            continue
        after = "".join(part for part, _ in done)
        expected = member.encode(after)
        if expected is None:
            continue
        shown = (pattern, new, ids, tuning)
        try:
            member.tokenizer.decode(ids)
        except TokenStreamError:
            # The library leaves out bytes without a token. No text has these ids.
            met["not UTF-8"] += 1
            continue
        try:
            found = replacer.replace(np.array(ids, dtype=drawn.choice(DTYPES)))
        except AlphabetError:
            assert refuses(member, after), shown
            met["lacks a symbol"] += 1
            continue
        assert found.ids.tolist() == expected, shown
        assert found.count == sum(n for _, n in done), shown
        assert_changes(found, ids)
        parts = [*replacer.iter_replaced(np.array(part, dtype=np.int32) for part in in_parts(drawn, ids))]
        assert [id for part in parts for id in part.ids.tolist()] == expected, shown
        assert sum(part.count for part in parts) == found.count, shown
        assert [change for part in parts for change in part.changes] == [*found.changes], shown
        met["streams"] += 1
        met["replaced"] += found.count > 0
        met["nothing matches"] += found.count == 0
        met["empty match"] += any(match.end() == match.start() for match in regex.finditer(pattern, text))
        met["blocks"] += len(ids) > tuning.block
        met["special tokens"] += len(segments) > 1
        count_seams(member, pattern, ids, found, met)
    return met


def assert_changes(found: tokdfa.Replaced, ids: list[int]) -> None:
    """Assert that the changes make the new ids out of the old ones."""
    new_ids, made, at = found.ids.tolist(), list[int](), 0
    for start, stop, new_start, new_stop, old, new in found.changes:
        made += ids[at:start]
        assert new_start == len(made), (ids, found.changes)
        assert (old, new) == (tuple(ids[start:stop]), tuple(new_ids[new_start:new_stop])), ids
        made += new
        at = stop
    assert made + ids[at:] == new_ids, ids


def count_seams(member: Member, pattern: str, ids: list[int], found: tokdfa.Replaced, met: Counter[str]) -> None:
    """Count matches within and across tokens, and changes beyond the matches."""
    if not found.count or not len(found.changes):
        return
    matches = [*member.tokenizer.search(pattern, ids, wanted="first")]
    aligned = {*member.tokenizer.search(pattern, ids, wanted="first", aligned=True)}
    met["within tokens"] += any(match not in aligned for match in matches)
    met["across tokens"] += any(match.end_token > match.start_token + 1 for match in matches)
    if matches:
        met["merges on the left"] += found.changes[0].start < matches[0].start_token
        met["merges on the right"] += found.changes[-1].stop > matches[-1].end_token
    met["others stay"] += any(a.stop < b.start for a, b in zip(found.changes, found.changes[1:], strict=False))
