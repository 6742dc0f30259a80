"""Encoding: one text, the same again, many documents in one call, on several threads, and in parts."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest

import tokdfa
from tests.campaigns.standing.cases import Case
from tokdfa.base.errors import AlphabetError
from tokdfa.tokenizers.encoding.stream import EncodingStream

STRETCH = 1 << 12
INVALID = [b"\xff", b"\x80", b"\xc3(", b"\xe4\xb8", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf"]


def check(case: Case, drawn: random.Random) -> Counter[str]:
    """Compare the ids of the texts with the library's."""
    met: Counter[str] = Counter()
    expected = [case.encode(text) for text in case.texts]
    for text, ids in zip(case.texts, expected, strict=True):
        for _ in range(2):
            assert case.tokenizer.encode(text).tolist() == ids, text
        assert case.tokenizer.decode(ids) == text, text
        met["texts"] += 1
        met["not ASCII"] += not text.isascii()
        met["longer than a stretch"] += len(text) > STRETCH
        met["a special token"] += not case.specials.keys().isdisjoint(ids)
        longest = max((piece.end - piece.start for piece in case.tokenizer.split(text[:300], explain=False)), default=0)
        met["a piece of more than 64 bytes"] += longest > 64
        met["a token of more than 16 bytes"] += any(len(word) > 16 for word in case.bytes_of(ids[:500]))
    documents = [*enumerate(case.texts)] * drawn.randrange(1, 3)
    for text in case.texts:
        # Documents that are cut out of others, so that most of their pieces are known.
        begin, size = drawn.randrange(len(text) + 1), drawn.randrange(200)
        documents.append((len(expected), text[begin : begin + size]))
        expected.append(case.encode(documents[-1][1]))
    drawn.shuffle(documents)
    threads = drawn.randrange(1, 4)
    batch = tokdfa.encode_batch(case.tokenizer, [text for _, text in documents], threads=threads)
    for (number, text), (begin, end) in zip(documents, pairwise(batch.offsets.tolist()), strict=True):
        assert batch.ids[begin:end].tolist() == expected[number], text
    met["documents in one call"] += len(documents)
    met["several threads"] += threads > 1
    met["an empty document"] += sum(not text for _, text in documents)
    in_parts(case, drawn, met, drawn.choice(case.texts))
    return met


def feed_all(stream: EncodingStream, parts: list[bytes]) -> list[int]:
    """Return the ids of a text that comes in parts."""
    return [id for ids in [*map(stream.feed, parts), stream.finish()] for id in ids.tolist()]


def in_parts(case: Case, drawn: random.Random, met: Counter[str], text: str) -> None:
    """Feed a text part by part, and one that is not UTF-8."""
    stream = case.tokenizer.stream()
    size = drawn.choice([1, 2, 7, 64, 1000, 5000])
    text = text[: 60 * size]
    data, ids = text.encode(), case.encode(text)
    places = [0, *sorted(drawn.randrange(len(data) + 1) for _ in range(len(data) // size)), len(data)]
    parts = [data[begin:end] for begin, end in pairwise(places)]
    assert feed_all(stream, parts) == ids, (text, places)
    met["in parts"] += 1
    met["a part that ends within a symbol"] += any(end < len(data) and data[end] & 0xC0 == 0x80 for end in places)
    place = drawn.choice(places)
    spoiled = data[:place] + drawn.choice(INVALID) + data[place:]
    try:
        spoiled.decode()
    except UnicodeDecodeError:
        with pytest.raises(AlphabetError):
            feed_all(stream, [spoiled[begin : begin + size] for begin in range(0, len(spoiled), size)])
        met["not UTF-8"] += 1
