"""Streams of ids: decoded in any chunks they have the text of all ids, up to the first stop string."""

from __future__ import annotations

import random
from collections import Counter

from tests.campaigns.standing.laws.parts import in_parts
from tests.support.families import Member
from tokdfa import StreamDecoder
from tokdfa.base.errors import UnsupportedFeatureError

__all__ = ["check"]


def check(member: Member, drawn: random.Random) -> Counter[str]:
    """Decode ids in parts, with and without a stop string from their text."""
    met: Counter[str] = Counter()
    ids = member.stream(drawn, drawn.choice([4, 12, 40])) * drawn.choice([1, 1, 20])
    text = member.decode(ids)
    begin = drawn.randrange(len(text) + 1)
    stop = text[begin : begin + drawn.randrange(1, 9)]
    for stops in ((), (stop, stop + "\0")) if stop else ((),):
        try:
            decoder = StreamDecoder(member.tokenizer, stops)
        except UnsupportedFeatureError:
            return met + Counter(["refused"])
        given = ""
        for part in in_parts(drawn, ids):
            given += decoder.feed(part)
            if decoder.stopped is not None:
                break
        given += decoder.finish()
        assert given == (text[: text.index(stop)] if stops else text), (ids, stops)
        assert (decoder.stopped is None) == (not stops), (ids, stops)
        met["stopped" if stops else "whole"] += 1
    return met
