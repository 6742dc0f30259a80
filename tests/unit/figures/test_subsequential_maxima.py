"""The table of the largest minimal subsequential transducers, measured again where that is quick."""

from __future__ import annotations

from pathlib import Path

from figures.papers.subsequential_maxima import RANGES, measure
from figures.small_dictionaries import small_dictionaries
from figures.table import read_table
from tokdfa import Dictionary
from tokdfa.automata.transducers.subsequential import TransducerTable

ROWS = read_table(Path(__file__).parents[3] / "figures" / "papers" / "subsequential_maxima.csv")


def test_up_to_three_rules_again() -> None:
    assert measure({n: RANGES[n] for n in (1, 2, 3)}) == [row for row in ROWS if row["rules"] <= 3]


def test_the_bound_is_attained_and_never_exceeded() -> None:
    assert {(row["rules"], row["symbols"]) for row in ROWS} == {
        (n, count) for n, most in RANGES.items() for count in range(1, most + 1)
    }
    for n in RANGES:
        assert max(row["minimal"] for row in ROWS if row["rules"] == n) == 2**n


def test_five_rules_over_three_symbols_attain_the_bound_too() -> None:
    # Not enumerated; more than 2 to the power of 5 is impossible.
    rules = [("a", "b"), ("ab", "ab"), ("abab", "abab"), ("abababab", "abab"), ("c", "abababab")]
    assert TransducerTable.of(Dictionary(rules), max_states=1 << 12).minimal().n_states == 32


def test_each_dictionary_comes_once_up_to_renaming() -> None:
    # Every dictionary of two rules over two symbols, in one of its two namings.
    every = {
        (first, second)
        for first in ((u, v) for u in "ab" for v in "ab")
        for second in ((u, v) for u in ("a", "b", "".join(first)) for v in ("a", "b", "".join(first)))
        if second != first
    }
    swapped = str.maketrans("ab", "ba")
    found = list(small_dictionaries(2, 2))
    renamed = {tuple((u.translate(swapped), v.translate(swapped)) for u, v in rules) for rules in found}
    assert len(found) == len({*found})
    assert {*found} | renamed == every
    assert not {*found} & renamed
