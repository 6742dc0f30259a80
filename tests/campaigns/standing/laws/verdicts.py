"""Verdicts: violations are where ids differ from the library's, and do not depend on how a stream is cut.

Documents in one stream are judged each by itself, and an id that no token has is a violation wherever it is.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import accumulate

import numpy as np

from tests.campaigns.standing.laws.parts import in_parts
from tests.support.editing import edit_at
from tests.support.families import Member
from tests.support.tuned import validate_tuned
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.validation.violation import Violation
from tokdfa.jobs.validation.window import DEFAULT, Tuning

__all__ = ["check"]

DTYPES = [np.int32, np.int64, np.uint16, np.uint32, np.uint64]
TUNINGS = [DEFAULT, Tuning(chunk=4, window=3, close_window=2, patience=2, head=2), Tuning(chunk=64, window=16)]

Found = tuple[int, int, tuple[int, ...], tuple[int, ...] | None]


def found(violations: tuple[Violation, ...]) -> list[Found]:
    """Return where violations are, and the ids given and wanted."""
    return [(each.index, each.start, each.ids, each.canonical_ids) for each in violations]


def first_difference(ids: list[int], others: list[int]) -> int:
    """Return the length of the longest common prefix."""
    differ = (at for at, (a, b) in enumerate(zip(ids, others, strict=False)) if a != b)
    return next(differ, min(len(ids), len(others)))


def check_repairs(ids: list[int], expected: list[int], violations: list[Found]) -> bool | None:
    """Mend violations one by one; each is in order, differs, and its index is the first difference left.

    Return whether there is one; None if a violation has no ids in its place, for its bytes are not UTF-8.
    """
    if any(wanted is None for *_, wanted in violations):
        return None
    shown = (ids, expected, violations)
    mended, grown, end = ids, 0, 0
    for index, start, given, wanted in violations:
        assert wanted is not None
        assert start >= end, shown
        assert ids[start : start + len(given)] == [*given] != [*wanted], shown
        assert index + grown == first_difference(mended, expected), shown
        mended = [*mended[: start + grown], *wanted, *mended[start + grown + len(given) :]]
        grown += len(wanted) - len(given)
        end = start + len(given)
    assert mended == expected, shown
    return bool(violations)


def respelled(member: Member, drawn: random.Random, ids: list[int]) -> list[int]:
    """Return ids of the same text, where a token can be taken apart or joined with the next one."""
    words = {id: word for id in member.ids if id not in member.added and (word := member.spell([id]))}
    of_word = {word: id for id, word in words.items()}
    for at in drawn.sample(range(len(ids)), len(ids)):
        if words.keys() >= {*ids[at : at + 2]}:
            found = edit_at(drawn, ids, at, drawn.choice(["split", "merge"]), words, of_word)
            if found is not None:
                return found
    return ids


def check(member: Member, drawn: random.Random) -> Counter[str]:
    """Judge a few streams at once and in chunks."""
    met: Counter[str] = Counter()
    streams = [member.stream(drawn, drawn.choice([4, 12, 24])) for _ in range(4)]
    streams += [respelled(member, drawn, member.encode(member.text(drawn)) or []) for _ in range(2)]
    for ids in streams:
        expected = member.again(ids)
        if expected is None:
            met["the library fails"] += 1
            continue
        verdict = member.tokenizer.validate(np.array(ids, dtype=drawn.choice(DTYPES)), all=True)
        violations = found(verdict.violations)
        assert bool(verdict) == (expected == ids), (ids, expected)
        met["canonical" if verdict else "spoiled"] += 1
        met["several violations"] += len(violations) > 1
        met["not UTF-8"] += (at_once := check_repairs(ids, expected, violations)) is None
        met["repaired"] += at_once is True
        parts = in_parts(drawn, ids)
        chunks = [np.array(part, dtype=np.int64) for part in parts]
        tuning = drawn.choice(TUNINGS)
        whole = found(validate_tuned(member.tokenizer, ids, all=True, tuning=tuning).violations)
        by_chunks = validate_tuned(member.tokenizer, iter(chunks), all=True, tuning=tuning)
        assert found(by_chunks.violations) == whole, (ids, parts, tuning, found(by_chunks.violations), whole)
        # How far a violation reaches where tokens add no text depends on the windows, but it is right in all.
        check_repairs(ids, expected, whole)
        assert by_chunks.tokens == len(ids)
        met["in chunks"] += len(parts) > 1
        met["more than a chunk"] += len(ids) > tuning.chunk
        met.update(f"violation: {violation.kind.value}" for violation in verdict.violations)
    check_documents(member, streams, met)
    ids = drawn.choice(streams)
    at, unused = drawn.randrange(len(ids) + 1), max(member.ids) + drawn.choice([1, 1000])
    met["an unused id"] += 1
    unknown = member.tokenizer.validate([*ids[:at], unused, *ids[at:]], all=True).violations
    assert [(each.index, each.ids) for each in unknown if each.kind == "id-out-of-range"] == [(at, (unused,))], ids
    return met


def check_documents(member: Member, streams: list[list[int]], met: Counter[str]) -> None:
    """Judge streams as the documents of one."""
    starts = [0, *accumulate(map(len, streams))][:-1]
    try:
        verdict = member.tokenizer.validate([id for ids in streams for id in ids], all=True, documents=starts)
    except UnsupportedFeatureError:
        met["refused documents"] += 1
        return
    expected = [
        (start + index, start + begin, given, wanted)
        for start, ids in zip(starts, streams, strict=True)
        for index, begin, given, wanted in found(member.tokenizer.validate(ids, all=True).violations)
    ]
    assert found(verdict.violations) == expected, streams
    met["documents"] += 1
    met["a document that is spoiled"] += not verdict
