"""Validation: the library's ids are canonical, and after edits the first wrong token is named.

The violations of a stream are where it differs from the ids that the library gives for its text, for any way to cut the
stream into chunks.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import accumulate

import numpy as np

from tests.campaigns.standing.cases import Case
from tests.support.editing import edit_at
from tests.support.tuned import tuned_validator, validate_tuned
from tokdfa.jobs.validation.violation import Violation
from tokdfa.jobs.validation.window import Tuning

SMALL = Tuning(chunk=64, window=16, close_window=4, patience=8, head=8)
DTYPES = [np.int32, np.int64, np.uint16, np.uint32, np.uint64]


def first_wrong(case: Case, ids: list[int]) -> tuple[int | None, bool]:
    """Return the first token that the library would not give, None if there is none; and whether that is exact.

    Of bytes that are not UTF-8 it is the token that makes them so, or one before.
    """
    spelled = case.bytes_of(ids)
    try:
        again = case.encode(b"".join(spelled).decode())
    except UnicodeDecodeError as error:
        return next(index for index, end in enumerate(accumulate(map(len, spelled))) if end > error.start), False
    if again == ids:
        return None, True
    different = (i for i, (a, b) in enumerate(zip(ids, again, strict=False)) if a != b)
    return next(different, min(len(ids), len(again))), True


def edited(case: Case, drawn: random.Random, ids: list[int]) -> list[int]:
    """Return ids with a few edits: tokens split, merged, swapped, replaced, repeated, dropped, inserted."""
    of_word = {word: id for id, word in case.words.items()}
    for _ in range(drawn.choice([1, 1, 1, 2, 5])):
        place = drawn.randrange(len(ids) + 1)
        kind = drawn.choice(["split", "split", "merge", "merge", "swap", "replace", "repeat", "drop", "insert"])
        among = drawn.choice([case.known, case.common, case.common])
        if kind == "insert" or place == len(ids):
            ids = [*ids[:place], drawn.choice(among), *ids[place:]]
        elif kind not in ("split", "merge") or case.words.keys() >= {*ids[place : place + 2]}:
            ids = edit_at(drawn, ids, place, kind, case.words, of_word, among) or ids
    return ids


def array_of(drawn: random.Random, ids: list[int]) -> np.ndarray:
    """Return ids as an array of a random kind of integers that has room for them."""
    return np.array(ids, dtype=drawn.choice(DTYPES))


def judge(case: Case, drawn: random.Random, met: Counter[str], ids: list[int]) -> None:
    """Judge one stream in several ways."""
    expected, exact = first_wrong(case, ids)
    verdict = case.tokenizer.validate(array_of(drawn, ids))
    assert bool(verdict) == (expected is None), ids
    if expected is not None:
        assert verdict.index is not None, ids
        assert verdict.index == expected if exact else verdict.index <= expected, (ids, verdict.index, expected)
        assert verdict.witness is not None
        met[f"violation: {verdict.witness.kind.value}"] += 1
    met["canonical" if verdict else "spoiled"] += 1
    met["not UTF-8"] += not exact
    met["more than a chunk"] += len(ids) > SMALL.chunk
    small = validate_tuned(case.tokenizer, array_of(drawn, ids), tuning=SMALL)
    assert (bool(small), small.index) == (bool(verdict), verdict.index), ids
    if drawn.random() < 0.3:
        size = drawn.choice([1, 3, 50])
        chunks = (array_of(drawn, ids[begin : begin + size]) for begin in range(0, min(len(ids), 40 * size), size))
        part = ids[: 40 * size]
        by_chunks = validate_tuned(case.tokenizer, chunks, tuning=drawn.choice([SMALL, Tuning()]))
        whole = case.tokenizer.validate(part)
        assert (bool(by_chunks), by_chunks.index) == (bool(whole), whole.index), part
        met["in chunks"] += 1
    if not verdict and drawn.random() < 0.5:
        every = [*case.tokenizer.validate(array_of(drawn, ids), all=True).violations]
        assert every[0].index == verdict.index, ids
        if exact:
            assert repaired(ids, every) == case.encode(b"".join(case.bytes_of(ids)).decode()), ids
        assert in_chunks(case, drawn, ids) == every, ids
        met["all violations"] += 1
        met["all violations, improper"] += exact and not case.tokenizer.dictionary.properness()


def repaired(ids: list[int], violations: list[Violation]) -> list[int]:
    """Return ids with each violation replaced by the right ids, which have to differ from it."""
    made, at = [], 0
    for violation in violations:
        start, stop = violation.start, violation.start + len(violation.ids)
        assert at <= start
        assert violation.canonical_ids is not None
        assert ids[start:stop] == [*violation.ids] != [*violation.canonical_ids], (ids, violation)
        made += [*ids[at:start], *violation.canonical_ids]
        at = stop
    return made + ids[at:]


def in_chunks(case: Case, drawn: random.Random, ids: list[int]) -> list[Violation]:
    """Return the violations of a stream that is fed in chunks of random sizes."""
    validator = tuned_validator(case.tokenizer, tuning=drawn.choice([SMALL, Tuning(), Tuning(walks=False, window=16)]))
    found, at = [], 0
    sizes = drawn.choice([[1], [2, 3, 7], [50, 300]])
    while at < len(ids):
        size = drawn.choice(sizes)
        found += validator.feed(array_of(drawn, ids[at : at + size]))
        at += size
    return found + validator.finish()


def check(case: Case, drawn: random.Random) -> Counter[str]:
    """Judge the ids of the library, and edited copies of them."""
    met: Counter[str] = Counter()
    streams = []
    for text in case.texts:
        ids = case.encode(text)
        streams.append(ids)
        judge(case, drawn, met, ids)
        if ids:
            # Text far from the first wrong token costs the peer time, and reaches nothing.
            begin = drawn.randrange(len(ids))
            near = ids[max(begin - drawn.choice([0, 5, 300]), 0) : begin + drawn.choice([1, 5, 300])]
            judge(case, drawn, met, edited(case, drawn, near))
    for known in (case.known, case.common):
        judge(case, drawn, met, drawn.choices(known, k=drawn.randrange(12)))
    documents(case, drawn, met, [ids[:200] for ids in streams])
    number = drawn.choice(case.unused)
    ids = [*streams[0][:100]]
    ids.insert(drawn.randrange(len(ids) + 1), number)
    unknown = [v for v in case.tokenizer.validate(ids, all=True).violations if v.kind == "id-out-of-range"]
    assert [(v.index, v.ids) for v in unknown] == [(ids.index(number), (number,))], ids
    met["an unused id"] += 1
    return met


def documents(case: Case, drawn: random.Random, met: Counter[str], streams: list[list[int]]) -> None:
    """Judge documents in one stream: the first wrong token is in the first document that has one."""
    streams = [edited(case, drawn, ids) if drawn.random() < 0.2 else ids for ids in streams]
    starts = [0, *accumulate(map(len, streams))][:-1]
    verdict = case.tokenizer.validate(array_of(drawn, [id for ids in streams for id in ids]), documents=starts)
    for start, ids in zip(starts, streams, strict=True):
        expected, exact = first_wrong(case, ids)
        if expected is not None:
            assert verdict.index is not None
            index = verdict.index - start
            assert index == expected if exact else 0 <= index <= expected, (streams, verdict.index)
            break
    else:
        assert verdict, streams
    met["documents"] += 1
    met["a document that is spoiled"] += not verdict
