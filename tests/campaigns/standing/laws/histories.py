"""Histories: any order of calls, copies and threads give the answers of a fresh tokenizer."""

from __future__ import annotations

import copy
import pickle
import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.campaigns.standing.laws.parts import in_parts
from tests.support import answers
from tests.support.families import Member

__all__ = ["check"]

Question = tuple[Callable[[Any, Any], object], Any]


def safe_cuts(tokenizer: Any, value: Any) -> object:
    """Return where a text, or ids, may be cut."""
    return tokenizer.safe_cuts(value).tolist() if hasattr(tokenizer, "safe_cuts") else None


def validate_in_chunks(tokenizer: Any, chunks: list[list[int]]) -> object:
    """Return the violations of a stream that is fed chunk by chunk."""
    import tokdfa

    validator = tokdfa.Validator(tokenizer)
    found = [violation for chunk in chunks for violation in validator.feed(chunk)]
    return [(each.index, each.ids, each.canonical_ids) for each in [*found, *validator.finish()]]


def questions(member: Member, drawn: random.Random, n: int) -> list[Question]:
    """Return questions about texts and ids of a member, some of them more than once."""
    found: list[Question] = []
    for _ in range(n):
        ask = drawn.choice([*answers.ASKED, safe_cuts, validate_in_chunks, answers.validate_often])
        if ask in (answers.decode, answers.validate):
            found.append((ask, member.stream(drawn)))
        elif ask is validate_in_chunks:
            found.append((ask, in_parts(drawn, member.stream(drawn))))
        elif ask is answers.validate_often:
            found.append((ask, (member.stream(drawn, 4), drawn.choice([2, 50]))))
        else:
            found.append((ask, member.text(drawn)))
    return found + drawn.sample(found, n // 3)


def answered(tokenizer: Any, asked: list[Question]) -> list[object]:
    """Return the answers to questions, one after the other."""
    return [answers.attempt(lambda ask=ask, value=value: ask(tokenizer, value)) for ask, value in asked]


def check(member: Member, drawn: random.Random) -> Counter[str]:
    """Ask a tokenizer that has been asked before, copies of it, and threads that share it."""
    asked = questions(member, drawn, 4)
    fresh = [answered(member.load(), [question])[0] for question in asked]
    assert answered(member.tokenizer, asked) == fresh, asked
    order = drawn.sample(range(len(asked)), len(asked))
    shuffled = [asked[index] for index in order]
    expected = [fresh[index] for index in order]
    how = drawn.choice(["pickled", "copied", "in threads"])
    if how == "in threads":
        with ThreadPoolExecutor(3) as pool:
            for found in pool.map(answered, [member.load()] * 3, [shuffled] * 3):
                assert found == expected, shuffled
    else:
        source = drawn.choice([member.tokenizer, member.load()])
        other = pickle.loads(pickle.dumps(source)) if how == "pickled" else copy.deepcopy(source)
        assert answered(other, shuffled) == expected, shuffled
        assert other.fingerprint == member.tokenizer.fingerprint
    met = Counter([how, *(ask.__name__ for ask, _ in asked)])
    met["refusals"] += sum(isinstance(answer, str) and "Error: " in answer for answer in fresh)
    return met
