"""Searching again: the machine of a pattern is reused, by several searches and threads at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest

import numpy as np
import pytest

from tests.support.streams import Vocabulary
from tests.support.tuned import tuned
from tokdfa.base.errors import PatternError
from tokdfa.jobs.searching.api import Searcher, search
from tokdfa.jobs.searching.plan import Tuning

VOCABULARY = Vocabulary([b"a", b"b", b"ab", b" "])


def test_a_pattern_is_made_ready_once() -> None:
    first = Searcher(VOCABULARY, "ab+")._plan
    assert Searcher(VOCABULARY, "ab+")._plan is first
    assert Searcher(VOCABULARY, "ab+", wanted="all")._plan is not first
    assert Searcher(VOCABULARY, "ab+", aligned=True)._plan is not first
    assert Searcher(Vocabulary([b"a", b"b"]), "ab+")._plan is not first
    assert tuned(Searcher, Tuning(patience=7))(VOCABULARY, "ab+")._plan.tuning.patience == 7
    with pytest.raises(PatternError, match="unknown choice"):
        Searcher(VOCABULARY, "ab+", wanted="some")
    with pytest.raises(PatternError, match="unknown choice"):
        Searcher(VOCABULARY, "ab+", wanted=["all"])


def test_only_the_last_are_kept() -> None:
    vocabulary = Vocabulary(VOCABULARY.words)
    first, second = (Searcher(vocabulary, pattern)._plan for pattern in ("a", "b"))
    for pattern in ("a+", "b+", "a"):
        Searcher(vocabulary, pattern)
    assert Searcher(vocabulary, "a")._plan is first
    assert Searcher(vocabulary, "b")._plan is second
    Searcher(vocabulary, "ab")
    assert Searcher(vocabulary, "a")._plan is first
    assert Searcher(vocabulary, "a+")._plan is Searcher(vocabulary, "a+")._plan
    assert Searcher(vocabulary, "b+")._plan is not None
    assert Searcher(vocabulary, "b")._plan is not second


def test_many_short_streams_pay_for_what_a_long_one_does() -> None:
    vocabulary = Vocabulary(VOCABULARY.words)
    ids = np.random.default_rng(2).integers(0, 4, size=40)
    expected = tuned(Searcher, Tuning(patience=10**9))(vocabulary, "ab+").search(ids)
    assert len(expected) > 3
    searcher = tuned(Searcher, Tuning(patience=100))(vocabulary, "ab+")
    plan = searcher._plan
    for n_read, machine in ((0, "bytewise"), (40, "bytewise"), (80, "tokenwise"), (120, "tokenwise")):
        assert plan.n_read == n_read
        assert searcher.search(ids) == expected
        # Fewer ids are read as many are, once it has been found out how.
        assert plan.machine_for(0) is getattr(plan, machine)


def test_a_search_begins_anew_where_another_one_has_ended() -> None:
    """The buffers of a finished search are used again, even after matches and failed starts."""
    vocabulary = Vocabulary([b"a", b"b", b"c"])
    dice = np.random.default_rng(3)
    for pattern in ("ab", "a[ab]*c", "(?:a|b)+c|a"):
        searcher = tuned(Searcher, Tuning(patience=-1))(vocabulary, pattern)
        for _ in range(50):
            ids = dice.integers(0, 3, size=int(dice.integers(0, 200)))
            assert searcher.search(ids) == search(Vocabulary(vocabulary.words), pattern, ids)


@pytest.mark.parametrize("pattern", ["ab+", ["ab", "bb"]])
@pytest.mark.parametrize("patience", [10**9, -1])
def test_searches_at_the_same_time(pattern: str | list[str], patience: int) -> None:
    tuning = Tuning(patience=patience)
    dice = np.random.default_rng(1)
    streams = [dice.integers(0, 4, size=50_000) for _ in range(8)]
    expected = [search(Vocabulary(VOCABULARY.words), pattern, ids).rows for ids in streams]
    searcher = tuned(Searcher, tuning)(VOCABULARY, pattern)
    with ThreadPoolExecutor(4) as threads:
        for matches, rows in zip(threads.map(searcher.search, streams), expected, strict=True):
            assert (matches.rows == rows).all()
    # Streams that take turns, and one that is given up, do not disturb each other.
    chunks = [[ids[begin : begin + 5000] for begin in range(0, len(ids), 5000)] for ids in streams[:2]]
    next(iter(searcher.iter_matches(chunks[0])))
    turns = [searcher.iter_matches(one) for one in chunks]
    found = [[], []]
    for pair in zip_longest(*turns):
        for rows, matches in zip(found, pair, strict=True):
            rows += [] if matches is None else [matches.rows]
    for rows, whole in zip(found, expected, strict=False):
        assert (np.concatenate(rows) == whole).all()
