"""FORMAL (A Formal Perspective on BPE), sections 2 and 4 and appendix B.1: merges, sequences, the greedy trainer."""

from __future__ import annotations

import heapq
from collections import Counter
from itertools import pairwise, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.dictionaries import all_words
from tests.support.formal_merges import (
    compression_gain,
    compression_utility,
    from_dictionary,
    is_submerge,
    show_merge,
    to_dictionary,
    validity,
)
from tokdfa import Dictionary, TokdfaError, tokenize_single_pass
from tokdfa.training.greedy import train_greedy
from tokdfa.training.naive import count_pairs, train_naive
from tokdfa.training.theory import Merge, apply_merge, apply_merges, iter_submerges, yield_of

AB: Merge = ("a", "b")
FIG_2: tuple[Merge, ...] = (AB, ("c", "b"), (AB, "a"), ((AB, "a"), ("c", "b")))


def test_def_2_1_merges_are_trees() -> None:
    assert show_merge(FIG_2[3]) == "[[[a,b],a],[c,b]]"
    assert list(iter_submerges((AB, "a"))) == [(AB, "a"), AB, "a", "b", "a"]
    for no_merge in ((), ("a",), ("a", ""), 1, ("a", ("b", 2))):
        with pytest.raises(TokdfaError, match="a merge must be"):
            yield_of(no_merge)  # type: ignore[arg-type]
    deep: Merge = "a"
    for _ in range(600):
        deep = (deep, "a")
    with pytest.raises(TokdfaError, match="nested too deeply"):
        yield_of(deep)


def test_ex_2_2_three_merges_over_three_symbols() -> None:
    merges: tuple[Merge, ...] = (AB, ("a", AB), (AB, ("a", "c")))
    assert [show_merge(merge) for merge in merges] == ["[a,b]", "[a,[a,b]]", "[[a,b],[a,c]]"]
    assert [yield_of(merge) for merge in merges] == ["ab", "aab", "abac"]
    # They determine a vocabulary of |μ| + |Σ| units. In this order they are not valid: [a,c] is missing.
    assert len({"a", "b", "c", *map(yield_of, merges)}) == 6
    verdict = validity(merges)
    assert not verdict
    assert verdict.witness == 2


def test_def_2_3_valid_sequences() -> None:
    merges: tuple[Merge, ...] = (AB, ("a", AB), ("a", "c"), (AB, ("a", "c")))
    assert validity(merges)
    assert validity(())
    # Footnote 9: a merge may come again. And what is valid stays valid one after the other.
    assert validity((AB, AB))
    assert validity((*merges, *merges))
    assert not validity(("a",))
    for order in permutations(merges):
        made_before = all(
            isinstance(part, str) or part in order[:index] for index, pair in enumerate(order) for part in pair
        )
        assert bool(validity(order)) == made_before
    assert sum(bool(validity(order)) for order in permutations(merges)) == 5


def test_fig_2_apply_makes_the_forest() -> None:
    forest = apply_merges("abaabacbcb", FIG_2)
    assert forest == ((AB, "a"), ((AB, "a"), ("c", "b")), ("c", "b"))
    assert [yield_of(tree) for tree in forest] == ["aba", "abacb", "cb"]


def test_fig_2_nu_prime_occurs_twice_and_nu_once() -> None:
    nu_prime, nu = FIG_2[2], FIG_2[3]
    assert is_submerge(nu_prime, nu)
    assert not is_submerge(nu, nu)
    nodes = Counter(node for tree in apply_merges("abaabacbcb", FIG_2) for node in iter_submerges(tree))
    assert (nodes[nu_prime], nodes[nu]) == (2, 1)


def test_def_2_4_yield() -> None:
    assert yield_of((("a", "a"), (("c", "b"), "c"))) == "aacbc"


def test_sec_2_2_strings_do_not_tell_which_tree_is_meant() -> None:
    one: tuple[Merge, ...] = (AB, (AB, "c"), ((AB, "c"), "d"))
    other: tuple[Merge, ...] = (AB, (AB, "c"), (("a", ("b", "c")), "d"))
    assert to_dictionary(one) == to_dictionary(other)
    assert (bool(validity(one)), bool(validity(other))) == (True, False)
    assert from_dictionary(to_dictionary(one)) == one
    with pytest.raises(TokdfaError, match="two rules make the same token: 'abc'"):
        from_dictionary(Dictionary.from_pairs([("a", "b"), ("b", "c"), ("ab", "c"), ("a", "bc")]))


