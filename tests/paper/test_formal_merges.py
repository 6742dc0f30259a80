"""FORMAL (A Formal Perspective on BPE), sections 2 and 4 and appendix B.1: merges, sequences, the greedy trainer."""

from __future__ import annotations

import heapq
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa import Dictionary, TokdfaError
from tokdfa.train.greedy import train_greedy
from tokdfa.train.merges import (
    Merge,
    apply_merge,
    apply_merges,
    from_dictionary,
    is_submerge,
    is_valid,
    iter_submerges,
    show_merge,
    to_dictionary,
    yield_of,
)
from tokdfa.train.naive import count_pairs, train_naive
from tokdfa.train.utility import compression_gain, compression_utility

AB: Merge = ("a", "b")
FIG_2: tuple[Merge, ...] = (AB, ("c", "b"), (AB, "a"), ((AB, "a"), ("c", "b")))


def test_def_2_1_merges_are_trees() -> None:
    assert show_merge(FIG_2[3]) == "[[[a,b],a],[c,b]]"
    assert list(iter_submerges((AB, "a"))) == [(AB, "a"), AB, "a", "b", "a"]
    for no_merge in ((), ("a",), ("a", ""), 1, ("a", ("b", 2))):
        with pytest.raises(TokdfaError, match="a merge is"):
            yield_of(no_merge)  # type: ignore[arg-type]
    deep: Merge = "a"
    for _ in range(600):
        deep = (deep, "a")
    with pytest.raises(TokdfaError, match="nested too deeply"):
        yield_of(deep)


def test_ex_2_2_and_def_2_3_valid_sequences() -> None:
    merges: tuple[Merge, ...] = (AB, ("a", AB), (AB, ("a", "c")))
    verdict = is_valid(merges)
    assert not verdict
    assert verdict.witness == 2
    assert is_valid((*merges[:2], ("a", "c"), merges[2]))
    assert is_valid((AB, AB))
    assert not is_valid(("a",))


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
    assert (bool(is_valid(one)), bool(is_valid(other))) == (True, False)
    assert from_dictionary(to_dictionary(one)) == one
    with pytest.raises(TokdfaError, match="two rules make one token: 'abc'"):
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


@given(st.text("abc", min_size=1, max_size=12))
def test_def_2_5_merges_that_all_replace_something_end_in_one_unit(text: str) -> None:
    forest: tuple[Merge, ...] = tuple(text)
    merges = []
    while len(forest) > 1:
        merges.append((forest[0], forest[1]))
        forest = apply_merge(forest, merges[-1])
    # Fewer merges than |x| - 1 suffice when one of them replaces several pairs.
    assert len(merges) <= len(text) - 1
    assert compression_utility(text, merges) == len(text) - 1


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


def test_algorithm_2_erratum_the_loop_from_0_to_m_would_make_one_merge_more() -> None:
    # For M merges the loop body runs M times: train_greedy(…, 2) makes two rules, not three.
    assert [len(train_greedy({"abcabcabc": 1}, m, min_frequency=1)) for m in range(4)] == [0, 1, 2, 3]


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
