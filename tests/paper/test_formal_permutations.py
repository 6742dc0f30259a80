"""FORMAL, section 5: conflicts, safe permutations and equivalence, as printed and as they hold."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from figures.small_dictionaries import small_dictionaries
from tests.support.dictionaries import all_proper_dictionaries, all_words, proper_dictionaries
from tests.support.permutations import permutation_safety
from tokdfa import Dictionary, RuleOrder, compare, default_dictionary, tokenize_single_pass
from tokdfa.automata.alphabet import Word
from tokdfa.base.errors import ImproperDictionaryError
from tokdfa.training.theory import CONFLICTS


def test_def_5_2_conflict() -> None:
    conflict = CONFLICTS["boundary"]
    assert conflict("ab", "ca")
    assert not conflict("dd", "ca")
    assert not conflict("xab", "aby")  # though they contend for the ab of xaby


MU = [("a", "b"), ("d", "d"), ("c", "a")]


def test_def_5_3_example() -> None:
    mu, exchanged = Dictionary(MU), Dictionary([MU[2], MU[1], MU[0]])
    for conflict in ("boundary", "overlap"):
        found = permutation_safety(mu, exchanged, conflict=conflict)
        assert not found
        assert found.witness == (("a", "b"), ("c", "a"))


def test_def_5_3_example_exchanges_its_results() -> None:
    mu, exchanged = Dictionary(MU), Dictionary([MU[2], MU[1], MU[0]])
    printed = (("dd", "ab", "ca", "ca", "b"), ("dd", "ab", "ca", "c", "ab"))
    assert tokenize_single_pass(mu, "ddabcacab") == printed[1]
    assert tokenize_single_pass(exchanged, "ddabcacab") == printed[0]


@pytest.mark.parametrize(
    ("symbols", "n_rules", "longest", "n_dictionaries", "n_kinds"), [("ab", 2, 8, 32, 31), ("a", 3, 16, 21, 9)]
)
def test_def_5_4_equivalent_sequences_make_the_same_of_every_text(
    symbols: str, n_rules: int, longest: int, n_dictionaries: int, n_kinds: int
) -> None:
    # Every two dictionaries, by all texts as long as two of their tokens: a shortest text on which two dictionaries
    # differ has no more under each.
    words = list(all_words(symbols, longest))
    kinds: dict[tuple[tuple[Word, ...], ...], list[Dictionary]] = {}
    for dictionary in all_proper_dictionaries(symbols, n_rules):
        kinds.setdefault(tuple(tokenize_single_pass(dictionary, word) for word in words), []).append(dictionary)
    dictionaries = [dictionary for kind in kinds.values() for dictionary in kind]
    assert (len(dictionaries), len(kinds)) == (n_dictionaries, n_kinds)
    kind_of = {dictionary: number for number, kind in enumerate(kinds.values()) for dictionary in kind}
    for one, other in combinations(dictionaries, 2):
        found = compare(one, other)
        assert bool(found) == (kind_of[one] == kind_of[other])
        if not found:
            text = found.witness.text
            assert tokenize_single_pass(one, text) != tokenize_single_pass(other, text)


@given(proper_dictionaries("ab", 5), proper_dictionaries("ab", 5))
def test_def_5_4_is_an_equivalence_and_respects_later_merges(one: Dictionary, other: Dictionary) -> None:
    one, other = Dictionary(one, "ab"), Dictionary(other, "ab")
    assert compare(one, one)
    assert bool(compare(one, other)) == bool(compare(other, one))
    # A rule that is there already, or dead, changes nothing.
    longer = Dictionary([*one, *one[:1]], "ab")
    assert compare(one, longer)
    assert bool(compare(longer, other)) == bool(compare(one, other))


def test_prop_5_5_example() -> None:
    mu, other = Dictionary(MU), Dictionary([MU[0], MU[2], MU[1]])
    assert permutation_safety(mu, other)
    assert compare(mu, other)


def test_prop_5_5_does_not_follow_from_the_boundary_symbols() -> None:
    one = Dictionary([("a", "b"), ("x", "ab"), ("ab", "y")])
    other = Dictionary([("a", "b"), ("ab", "y"), ("x", "ab")])
    assert permutation_safety(one, other, conflict="boundary")
    assert not permutation_safety(one, other)
    assert compare(one, other).witness == ("xaby", ("xab", "y"), ("x", "aby"))
    assert tokenize_single_pass(one, "xaby") == ("xab", "y")
    assert tokenize_single_pass(other, "xaby") == ("x", "aby")


def test_prop_5_5_is_not_necessary() -> None:
    # The last rules are dead, so that no permutation maps one to the other.
    one = Dictionary([("a", "b"), ("b", "c"), ("b", "d"), ("a", "bc")])
    other = Dictionary([("a", "b"), ("b", "c"), ("b", "d"), ("a", "bd")])
    assert not permutation_safety(one, other)
    assert compare(one, other)


def test_prop_5_5_corrected_on_all_orders_of_all_small_dictionaries() -> None:
    safe = unsafe = unsafe_and_equivalent = 0
    for dictionary in all_proper_dictionaries("ab", 3):
        for order in permutations(dictionary):
            other = Dictionary(order, "ab")
            if not other.properness():
                continue
            if permutation_safety(dictionary, other):
                safe += order != tuple(dictionary)
                assert compare(dictionary, other)
            else:
                unsafe += 1
                unsafe_and_equivalent += bool(compare(dictionary, other))
    assert safe > 0
    assert 0 < unsafe_and_equivalent < unsafe


def test_prop_5_5_in_both_directions_for_live_rules() -> None:
    # Merges conflict iff one is a part of the other, or the right part of one is the left part of the other.
    only_by_parts = 0
    for rules in small_dictionaries(3, 4):
        dictionary = Dictionary(rules, "abcd")
        if len(dictionary.live_rules) < 3:
            continue
        for order in permutations(rules):
            other = Dictionary(order, "abcd")
            if other.properness() and len(other.live_rules) == 3:
                exchanged = [pair for pair in combinations(rules, 2) if order.index(pair[0]) > order.index(pair[1])]
                safe = all(u != y and v != x and u + v not in (x, y) for (u, v), (x, y) in exchanged)
                assert bool(RuleOrder(dictionary).admits(other)) == safe == bool(compare(dictionary, other))
                only_by_parts += safe and not permutation_safety(dictionary, other)
    assert only_by_parts == 66


@st.composite
def reordered(draw: st.DrawFn) -> tuple[Dictionary, Dictionary]:
    """Return a dictionary and another order of its rules that is proper as well."""
    dictionary = draw(proper_dictionaries("abcd", 6))
    dictionary = Dictionary(dict.fromkeys(dictionary), "abcd")
    order = Dictionary(draw(st.permutations(list(dictionary))), "abcd")
    made = set("abcd")
    rules, waiting = [], list(order)
    while waiting:
        rule = next(rule for rule in waiting if {*rule} <= made)
        waiting.remove(rule)
        rules.append(rule)
        made.add(rule.product)
    return dictionary, Dictionary(rules, "abcd")


@given(reordered())
def test_def_5_3_is_no_exchange_of_conflicting_merges(pair: tuple[Dictionary, Dictionary]) -> None:
    one, other = pair
    for name, conflict in CONFLICTS.items():
        place = {rule: index for index, rule in enumerate(other)}
        exchanged = {
            (first, second)
            for first, second in combinations(one, 2)
            if place[first] > place[second] and conflict(first.product, second.product)
        }
        found = permutation_safety(one, other, conflict=name)  # type: ignore[arg-type]
        assert bool(found) == (not exchanged)
        if not found:
            assert found.witness in exchanged
    if permutation_safety(one, other):
        assert compare(one, other)


def test_def_5_3_safe_permutations_are_made_of_exchanges_of_neighbours() -> None:
    for dictionary in all_proper_dictionaries("ab", 3):
        seen = {tuple(dictionary)}
        stack = list(seen)
        while stack:
            order = stack.pop()
            for i, (first, second) in enumerate(pairwise(order)):
                neighbour = (*order[:i], second, first, *order[i + 2 :])
                if not CONFLICTS["overlap"](first.product, second.product) and neighbour not in seen:
                    seen.add(neighbour)
                    stack.append(neighbour)
        proper = [Dictionary(order, "ab") for order in permutations(dictionary)]
        safe = {tuple(d) for d in proper if d.properness() and permutation_safety(dictionary, d)}
        assert safe == seen


def test_a_whole_dictionary() -> None:
    dictionary = default_dictionary()
    rules = list(dictionary)
    i = next(i for i in range(3000, 3800) if not CONFLICTS["overlap"](*_spelled(rules[i : i + 2])))
    j = next(j for j in range(3000, 3800) if CONFLICTS["overlap"](*_spelled(rules[j : j + 2])))
    for at, safe in ((i, True), (j, False)):
        other = Dictionary([*rules[:at], rules[at + 1], rules[at], *rules[at + 2 :]])
        assert bool(permutation_safety(dictionary, other)) == safe


def _spelled(rules) -> list[str]:
    return [rule.product.decode("latin-1") for rule in rules]


def test_other_rules_and_improper_ones() -> None:
    one = Dictionary([("a", "b")], "abc")
    assert permutation_safety(one, Dictionary([("b", "c")], "abc")).reason == "the rules are not the same"
    assert not permutation_safety(one, Dictionary([("a", "b")], "abcd"))
    with pytest.raises(ImproperDictionaryError):
        permutation_safety(one, Dictionary([("ab", "c"), ("a", "b")], "abc"))
    with_symbols = Dictionary([("lo", "w"), ("w", "lo")], ["lo", "w"])
    assert not permutation_safety(with_symbols, Dictionary([("w", "lo"), ("lo", "w")], ["lo", "w"]))
    assert permutation_safety(with_symbols, with_symbols)