@given(st.text("ab", max_size=14), st.integers(0, 6))
def test_trained_rules_are_trees_that_apply_as_the_rules_do(text: str, merges: int) -> None:
    d = train_naive({text: 1} if text else {}, merges, min_frequency=1, alphabet="ab")
    forest = apply_merges(text, from_dictionary(d))
    assert len(forest) == len(text) - compression_utility(text, from_dictionary(d))
    assert "".join(map(yield_of, forest)) == text


def test_tab_1_picked_pickled_pickles() -> None:
    words = {"picked": 1, "pickled": 1, "pickles": 1}
    d = train_naive(words, 5, tie="oldest-pair")
    assert [str(rule) for rule in d] == ["p≀i", "c≀k", "pi≀ck", "e≀d", "pick≀l"]
    lengths = [
        sum(len(apply_merges(word, from_dictionary(d.prefix(i)))) for word in words) + 2 for i in range(len(d) + 1)
    ]
    assert lengths == [22, 19, 16, 13, 11, 9]
    assert train_greedy(words, 5, tie="oldest-pair") == d


def test_def_2_5_and_2_6_utility_and_gain() -> None:
    assert compression_utility("abaabacbcb", FIG_2) == 7
    assert compression_gain("abaabacbcb", FIG_2[2:], FIG_2[:2]) == 3
    assert compression_utility("abc", ()) == 0


@given(st.text("abc", min_size=1, max_size=12), st.data())
def test_def_2_5_merges_that_all_replace_something_end_in_one_unit(text: str, data: st.DataObject) -> None:
    # Whatever pair is merged, anywhere in the text.
    forest: tuple[Merge, ...] = tuple(text)
    merges: list[Merge] = []
    while len(forest) > 1:
        place = data.draw(st.integers(0, len(forest) - 2))
        merges.append((forest[place], forest[place + 1]))
        forest = apply_merge(forest, merges[-1])
    # Fewer merges than |x| - 1 suffice when one of them replaces several pairs.
    assert len(merges) <= len(text) - 1
    assert validity(merges)
    assert compression_utility(text, merges) == len(text) - 1


def test_def_2_5_any_merges_that_each_replace_something() -> None:
    # All sequences on all texts of up to six symbols; sequences of |x| - 1 merges replace one pair each.
    sequences = longest = 0
    for text in all_words("ab", 6):
        stack: list[tuple[tuple[Merge, ...], tuple[Merge, ...]]] = [((), tuple(text))] if text else []
        while stack:
            merges, forest = stack.pop()
            utility = compression_utility(text, merges)
            assert utility == len(text) - len(forest) >= len(merges)
            sequences += len(forest) == 1
            longest += len(forest) == 1 and len(merges) == len(text) - 1
            stack += [((*merges, pair), apply_merge(forest, pair)) for pair in dict.fromkeys(pairwise(forest))]
    assert (sequences, longest) == (3_364, 2_900)


def test_alg_1_counts_with_and_without_overlaps() -> None:
    a = [0, 0, 0]
    assert (len(count_pairs(a, "non-overlapping")), len(count_pairs(a, "overlapping"))) == (1, 2)
    pieces = {"aaa": 1, "bcbc": 1}
    assert train_naive(pieces, 1, count="non-overlapping")[0] == ("b", "c")
    assert train_naive(pieces, 1, count="overlapping")[0] == ("a", "a")


def test_ex_abaabbaa_greedy_leaves_five_units() -> None:
    d = train_naive({"abaabbaa": 1}, 2, min_frequency=1)
    assert d[0] == ("a", "b")
    assert len(apply_merges("abaabbaa", from_dictionary(d))) == 5


def test_ex_4_1_only_the_beginning_changes() -> None:
    for n in (1, 2, 5):
        assert apply_merge("abba" + "cddc" * n, AB) == (AB, "b", "a", *"cddc" * n)


