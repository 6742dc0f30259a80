"""The split patterns of published tokenizers, as machines: equal to the library and to the backtracking definition."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.support.split_patterns import WITHOUT_MACHINE, Case, cases, representatives, short_texts
from tests.support.split_table import TABLE, row, table
from tokdfa.base.errors import LimitExceededError, PatternError
from tokdfa.tokenizers.pretokenizers.finding import find_split_nfa
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
from tokdfa.tokenizers.pretokenizers.splitter import Splitter
from tokdfa.tokenizers.pretokenizers.steps import Behavior, Split, Splitting

BEHAVIORS: list[tuple[Behavior, bool]] = [
    ("removed", True),
    ("removed", False),
    ("isolated", False),
    ("merged_with_previous", False),
    ("merged_with_next", True),
    ("contiguous", False),
]
RARE = {
    *("hub-004", "hub-018", "hub-033", "hub-036", "hub-046", "hub-048", "hub-059", "hub-063", "hub-069", "hub-074"),
    *("problematic-g-anchor", "edge-hex-nondigit", "edge-Z-anchor", "edge-atomic-group", "edge-posix-alpha"),
}
# Their machines take seconds.
SLOW = {"hub-064", *WITHOUT_MACHINE}


def splitting_of(case: Case, behavior: Behavior = "isolated", invert: bool = False) -> Splitting:
    return Splitting("tokenizers", (Split(case.pattern, behavior, invert),))


def pieces_of_machine(splitter: Splitter, text: str) -> list[str]:
    data = text.encode()
    return [data[start:end].decode() for start, end in splitter.spans(data).tolist()]


def assert_pieces_of_case(case: Case) -> None:
    splitting = splitting_of(case, case.behavior, case.invert)
    splitter, definition = Splitter(splitting), PreTokenizer(splitting)
    for text, expected in zip(case.texts, case.pieces, strict=True):
        assert definition.split_backtracking(text) == expected, (case.name, text)
        assert pieces_of_machine(splitter, text) == expected, (case.name, text)


def assert_split_by_library(case: Case, behaviors: list[tuple[Behavior, bool]]) -> None:
    from tokenizers import Regex, pre_tokenizers

    for behavior, invert in behaviors:
        library = pre_tokenizers.Split(Regex(case.pattern), behavior, invert)
        splitter = Splitter(splitting_of(case, behavior, invert))
        for text in case.texts:
            expected = [piece for piece, _ in library.pre_tokenize_str(text)]
            assert pieces_of_machine(splitter, text) == expected, (case.name, behavior, invert, text)


def assert_split_by_definition(case: Case, longest: int, most: int) -> int:
    splitting = splitting_of(case)
    splitter, definition = Splitter(splitting), PreTokenizer(splitting)
    texts = short_texts(representatives(find_split_nfa(splitting)), longest, most)
    for text in texts:
        assert pieces_of_machine(splitter, text) == definition.split_backtracking(text), (case.name, text)
    return len(texts)


def test_the_collection(data: Path) -> None:
    """A few of the patterns, those with rare constructs among them; see the long test for all."""
    pytest.importorskip("tokenizers")
    found = [case for case in cases(data) if case.name not in SLOW]
    assert len(found) == 141
    chosen = [case for place, case in enumerate(found) if case.name in RARE or place % 20 == 5]
    assert len(chosen) > len(RARE)
    for place, case in enumerate(chosen):
        assert_pieces_of_case(case)
        if place % 3 == 0:
            assert_split_by_library(case, [BEHAVIORS[place // 3 % len(BEHAVIORS)]])
            assert_split_by_definition(case, 3, 200)


@pytest.mark.slow
def test_the_collection_at_length(data: Path) -> None:
    pytest.importorskip("tokenizers")
    for case in cases(data):
        if case.name not in WITHOUT_MACHINE:
            assert_pieces_of_case(case)
            assert_split_by_library(case, BEHAVIORS)
            print(case.name, assert_split_by_definition(case, 5, 1_000_000), flush=True)


def test_patterns_without_a_machine(data: Path) -> None:
    for case in cases(data):
        if case.name not in WITHOUT_MACHINE:
            continue
        start = time.perf_counter()
        with pytest.raises((PatternError, LimitExceededError), match=WITHOUT_MACHINE[case.name]):
            Splitter(splitting_of(case), max_seconds=0.3)
        assert time.perf_counter() - start < 2.0
        if case.name != "hub-014":
            definition = PreTokenizer(splitting_of(case, case.behavior, case.invert))
            for text, expected in zip(case.texts, case.pieces, strict=True):
                assert definition.split_backtracking(text) == expected


# Trinity's three steps; digits are cut in groups of 510 from the right, and these in groups of three from the right.
TRINITY = (
    r"\p{Nd}{1,510}(?=(?>\p{Nd}{510})*(?:\P{Nd}|$))|\G\p{Nd}{510}",
    r"\A\p{Nd}{1,2}(?=\p{Nd}{3}+\z)",
    r"\A\p{Nd}{3}|\G\p{Nd}{3}",
)


def assert_counter_splits_alike(lengths: Iterable[int]) -> None:
    from tokenizers import Regex, pre_tokenizers

    steps = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in TRINITY]
    theirs = pre_tokenizers.Sequence(steps)
    ours = PreTokenizer(Splitting("tokenizers", tuple(map(Split, TRINITY))))
    drawn = random.Random(0)
    for length in lengths:
        digits = "".join(drawn.choices("0123456789\u0663", k=length))
        for text in (digits, f"a{digits} {digits[:4]}b"):
            assert ours.split_backtracking(text) == [piece for piece, _ in theirs.pre_tokenize_str(text)], length


def test_groups_of_510_digits_are_split_by_backtracking() -> None:
    pytest.importorskip("tokenizers")
    assert_counter_splits_alike([505, 509, 510, 511, 1019, 1020, 1021, 1530, 1535])
    # Without the groups of 510, Trinity's steps have a machine.
    assert Splitter(Splitting("tokenizers", tuple(map(Split, TRINITY[1:])))).n_states < 100


@pytest.mark.slow
def test_groups_of_510_digits_of_all_lengths() -> None:
    pytest.importorskip("tokenizers")
    assert_counter_splits_alike(range(505, 1536))


def test_the_table_has_all_patterns(data: Path) -> None:
    rows = [line for line in TABLE.read_text("utf-8").splitlines() if re.match(r"\| (hub|problematic|edge)-", line)]
    of_name = {line.split()[1]: line for line in rows}
    found = {case.name: case for case in cases(data) if case.name in of_name}
    assert len(found) == len(rows) == 141
    for name in ("hub-014", "hub-036", "hub-063", "hub-069"):
        assert row(found[name]) == of_name[name]


@pytest.mark.slow
def test_the_table_is_current(data: Path) -> None:
    assert table(data) == TABLE.read_text("utf-8")
