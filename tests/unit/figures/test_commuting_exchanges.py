"""The classes of dictionaries that tokenize alike, against Algorithm 1."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from figures.papers.commuting_exchanges import RANGES, classes, equivalent, live_dictionary, measure, n_parts, renamed
from figures.small_dictionaries import small_dictionaries
from figures.table import read_table
from tokdfa import Dictionary, tokenize_single_pass
from tokdfa.training.theory import overlap_conflict

ROWS = read_table(Path(__file__).parents[3] / "figures" / "papers" / "commuting_exchanges.csv")


def by_algorithm_1(dictionary: Dictionary) -> object:
    """Tokenizations by Algorithm 1 of every text of at most two tokens: a shortest difference is at most as long."""
    tokens = sorted({str(word) for word in dictionary.alphabet})
    texts = sorted({*tokens, *(u + v for u, v in product(tokens, repeat=2))})
    return [(text, tokenize_single_pass(dictionary, text)) for text in texts]


@pytest.mark.parametrize(("n_rules", "most"), [(1, 2), (2, 4), (3, 2)])
def test_the_same_dictionaries_tokenize_alike(n_rules: int, most: int) -> None:
    for rules in small_dictionaries(n_rules, most):
        if live_dictionary(rules) is not None:
            assert set(equivalent(rules)) == set(equivalent(rules, by_algorithm_1))


def test_up_to_three_rules_again() -> None:
    assert measure({n: RANGES[n] for n in (1, 2, 3)}) == ROWS[:3]


def test_no_class_is_counted_twice() -> None:
    # Written down otherwise, b≀c, a≀a is a≀b, c≀c, which is the first rule of its class in another order.
    assert renamed((("b", "c"), ("a", "a"))) == (("a", "b"), ("c", "c"))
    for n_rules in (2, 3):
        found = [{renamed(rules) for rules in members} for members in classes(n_rules, RANGES[n_rules])]
        assert sum(map(len, found)) == len(set.union(*found))
        assert set.union(*found) == {
            rules for rules in small_dictionaries(n_rules, RANGES[n_rules]) if live_dictionary(rules) is not None
        }


def test_the_smallest_dictionaries_with_different_rules() -> None:
    # None have two rules. Of three rules there are three classes up to renaming, two of them over two symbols.
    assert [row["other_rules"] for row in ROWS[:3]] == [0, 0, 3]
    found = [{frozenset(rules) for rules in members} for members in classes(3, 2)]
    assert sum(len(sets) > 1 for sets in found) == 2
    for one, other in (
        ((("b", "c"), ("a", "b"), ("a", "bc")), (("a", "b"), ("b", "c"), ("ab", "c"))),
        ((("a", "b"), ("a", "a"), ("a", "ab")), (("a", "a"), ("a", "b"), ("aa", "b"))),
    ):
        assert other in equivalent(one)
        alike = [live_dictionary(rules) for rules in (one, other)]
        assert None not in alike
        assert by_algorithm_1(alike[0]) == by_algorithm_1(alike[1])  # type: ignore[arg-type]


def test_overlapping_rules_may_change_places() -> None:
    members = equivalent((("a", "a"), ("b", "a"), ("aa", "a")))
    assert {rules[1:] for rules in members} == {(("b", "a"), ("aa", "a")), (("aa", "a"), ("b", "a"))}
    assert overlap_conflict("ba", "aaa")
    assert n_parts(members, lambda one, other: not overlap_conflict(one, other)) == 2
    assert n_parts(members, lambda _one, _other: True) == 1


def test_the_same_rules_are_always_connected() -> None:
    assert [row["apart_with_the_same_rules"] for row in ROWS] == [0, 0, 0, 0]
