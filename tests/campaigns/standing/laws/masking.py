"""Guides: an id is allowed if and only if some canonical stream of the language continues with it, by brute force."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import regex

import tokdfa
from tests.support.families import Member
from tokdfa.base.errors import LimitExceededError, PatternError, UnsupportedFeatureError
from tokdfa.jobs.guiding.api import Guide

__all__ = ["check"]

LONGEST_WALK = 200


def check(member: Member, drawn: random.Random) -> Counter[str]:
    """Compare masks of a finite language with all of its streams, and masks of an endless one with walks and texts."""
    met: Counter[str] = Counter()
    try:
        member.tokenizer.guide()
    except (UnsupportedFeatureError, PatternError, LimitExceededError):
        return met + Counter(["refused"])
    finite(member, drawn, met)
    without_words(member, drawn, met)
    endless(member, drawn, met)
    return met


def symbols_of(member: Member, drawn: random.Random, most: int) -> list[str]:
    """Return a few characters and contents of added tokens that often follow one another."""
    text = "".join(member.text(drawn) for _ in range(2)) or "ab"
    begin = drawn.randrange(len(text))
    found = [*text[begin : begin + most], *drawn.sample(member.parts, min(len(member.parts), 1))]
    return [*dict.fromkeys([*found, "a"])][: most + 1]


def stream_of(member: Member, text: str) -> list[int] | None:
    """Return the ids of a text; None if they spell another one."""
    ids = member.encode(text)
    return None if ids is None or member.decode(ids) != text else ids


def some_texts(member: Member, drawn: random.Random) -> set[str]:
    symbols = symbols_of(member, drawn, 3)
    texts = {"".join(some) for n in range(4) for some in product(symbols, repeat=n)}
    return {*drawn.sample(sorted(texts), min(len(texts), 30))}


def guide_of(member: Member, language: str | None, ban: tokdfa.Ban | None = None) -> Guide | None:
    """Return the guide of a language; None if it is refused."""
    try:
        return tokdfa.guide(member.tokenizer, language, ban=ban)
    except (UnsupportedFeatureError, PatternError, LimitExceededError):
        return None


def finite(member: Member, drawn: random.Random, met: Counter[str]) -> None:
    """Compare the guide of some texts with the set of their streams, prefix by prefix."""
    texts = some_texts(member, drawn)
    streams = {tuple(ids) for text in texts if (ids := stream_of(member, text)) is not None}
    guide = guide_of(member, "|".join(map(regex.escape, sorted(texts))))
    if guide is None:
        met["refused languages"] += 1
        return
    compare(member, guide, texts, streams, met)


def without_words(member: Member, drawn: random.Random, met: Counter[str]) -> None:
    """Compare the guide of some texts and a ban with the streams that have no banned word between control tokens."""
    texts = some_texts(member, drawn)
    words = {text[(begin := drawn.randrange(len(text))) : begin + drawn.randrange(1, 4)] for text in texts if text}
    words = {*drawn.sample(sorted(words), min(len(words), 2))}
    streams = set()
    for text in texts:
        ids = stream_of(member, text)
        if ids is not None and not any(word in part for part in between(member, ids) for word in words):
            streams.add(tuple(ids))
    try:
        ban = tokdfa.ban(member.tokenizer, words)
    except (UnsupportedFeatureError, PatternError):
        return
    language = "|".join(map(regex.escape, sorted(texts)))
    guide = guide_of(member, language, ban)
    if guide is None:
        assert not streams or guide_of(member, language) is None, (texts, words, streams)
    else:
        met["streams that a ban forbids"] += len(texts) > len(streams)
        compare(member, guide, texts, streams, met)


def between(member: Member, ids: list[int]) -> list[str]:
    """Return the texts between the control tokens."""
    found, begin = [], 0
    for end in [*(index for index, id in enumerate(ids) if id in member.special), len(ids)]:
        # Of a whole text, since decoding may remove a space at its beginning.
        found.append(member.decode(ids[:end])[len(member.decode(ids[:begin])) :])
        begin = end + 1
    return found


def compare(member: Member, guide: Guide, texts: set[str], streams: set[tuple[int, ...]], met: Counter[str]) -> None:
    """Compare a guide with the set of its finished streams."""
    nexts: dict[tuple[int, ...], set[int]] = {stream: set() for stream in streams}
    for stream in streams:
        for index in range(len(stream)):
            nexts.setdefault(stream[:index], set()).add(stream[index])
    states = {(): guide.initial}
    for prefix in sorted(nexts, key=len):
        if prefix:
            target = guide.step(states[prefix[:-1]], prefix[-1])
            assert target is not None, (texts, prefix)
            states[prefix] = target
        allowed = {*guide.allowed(states[prefix]).tolist()}
        assert allowed == nexts[prefix], (texts, prefix, allowed, nexts[prefix])
        assert guide.is_final(states[prefix]) == (prefix in streams), (texts, prefix)
        met["masks of a finite language"] += 1
        met["added tokens allowed"] += not allowed.isdisjoint(member.added)


def endless(member: Member, drawn: random.Random, met: Counter[str]) -> None:
    """Check that each allowed id of some states begins a way to a canonical stream, and that no text is missed."""
    symbols = symbols_of(member, drawn, 3)
    one, other = ("|".join(map(regex.escape, drawn.sample(symbols, min(len(symbols), 2)))) for _ in range(2))
    form = drawn.choice(["(?:{0})*", "(?:{0})+(?:{1})", "(?:(?:{0})(?:{1}))*(?:{0})?", None])
    language = None if form is None else form.format(one, other)
    guide = guide_of(member, language)
    if guide is None:
        met["refused languages"] += 1
        return
    for _ in range(4):
        text = "".join(drawn.choices(symbols, k=drawn.randrange(8))) if language else member.text(drawn)
        if language is not None and regex.fullmatch(language, text) is None:
            continue
        ids = stream_of(member, text)
        if ids is not None and (language is not None or member.again(ids) == ids):
            assert guide.is_final(guide.read(ids)), (language, text, ids)
            met["texts of an endless language"] += 1
            prefix = ids[: drawn.randrange(len(ids) + 1)]
            for id in drawn.sample(allowed := guide.allowed(guide.read(prefix)).tolist(), min(4, len(allowed))):
                ends(member, guide, language, [*prefix, id], drawn)
                met["walks"] += 1


def ends(member: Member, guide: Guide, language: str | None, ids: list[int], drawn: random.Random) -> None:
    """Walk from ids to an end, which the library confirms."""
    state = guide.read(ids)
    for _ in range(LONGEST_WALK):
        if guide.is_final(state):
            break
        allowed = guide.allowed(state).tolist()
        assert allowed, (language, ids)
        ids = [*ids, drawn.choice(allowed)]
        state = guide.read(ids[-1:], state)
    assert guide.is_final(state), (language, ids)
    assert member.again(ids) == ids, (language, ids)
    if language is not None and not member.special & {*ids}:
        assert regex.fullmatch(language, member.decode(ids)), (language, ids)