def test_thm_4_2_keeping_the_top_m_pairs_only_loses_a_merge() -> None:
    text = "aba1aba2bab3bab4cd5cd6cd"
    m = 2

    def run(kept: int | None) -> list[tuple[str, str]]:
        """Train with a heap that, once cut, gets only what a merge brings about."""
        units = list(text)
        table = dict(Counter(pairwise(units)))
        heap = dict(heapq.nlargest(kept or len(table), table.items(), key=lambda item: item[1]))
        merges = []
        for _ in range(m):
            live = Counter(pairwise(units))
            heap = {pair: live[pair] for pair in heap if live[pair]}
            if not heap:
                break
            best = max(heap, key=lambda pair: heap[pair])
            merges.append(best)
            units = list(map(yield_of, apply_merge(units, best)))
            live = Counter(pairwise(units))
            heap |= {pair: live[pair] for pair in live if "".join(best) in pair}
        return merges

    assert run(None) == [("a", "b"), ("c", "d")] or run(None) == [("b", "a"), ("c", "d")]
    assert run(m) != run(None)
    d = train_greedy({text: 1}, m)
    assert [tuple(rule) for rule in d] == [("a", "b"), ("c", "d")]


@given(st.dictionaries(st.text("abc", min_size=1, max_size=12), st.integers(1, 4), min_size=1, max_size=5))
def test_algorithm_2_and_theorem_4_2_makes_the_merges_of_algorithm_1(pieces: dict[str, int]) -> None:
    assert train_greedy(pieces, 99, min_frequency=1) == train_naive(pieces, 99, min_frequency=1)


class Unit:
    """A node of the linked list."""

    def __init__(self, value: str) -> None:
        self.value = value
        self.previous: Unit | None = None
        self.next: Unit | None = None
        self.place = 0


def algorithm_2_as_printed(text: str, merges: int) -> tuple[list[str], list[tuple[str, str]]]:
    """The faster trainer line by line, its loop included, which goes from 0 to M.

    The queue is a table of positions; the largest entry is taken first, the first to begin among equals.
    Positions of a pair that overlap are merged from the left, and counted so.
    """
    units = [Unit(symbol) for symbol in text]
    for place, unit in enumerate(units):
        unit.place = place
    for left, right in pairwise(units):
        left.next, right.previous = right, left
    positions: dict[tuple[str, str], set[Unit]] = {}

    def add(left: Unit | None, right: Unit | None) -> None:
        if left is not None and right is not None:
            positions.setdefault((left.value, right.value), set()).add(left)

    def remove(left: Unit | None, right: Unit | None) -> None:
        if left is not None and right is not None:
            positions[left.value, right.value].discard(left)

    def from_the_left(pair: tuple[str, str]) -> list[Unit]:
        chosen: list[Unit] = []
        for unit in sorted(positions[pair], key=lambda unit: unit.place):
            if not chosen or chosen[-1].next is not unit:
                chosen.append(unit)
        return chosen

    for left in units:
        add(left, left.next)
    made: list[tuple[str, str]] = []
    for _ in range(0, merges + 1):
        waiting = [pair for pair in positions if positions[pair]]
        if not waiting:
            break
        pair = max(waiting, key=lambda pair: (len(from_the_left(pair)), -from_the_left(pair)[0].place))
        for w1 in from_the_left(pair):
            w2 = w1.next
            assert w2 is not None
            remove(w1.previous, w1)
            remove(w2, w2.next)
            remove(w1, w2)
            w1.value += w2.value
            w1.next = w2.next
            if w2.next is not None:
                w2.next.previous = w1
            add(w1.previous, w1)
            add(w1, w1.next)
        made.append(pair)
    output, unit = [], units[0] if units else None
    while unit is not None:
        output.append(unit.value)
        unit = unit.next
    return output, made


@given(st.text("abc", min_size=1, max_size=16), st.integers(0, 4))
def test_algorithm_2_erratum_the_loop_from_0_to_m_makes_one_merge_more(text: str, merges: int) -> None:
    printed, made = algorithm_2_as_printed(text, merges)
    one_more = train_greedy({text: 1}, merges + 1, min_frequency=1, alphabet="abc")
    assert made == list(map(tuple, one_more))
    assert tuple(printed) == tokenize_single_pass(one_more, text)
    d = train_greedy({text: 1}, merges, min_frequency=1, alphabet="abc")
    assert list(map(tuple, d)) == made[:merges]


def test_algorithm_2_erratum_three_merges_where_two_are_wanted() -> None:
    assert algorithm_2_as_printed("abcabcabc", 2)[1] == [("a", "b"), ("ab", "c"), ("abc", "abc")]
    assert [len(train_greedy({"abcabcabc": 1}, m, min_frequency=1)) for m in range(4)] == [0, 1, 2, 3]


