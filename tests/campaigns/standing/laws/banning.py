"""Bans: an id is forbidden if and only if the text with it has a banned word; texts are cut at special tokens."""

from __future__ import annotations

import random
from collections import Counter

import tokdfa
from tests.support.families import Member
from tokdfa.base.errors import PatternError, UnsupportedFeatureError

__all__ = ["check"]


def check(member: Member, drawn: random.Random) -> Counter[str]:
    """Ban words of a stream, and compare the allowed ids along streams with brute force."""
    met: Counter[str] = Counter()
    streams = [member.stream(drawn) for _ in range(3)]
    spelled = [data for ids in streams if (data := member.spell(ids))]
    spelled += [text.encode() for text in member.parts]
    if not spelled:
        return met
    words = set()
    for data in drawn.choices(spelled, k=drawn.randrange(1, 4)):
        begin = drawn.randrange(len(data))
        words.add(data[begin : begin + drawn.choice([1, 2, 3, 8])])
    try:
        ban = tokdfa.ban(member.tokenizer, words)
    except (UnsupportedFeatureError, PatternError):
        return met + Counter(["refused"])
    of_id = {id: member.spell([id]) for id in member.ids}
    if None in of_id.values():
        return met + Counter(["bytes that the library does not tell"])
    for ids in streams:
        state, data = ban.initial, b""
        for index, id in enumerate(ids):
            allowed = {*ban.allowed(state).tolist()}
            for other in {*drawn.choices(member.ids, k=40), *ids[index:], *member.added}:
                is_special = other in member.special
                is_banned = not is_special and any(word in data + of_id[other] for word in words)
                assert (other in allowed) != is_banned, (words, ids[:index], other)
                met["banned" if is_banned else "allowed"] += 1
                met["added tokens that are text"] += other in member.added and not is_special
            target = ban.step(state, id)
            assert (target is not None) == (id in allowed)
            if target is None:
                break
            state = target
            data = b"" if id in member.special else data + of_id[id]
        else:
            assert ban.is_final(state)
            met["whole streams"] += 1
    return met
