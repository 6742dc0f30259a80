"""Buffers and caches stay bounded over 1,000 calls, for every family: short texts, long words, and both in turn."""

from __future__ import annotations

import gc
import random
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import pytest

from tests.campaigns.standing.laws.bounds import grown
from tests.support import answers
from tests.support.families import FAMILIES, Member
from tokdfa.base.errors import TokdfaError

Call: TypeAlias = Callable[[], Any]
# A word that is longer than any buffer is at first, and the memory that a few calls may keep.
LONG = 20_000
MOST_LEFT = 1 << 19


def calls_of(member: Member, drawn: random.Random) -> tuple[list[Call], list[Call]]:
    """Return calls with texts and ids of this member: short ones, and ones with long words."""
    encode, validate, decode = member.tokenizer.encode, member.tokenizer.validate, member.tokenizer.decode
    texts = [member.text(drawn) for _ in range(12)]
    streams = [member.stream(drawn) for _ in range(4)]
    short: list[Call] = [partial(encode, text) for text in texts]
    short += [partial(streamed, member, text) for text in texts[:4]]
    short += [partial(call, ids) for ids in streams for call in (validate, decode)]
    letter = next((text[0] for text in texts if text.strip()), "a")
    words = [letter * LONG, (texts[0] or "ab") * (1 + LONG // max(len(texts[0]), 2)), " " * LONG + letter]
    ids = (member.encode(words[0][: LONG // 4]) or [])[: LONG // 4]
    long: list[Call] = [partial(encode, word) for word in words]
    long += [partial(streamed, member, words[0]), partial(validate, ids), partial(decode, ids)]
    return short, long


def streamed(member: Member, text: str) -> int:
    stream = member.tokenizer.stream()
    return sum(len(stream.feed(text[at : at + 4096])) for at in range(0, len(text), 4096)) + len(stream.finish())


def called(calls: list[Call]) -> int:
    """Call each and return how many did not fail."""
    n = 0
    for call in calls:
        try:
            call()
            n += 1
        except TokdfaError:
            pass
    return n


@pytest.mark.parametrize("n_calls", [100, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("family", FAMILIES)
def test_memory_stays_bounded_over_many_calls(family: str, n_calls: int) -> None:
    drawn = random.Random(5)
    short, long = calls_of(FAMILIES[family](drawn), drawn)
    tracemalloc.start()
    try:
        # Tables built once, and cache entries of these calls, are there after all of them.
        assert called(short + long) > len(short + long) // 3
        tracemalloc.reset_peak()
        called(short + long)
        gc.collect()
        at_first, most = tracemalloc.get_traced_memory()
        for _ in range(n_calls // (len(short) + 1)):
            called(drawn.sample(short, len(short)) + drawn.sample(long, 1))
        gc.collect()
        now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert now <= at_first + MOST_LEFT
    # A call takes no more after many others than it did at first.
    assert peak <= most + 4 * MOST_LEFT


def test_a_buffer_that_is_renewed_is_no_growth() -> None:
    # The buffer for short texts is full after some thousand ids: the one that was made before the measuring goes then.
    member = FAMILIES["WordPiece"](random.Random(5))
    asked: list[Any] = [(answers.encode, "a b a")] * 20 + [(answers.validate, [*member.ids[:3]])] * 20
    assert called([partial(answers.encode, member.tokenizer, "a")]) == 1
    assert grown(member, asked, rounds=100) < 1 << 10
