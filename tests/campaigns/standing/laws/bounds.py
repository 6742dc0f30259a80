"""Memory: asking the same again and again takes no more of it, with long words or without; new texts take little."""

from __future__ import annotations

import gc
import random
import sys
import tracemalloc
from collections import Counter
from contextlib import suppress
from dataclasses import replace

from tests.campaigns.standing.laws.histories import Question, safe_cuts, validate_in_chunks
from tests.campaigns.standing.laws.parts import in_parts
from tests.support import answers
from tests.support.families import Member
from tokdfa.base.errors import TokdfaError

__all__ = ["check", "grown"]

# Bytes that remain of Python's own accord: lists that have grown.
SLACK = 1 << 12
# Tables may be built after some thousand ids: by then all are.
WARM = 2
SPANS = 3


def ask(member: Member, asked: list[Question]) -> None:
    """Ask, and ignore the answers."""
    for question, value in asked:
        with suppress(TokdfaError):
            question(member.tokenizer, value)


def traced() -> int:
    """Return the bytes in use, without Python's cache of attributes, which keeps the names that were asked for."""
    gc.collect()
    # Python 3.14 warns of the old name.
    clear = getattr(sys, "_clear_internal_caches", None) or sys._clear_type_cache
    clear()
    return tracemalloc.get_traced_memory()[0]


def grown(member: Member, asked: list[Question], rounds: int) -> int:
    """Return the bytes by which memory has grown after rounds of the same questions, once all have been asked.

    They are asked of a tokenizer that is loaded for it: the buffer that a question renews takes no more than the one
    before, but where that was made earlier, its release is not counted.
    """
    tracemalloc.start()
    try:
        fresh = replace(member, tokenizer=member.load())
        for _ in range(WARM):
            ask(fresh, asked)
        least = sys.maxsize
        # A table that is made once so many ids have been read takes memory once; one that grows without end, each time.
        for _ in range(SPANS):
            before = traced()
            for _ in range(rounds):
                ask(fresh, asked)
            least = min(least, traced() - before)
            if least <= SLACK:
                break
        return least
    finally:
        tracemalloc.stop()


def check(member: Member, drawn: random.Random, rounds: int = 2, share: float = 1 / 8) -> Counter[str]:
    """Ask the same about texts and ids several times, in one of eight cases: it takes longer than all other laws."""
    if drawn.random() > share:
        return Counter(["left out"])
    word = drawn.choice(["a", "ab", "é", "the", "\u2581", "aé"])
    # One word beyond the first size of every buffer.
    texts = [*(member.text(drawn) for _ in range(4)), word * drawn.choice([1, 30, 3_000, 20_000])]
    streams = [member.stream(drawn) for _ in range(2)]
    asked: list[Question] = [(answers.encode, text) for text in texts]
    asked += [(each, text) for each in (answers.stream, answers.search, safe_cuts) for text in texts[:2]]
    asked += [(each, ids) for each in (answers.decode, answers.validate) for ids in streams]
    asked += [(validate_in_chunks, in_parts(drawn, ids)) for ids in streams]
    more = grown(member, asked, rounds)
    assert more <= SLACK, (more, texts, streams)
    return Counter({"calls": (rounds + WARM) * len(asked), "a long word": len(texts[-1]) > 1 << 14})
