"""The enumeration of curvatures in C, against the definition in Python, which shares no code with it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

from figures.papers.curvature import RANGES, compiled, row, stretches
from figures.table import Row, read_table
from tests.support.formal_merges import greedy_curvature
from tokdfa.training.theory import Merge, apply_merge, total_backward_curvature

ROWS = read_table(Path(__file__).parents[3] / "figures" / "papers" / "curvature.csv")
Sequence = tuple[Merge, ...]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if sys.platform == "win32":
        pytest.skip("the enumeration is compiled by cc")
    return compiled(tmp_path_factory.mktemp("curvature"))


def texts(longest: int, symbols: str) -> Iterator[str]:
    """Every text of 2 to `longest` symbols in which the symbols first occur in their given order."""
    level = [""]
    for length in range(1, longest + 1):
        level = [text + symbol for text in level for symbol in symbols[: len(set(text)) + 1]]
        if length > 1:
            yield from level


def optimal(text: str, merges: int, *, greedy: bool = False) -> list[Sequence]:
    """Return every optimal sequence without idle merges, or every sequence that a greedy trainer may find."""
    sequences: dict[Sequence, tuple[Merge, ...]] = {(): tuple(text)}
    found = dict(sequences)
    for _ in range(merges):
        longer: dict[Sequence, tuple[Merge, ...]] = {}
        for sequence, forest in sequences.items():
            after = {pair: apply_merge(forest, pair) for pair in dict.fromkeys(pairwise(forest))}
            fewest = min(map(len, after.values()), default=0)
            longer |= {(*sequence, pair): units for pair, units in after.items() if not greedy or len(units) == fewest}
        sequences = longer
        found |= sequences
    if greedy:
        return [*sequences]
    fewest = min(map(len, found.values()))
    return [sequence for sequence, forest in found.items() if len(forest) == fewest and sequence]


def curvatures(text: str, merges: int) -> dict[str, Fraction]:
    """Return the three maxima of a text; 0 for a maximum over an empty set of sequences."""
    best = optimal(text, merges)
    exactly = [
        found.value for each in best if (found := total_backward_curvature(text, each, merges, exactly=True)).merges
    ]
    prefixes = optimal(text, merges - 1, greedy=True)
    # The last merge of a greedy sequence does not matter.
    greedy = [greedy_curvature(text, each, (*prefix, ("", ""))) for prefix in prefixes for each in best]
    return {
        "as_written": max(total_backward_curvature(text, each, merges).value for each in best),
        "exactly": max(exactly, default=Fraction(0)),
        "eq_11": max((value for value in greedy if value is not None), default=Fraction(0)),
    }


@pytest.mark.parametrize("merges", [1, 2, 3])
def test_all_texts_of_up_to_five_symbols(program: Path, merges: int) -> None:
    expected: dict[str, Fraction] = {}
    every = list(texts(5, "abcde"))
    for text in every:
        for kind, value in curvatures(text, merges).items():
            expected[kind] = max(value, expected.get(kind, value))
    found = row(program, "all", merges, 5, 5)
    assert found["measured"] == len(every)
    assert {kind: Fraction(found[kind]) for kind in expected} == expected


def test_given_texts_are_measured_as_enumerated_ones(program: Path) -> None:
    lines = list(texts(6, "ab"))
    for merges in (1, 2, 3):
        enumerated, given = (row(program, "all", merges, 2, 6, each) for each in (None, lines))
        assert enumerated == given


def test_m_plus_1_is_exceeded_from_three_merges_and_ten_symbols_on(program: Path) -> None:
    # All texts over any alphabet: 10 symbols have 115,975 up to renaming.
    assert Fraction(row(program, "all", 3, 9, 9)["as_written"]) == 4
    shortest = row(program, "all", 3, 2, 10)
    assert (shortest["as_written"], shortest["as_written_on"]) == ("5", "aaaabaaaab")


def attained() -> list[tuple[str, int, str, str]]:
    # The rows that the definition in Python computes within a second.
    kinds = ("as_written", "exactly", "eq_11")
    rows = [(str(each[f"{kind}_on"]), each["merges"], kind, str(each[kind])) for each in ROWS for kind in kinds]
    return list(dict.fromkeys(each for each in rows if each[0] and each[1] <= 2 and len(each[0]) <= 10))


@pytest.mark.parametrize(("text", "merges", "kind", "value"), attained())
def test_the_texts_of_the_table_attain_its_values(text: str, merges: int, kind: str, value: str) -> None:
    assert curvatures(text, merges)[kind] == Fraction(value)


def test_the_table_has_every_range() -> None:
    ranges = [(each["merges"], each["symbols"], each["longest"]) for each in ROWS if each["texts"] == "all"]
    assert tuple(ranges) == RANGES
    english: list[Row] = [each for each in ROWS if each["texts"] == "English"]
    assert [each["merges"] for each in english] == [1, 2, 3, 4]
    assert all(Fraction(str(each["as_written"])) <= each["merges"] + 1 for each in english)


def test_stretches_of_a_text(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("abcab\nété\nabc\nbcd\n", encoding="utf-8")
    assert stretches(path, 3) == ["abc", "bca", "cab", "bcd"]
    assert stretches(path, 3, 2) == ["abc", "bca"]
