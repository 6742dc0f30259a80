"""Memory: asking the same again and again takes no more of it, with long words or without; new texts take little."""

from __future__ import annotations

import gc
import random
import tracemalloc
from collections import Counter
from contextlib import suppress

from support import answers
from support.families import Member

from tests.standing.laws.histories import Question, safe_cuts, validate_in_chunks
from tests.standing.laws.parts import in_parts
from tokdfa.errors import TokdfaError

__all__ = ["check", "grown"]

# Bytes that remain of Python's own accord: interned strings, lists that have grown.
SLACK = 1 << 15
# Tables may be built after some thousand ids: by then all are.
WARM = 2


def ask(member: Member, asked: list[Question]) -> None:
    """Ask, whatever the answers are."""
    for question, value in asked:
        with suppress(TokdfaError):
            question(member.tokenizer, value)


def grown(member: Member, asked: list[Question], rounds: int) -> int:
    """Return the bytes by which memory has grown after rounds of the same questions, once all have been asked."""
    # What is there already is not looked at by each collection.
    gc.collect()
    gc.freeze()
    tracemalloc.start()
    try:
        for _ in range(WARM):
            ask(member, asked)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(rounds):
            ask(member, asked)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
        gc.unfreeze()


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
