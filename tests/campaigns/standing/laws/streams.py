"""Encoding: a text in parts, cut anywhere, has the ids of the whole text, which equal the library's."""

from __future__ import annotations

import random
from collections import Counter

from tests.campaigns.standing.laws.parts import in_parts
from tests.support.families import Member
from tokdfa.base.errors import AlphabetError

__all__ = ["check"]


def ids_in_parts(member: Member, parts: list[str] | list[bytes]) -> list[int] | None:
    """Return the ids of a text that comes in parts; None if it is refused."""
    stream = member.tokenizer.stream()
    try:
        return [id for ids in [*map(stream.feed, parts), stream.finish()] for id in ids.tolist()]
    except AlphabetError:
        return None


def check(member: Member, drawn: random.Random) -> Counter[str]:
    """Encode a few texts at once and in several chunkings."""
    met: Counter[str] = Counter()
    for _ in range(3):
        text = member.text(drawn, drawn.choice([4, 12, 24]))
        try:
            whole: list[int] | None = member.tokenizer.encode(text).tolist()
        except AlphabetError:
            whole = None
            met["refused texts"] += 1
        expected = member.encode(text)
        if whole is not None and expected is not None:
            assert whole == expected, text
            met["texts"] += 1
        for _ in range(3):
            parts = in_parts(drawn, text.encode())
            assert ids_in_parts(member, parts) == whole, (text, parts)
            met["in parts of bytes"] += 1
        parts_of_text = in_parts(drawn, text)
        assert ids_in_parts(member, parts_of_text) == whole, (text, parts_of_text)
        met["in parts of characters"] += 1
        met["several parts"] += len(parts_of_text) > 1
        met["added tokens"] += not member.added.keys().isdisjoint(whole or ())
    return met