Units = list[Any]


def figure_1_merge(units: Units, pair: tuple[Any, Any]) -> Units:
    """The function `merge` of figures 1 and 5."""
    merged: Units = []
    while units:
        if tuple(units[:2]) == pair:
            merged.append(pair)
            units = units[2:]
        else:
            merged.append(units.pop(0))
    return merged


def figure_1(text: str, merges: int) -> tuple[Units, list[Merge]]:
    """The minimal trainer of figure 1; returns the pairs that it merged as well."""
    units, made = list(text), []
    for _ in range(merges):
        made.append(Counter(pairwise(units)).most_common(1)[0][0])
        units = figure_1_merge(list(units), made[-1])
    return units, made


def figure_5_frequencies(units: Units) -> list[tuple[tuple[Any, Any], int]]:
    """The pairs of figure 5, overlaps left out, with their counts, the most frequent one first."""
    counts: dict[tuple[Any, Any], int] = {}
    last = None
    for pair in pairwise(units):
        if pair != last:
            counts[pair] = counts.get(pair, 0) + 1
            last = pair
        else:
            last = None
    return sorted(counts.items(), key=lambda item: -item[1])


def figure_5(text: str, merges: int, *, corrected: bool) -> Units:
    """The trainer of figure 5; as printed it merges the first entry of the list, which is not a pair."""
    units = list(text)
    for _ in range(merges):
        top: Any = figure_5_frequencies(units)[0]
        units = figure_1_merge(list(units), top[0] if corrected else top)
    return units


def test_fig_1_erratum_its_code_merges_across_the_space() -> None:
    text = "picked pickled pickles"
    units, made = figure_1(text, 5)
    assert [yield_of(merge) for merge in made] == ["pi", "pic", "pick", "ed", "ed "]
    assert [yield_of(unit) for unit in units] == ["pick", "ed ", "pick", "l", "ed ", "pick", "l", "e", "s"]
    # It is the trainer under these rules; Table 1's merges are made on the words by themselves.
    d = train_naive({text: 1}, 5, tie="first-seen", count="overlapping")
    assert list(from_dictionary(d)) == made
    words = dict.fromkeys(text.split(), 1)
    assert [rule.product for rule in train_naive(words, 5, tie="oldest-pair")] == ["pi", "ck", "pick", "ed", "pickl"]


@given(st.text("ab ", min_size=1, max_size=14), st.integers(0, 5))
def test_fig_1_is_the_trainer_that_counts_overlaps(text: str, merges: int) -> None:
    d = train_naive({text: 1}, merges, tie="first-seen", count="overlapping", min_frequency=1, alphabet="ab ")
    _, made = figure_1(text, len(d))
    assert list(from_dictionary(d)) == made


def test_fig_5_erratum_its_code_merges_nothing() -> None:
    for text in ("picked pickled pickles", "aaaa", "abab"):
        assert figure_5(text, 1, corrected=False) == list(text)
    assert figure_5("abab", 1, corrected=True) == [("a", "b"), ("a", "b")]
    assert figure_5("aaaa", 2, corrected=True) == [(("a", "a"), ("a", "a"))]


@given(st.text("ab", max_size=14), st.integers(0, 5))
def test_fig_5_corrected_is_the_trainer_that_counts_none_twice(text: str, merges: int) -> None:
    assert dict(figure_5_frequencies([ord(symbol) for symbol in text])) == Counter(
        count_pairs([ord(symbol) for symbol in text], "non-overlapping")
    )
    d = train_naive({text: 1} if text else {}, merges, tie="first-seen", min_frequency=1, alphabet="ab")
    assert tuple(figure_5(text, len(d), corrected=True)) == apply_merges(text, from_dictionary(d))


def test_b_1_words_are_counted_once_and_nothing_merges_across_spaces() -> None:
    text = "not_that_they_watch_the_watch"
    assert train_naive({text: 1}, 1, tie="subword-nmt")[0] == ("t", "h")
    counts = Counter(pairwise(text))
    assert counts["_", "t"] == max(counts.values())
    assert train_naive({text: 1}, 1)[0] == ("_", "t")
    words = Counter(text.split("_"))
    d = train_naive(words, 99, min_frequency=1)
    assert all("_" not in rule.product for rule in d)
    assert d == train_greedy(words, 99, min_frequency=1)
