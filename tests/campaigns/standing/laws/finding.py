"""Searching and replacing: matches equal `regex`'s in the text that the library decodes, cut at special tokens."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import regex

import tokdfa
from tests.campaigns.standing.laws.parts import in_parts
from tests.campaigns.standing.searching import SECONDS, matched, pattern_of
from tests.support.families import Member
from tokdfa.base.errors import (
    AlphabetError,
    LimitExceededError,
    PatternError,
    TokenStreamError,
    UnsupportedFeatureError,
)

__all__ = ["check", "check_named", "check_replacing"]

REFUSALS = (UnsupportedFeatureError, PatternError, LimitExceededError)


Segments: TypeAlias = list[tuple[str, bool]]


def segments_of(member: Member, ids: list[int]) -> Segments | None:
    """Return the text of ids cut at special tokens, with whether each segment is one; None if it is not UTF-8.

    A special token adds as much as it adds after itself, with a space before it for WordPiece; where the last id loses
    the end of a word, as much as it adds before itself: `a</w>` is `a ` there.
    """
    whole, cuts = member.spell(ids), [0]
    for at in (at for at, id in enumerate(ids) if id in member.special):
        data, alone, twice = (member.spell(each) for each in (ids[: at + 1], ids[at : at + 1], [ids[at]] * 2))
        if data is None or alone is None or twice is None or not data.endswith(alone):
            return None
        own = len(twice) - len(alone)
        begin = len(data) - (len(alone) if at == 0 or member.ends_differ else own)
        cuts += [begin, begin + own if member.ends_differ and at + 1 < len(ids) else len(data)]
    if whole is None or cuts != sorted(cuts):
        return None
    try:
        texts = [whole[begin:end].decode() for begin, end in pairwise([*cuts, len(whole)])]
    except UnicodeDecodeError:
        return None
    return [(text, index % 2 == 1) for index, text in enumerate(texts)]


def some_streams(member: Member, drawn: random.Random, met: Counter[str]) -> Iterator[tuple[list[int], Segments, str]]:
    """Yield random streams that are UTF-8, with their segments and text."""
    for _ in range(3):
        ids = member.stream(drawn)
        segments = segments_of(member, ids)
        if segments is None:
            met["not UTF-8"] += 1
        else:
            yield ids, segments, "".join(segment for segment, _ in segments)


def check(member: Member, drawn: random.Random) -> Counter[str]:
    """Search for patterns and words in streams, at once and in chunks."""
    met: Counter[str] = Counter()
    for ids, segments, text in some_streams(member, drawn, met):
        pattern = pattern_of(drawn, text)
        wanted = drawn.choice(["longest", "first"])
        engine = regex.compile(f"(?p)(?:{pattern})" if wanted == "longest" else pattern)
        expected, begin = [], 0
        try:
            for segment, special in segments:
                spans = [] if special else matched(engine.finditer(segment, timeout=SECONDS), segment)
                expected += [(begin + start, begin + stop) for start, stop in spans]
                begin += len(segment.encode())
            searcher = tokdfa.Searcher(member.tokenizer, pattern, wanted=wanted)
            found = searcher.search(ids)
        except (*REFUSALS, TimeoutError):
            met["refused"] += 1
            continue
        assert [(match.start_byte, match.end_byte) for match in found] == expected, (pattern, wanted, ids, text)
        met["streams"] += 1
        met["a match"] += len(expected) > 0
        met["special tokens"] += len(segments) > 1
        met["added tokens that are text"] += not (member.added.keys() - member.special).isdisjoint(ids)
        chunks = [np.array(part, dtype=np.int32) for part in in_parts(drawn, ids)]
        again = [match for matches in searcher.iter_matches(iter(chunks)) for match in matches]
        assert again == [*found], (pattern, wanted, ids, chunks)
    return met


def check_named(member: Member, drawn: random.Random) -> Counter[str]:
    """Search for several patterns with names; `regex` tells by the group of a pattern which one has matched."""
    met: Counter[str] = Counter()
    for ids, segments, text in some_streams(member, drawn, met):
        patterns = {drawn.choice(["", r"\b", r"\B"]) + pattern_of(drawn, text) for _ in range(drawn.randrange(2, 4))}
        names = {pattern: f"name {drawn.randrange(3)}" for pattern in patterns}
        engine = regex.compile("|".join(f"({pattern})" for pattern in names))
        try:
            chunks = [np.array(part, dtype=np.int32) for part in in_parts(drawn, ids)]
            found = tokdfa.Searcher(member.tokenizer, names).iter_spelled(chunks)
            told = [each for spelled in found for each in zip(spelled.texts, spelled.names, strict=True)]
            expected = [
                (match.group().encode(), names[[*names][(match.lastindex or 0) - 1]])
                for segment, special in segments
                for match in (() if special else engine.finditer(segment, timeout=SECONDS))
            ]
        except (*REFUSALS, TimeoutError):
            met["refused"] += 1
            continue
        assert told == expected, (names, ids, text)
        alone = [[own for own in names if regex.fullmatch(own, each.decode())] for each, _ in expected]
        met["a match"] += len(expected) > 0
        met["by its context"] += any(
            not own or names[own[0]] != name for own, (_, name) in zip(alone, expected, strict=True)
        )
        met["special tokens"] += len(segments) > 1
    return met


def check_replacing(member: Member, drawn: random.Random) -> Counter[str]:
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
            replacer = tokdfa.Replacer(member.tokenizer, pattern, new)
            found = replacer.replace(ids)
        except (*REFUSALS, AlphabetError, TokenStreamError, TimeoutError, regex.error):
            met["refused"] += 1
            continue
        expected = member.encode("".join(text for text, _ in done))
        if expected is None:
            continue
        assert found.ids.tolist() == expected, (pattern, new, ids)
        assert found.count == sum(n for _, n in done), (pattern, new, ids)
        met["streams"] += 1
        met["replaced"] += found.count > 0
        met["special tokens"] += len(segments) > 1
        parts = [np.array(part, dtype=np.int32) for part in in_parts(drawn, ids)]
        again = [id for each in replacer.iter_replaced(parts) for id in each.ids.tolist()]
        assert again == expected, (pattern, new, ids, parts)
    return met
