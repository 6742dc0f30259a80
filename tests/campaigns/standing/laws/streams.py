"""Encoding: a text has the ids that the library gives, in parts that are cut anywhere, and in one call with others."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import tokdfa
from tests.campaigns.standing.laws.parts import in_parts
from tests.campaigns.standing.texts import text as hostile_text
from tests.support.families import Member
from tokdfa.base.errors import AlphabetError

__all__ = ["check"]

STRETCH = 1 << 12
INVALID = [b"\xff", b"\x80", b"\xc3(", b"\xe4\xb8(", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf"]


def ids_in_parts(member: Member, parts: list[str] | list[bytes]) -> list[int] | None:
    """Return the ids of a text that comes in parts; None if it is refused."""
    stream = member.tokenizer.stream()
    try:
        return [id for ids in [*map(stream.feed, parts), stream.finish()] for id in ids.tolist()]
    except AlphabetError:
        return None


def check(member: Member, drawn: random.Random) -> Counter[str]:
    """Encode a few texts alone, in several chunkings and in one call; now and then one is long and hostile."""
    met: Counter[str] = Counter()
    texts = [member.text(drawn, drawn.choice([4, 12, 24])) for _ in range(3)]
    if drawn.random() < 0.4:
        texts.append(hostile_text(drawn, longest=13))
    known = []
    for text in texts:
        try:
            whole: list[int] | None = member.tokenizer.encode(text).tolist()
        except AlphabetError:
            whole = None
            met["refused texts"] += 1
        expected = member.encode(text)
        if whole is not None and expected is not None:
            assert whole == expected, text
            known.append((text, expected))
            met["texts"] += 1
            met["longer than a stretch"] += len(text) > STRETCH
        in_any_parts(member, drawn, met, text, whole)
        met["added tokens"] += not member.added.keys().isdisjoint(whole or ())
    in_one_call(member, drawn, met, known)
    return met


def in_any_parts(member: Member, drawn: random.Random, met: Counter[str], text: str, whole: list[int] | None) -> None:
    """Feed a text in parts of bytes and of characters; and bytes that are not UTF-8, which are refused."""
    sizes = (1, 2, 3, 7) if len(text) < STRETCH else (64, 1000, 5000)
    for _ in range(3):
        parts = in_parts(drawn, text.encode(), sizes)
        assert ids_in_parts(member, parts) == whole, (text, parts)
        met["in parts of bytes"] += 1
    parts_of_text = in_parts(drawn, text, sizes)
    assert ids_in_parts(member, parts_of_text) == whole, (text, parts_of_text)
    met["in parts of characters"] += 1
    met["several parts"] += len(parts_of_text) > 1
    bad, rest = drawn.choice(INVALID), member.text(drawn, 2).encode()
    assert ids_in_parts(member, in_parts(drawn, text.encode() + bad + rest, sizes)) is None, (text, bad, rest)


def in_one_call(member: Member, drawn: random.Random, met: Counter[str], known: list[tuple[str, list[int]]]) -> None:
    """Encode many documents in one call, on several threads."""
    documents = [*known * drawn.randrange(1, 4), ("", member.tokenizer.encode("").tolist())]
    drawn.shuffle(documents)
    threads = drawn.randrange(1, 4)
    ids, offsets = tokdfa.encode_batch(member.tokenizer, [text for text, _ in documents], threads=threads)
    rows = [ids[start:stop].tolist() for start, stop in pairwise(offsets.tolist())]
    assert rows == [expected for _, expected in documents], (documents, threads)
    met["documents in one call"] += len(documents)
    met["several threads"] += threads > 1
