"""Searching: the matches equal an engine's in the decoded text, in streams that need not be canonical."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate

import numpy as np
import regex

import tokdfa
from tests.campaigns.standing.cases import Case
from tests.campaigns.standing.validating import array_of, edited
from tests.support.tuned import tuned
from tests.support.utf8 import is_utf8
from tokdfa.jobs.searching.plan import Tuning

SMALL = Tuning(block=16, step=5, patience=-1)
TUNINGS = [SMALL, Tuning(), Tuning(patience=-1), Tuning(block=100, step=40, patience=10**9)]
TUNINGS += [Tuning(max_entries=1, patience=-1), Tuning(step=70, max_entries=1, patience=-1)]
# Read alike by both, lazy and possessive repeats aside.
ATOMS = ["a", "[a-z]", "[^a]", r"\d", r"\w", r"\s", ".", "the", " ", r"\n", "é", "[A-Z]", r"\p{L}", "中", "x"]
ATOMS += ["a(?=b)", r"\S(?!\s)", r"\bt"]
MOST = 1500
# An engine that backtracks may take forever.
SECONDS = 0.5


def pattern_of(drawn: random.Random, text: str, depth: int = 2) -> str:
    """Return a pattern that often matches somewhere in a text."""

    def atom() -> str:
        begin = drawn.randrange(len(text) + 1)
        word = text[begin : begin + drawn.randrange(1, 5)]
        return regex.escape(word) if word and drawn.random() < 0.6 else drawn.choice(ATOMS)

    if depth == 0 or drawn.random() < 0.5:
        return "".join(atom() for _ in range(drawn.choice([1, 1, 2])))
    parts = [pattern_of(drawn, text, depth - 1) for _ in range(2)]
    form = drawn.choice(["{}{}", "(?:{}|{})", "(?:{}x?)+{}", "(?:a{})?{}", "(?:{}b?){{1,2}}{}"])
    return form.format(*parts)


def matched(engine: Iterator[regex.Match[str]], text: str) -> list[tuple[int, int]]:
    """Return the spans in bytes, empty ones left out."""
    lengths = np.fromiter((len(symbol.encode()) for symbol in text), dtype=np.int64, count=len(text))
    at = np.concatenate(([0], np.cumsum(lengths))).tolist()
    return [(at[match.start()], at[match.end()]) for match in engine if match.end() > match.start()]


def compare(
    case: Case, drawn: random.Random, met: Counter[str], ids: list[int], pattern: str | list[bytes], wanted: str,
    expected: list[tuple[int, int]],
) -> None:  # fmt: skip
    """Search ids at once and in chunks, and compare spans and tokens."""
    ends = [*accumulate(map(len, case.bytes_of(ids)))]
    boundaries = {0, *ends}
    tuning = drawn.choice(TUNINGS)
    searcher = tuned(tokdfa.Searcher, tuning)(case.tokenizer, pattern, wanted=wanted)  # type: ignore[arg-type]
    found = searcher.search(array_of(drawn, ids))
    assert [(match.start_byte, match.end_byte) for match in found] == expected, (pattern, wanted, ids, tuning)
    rows = found.rows
    if len(rows):
        np.testing.assert_array_equal(rows[:, 2], np.searchsorted(ends, rows[:, 0], side="right"))
        np.testing.assert_array_equal(rows[:, 3], np.searchsorted(ends, rows[:, 1] - 1, side="right") + 1)
    met["streams"] += 1
    met["matches"] += len(rows)
    met["a match"] += len(rows) > 0
    met["a match over several tokens"] += bool((rows[:, 3] > rows[:, 2] + 1).any())
    met["a match with an added token"] += any(
        not case.specials.keys().isdisjoint(ids[first:stop]) for _, _, first, stop in rows.tolist()
    )
    met["a match within a token"] += not boundaries.issuperset(rows[:, :2].ravel().tolist())
    met[f"wanted {wanted}"] += 1
    met["blocks"] += len(ids) > tuning.block
    if drawn.random() < 0.3:
        size = drawn.choice([1, 2, 17, 300])
        chunks = (array_of(drawn, ids[begin : begin + size]) for begin in range(0, len(ids), size))
        again = [match for matches in searcher.iter_matches(chunks) for match in matches]
        assert again == [*found], (pattern, wanted, ids, size)
        met["in chunks"] += 1
    if drawn.random() < 0.05 and isinstance(pattern, list):
        pattern = [word for word in pattern if is_utf8(word)]
        aligned = case.tokenizer.search(pattern, ids, wanted="all", aligned=True)
        every = case.tokenizer.search(pattern, ids, wanted="all")
        assert [*aligned] == [match for match in every if boundaries.issuperset(match[:2])], (pattern, ids)
        met["aligned"] += 1


def check(case: Case, drawn: random.Random) -> Counter[str]:
    """Search for patterns and words in streams of the case."""
    met: Counter[str] = Counter()
    plain = [text for text in case.texts if not case.controls & {*case.encode(text[:MOST])}]
    for text in plain[:2]:
        text = text[:MOST]
        ids = case.encode(text)
        if drawn.random() < 0.5:
            # The same text in other tokens, and another text.
            other = [id for id in edited(case, drawn, ids) if id not in case.controls]
            for id in sorted(case.specials.keys() - case.controls):
                other.insert(drawn.randrange(len(other) + 1), id)
            try:
                text = b"".join(case.bytes_of(other)).decode()
                ids = other
                met["not canonical"] += 1
            except UnicodeDecodeError:
                met["not UTF-8"] += 1
                words_in(case, drawn, met, other)
        pattern = pattern_of(drawn, text)
        wanted = drawn.choice(["longest", "first"])
        engine = f"(?p)(?:{pattern})" if wanted == "longest" else pattern
        try:
            expected = matched(regex.finditer(engine, text, timeout=SECONDS), text)
        except TimeoutError:
            met["given up by the peer"] += 1
        else:
            compare(case, drawn, met, ids, pattern, wanted, expected)
        words_in(case, drawn, met, ids)
    return met


def words_in(case: Case, drawn: random.Random, met: Counter[str], ids: list[int]) -> None:
    """Search for words of the text itself, in bytes."""
    data = b"".join(case.bytes_of(ids))
    words = {data[place : place + drawn.randrange(1, 9)] for place in drawn.choices(range(len(data) + 1), k=12)}
    listed = drawn.sample([*sorted(words - {b""}), b"zq"], len(words - {b""}) + 1)
    wanted = drawn.choice(["longest", "first"])
    ordered = sorted(listed, key=len, reverse=True) if wanted == "longest" else listed
    engine = regex.finditer(b"|".join(map(regex.escape, ordered)), data)
    compare(case, drawn, met, ids, listed, wanted, [match.span() for match in engine])
    met["words"] += 1
