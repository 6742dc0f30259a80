"""FORMAL (A Formal Perspective on BPE): the smallest counterexamples to the printed statements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product

import pytest

from tests.paper.test_formal_exact import effective_sequences
from tests.paper.test_formal_merges import algorithm_2_as_printed, figure_1, figure_5
from tests.paper.test_formal_utility import all_optimal, all_sequences, canonical_texts, greedy_sequences
from tests.support.dictionaries import all_rules_up_to_renaming, all_words
from tests.support.formal_merges import compression_gain, greedy_curvature, is_submerge, validity
from tests.support.permutations import permutation_safety
from tokdfa import Dictionary, compare, tokenize_single_pass
from tokdfa.training.theory import (
    CONFLICTS,
    Merge,
    apply_merge,
    greedy_bound,
    total_backward_curvature,
    train_exact,
    yield_of,
)

Sequence = tuple[Merge, ...]


def texts_of(length: int, symbols: str = "abcdefghijklmno") -> Iterator[str]:
    """Every text of this length up to renaming."""
    return (text for text in canonical_texts(length, symbols) if len(text) == length) if length > 1 else iter("a")


def valid_sequences(length: int, symbols: str) -> Iterator[Sequence]:
    """Every valid sequence of merges over some symbols, repeated merges included."""
    found: list[Sequence] = [()]
    for _ in range(length):
        found = [(*merges, merge) for merges in found for merge in product([*symbols, *merges], repeat=2)]
    return iter(found)


def test_prop_3_8_the_smallest_texts_and_sequences_for_which_a_repeated_merge_breaks_it() -> None:
    broken = defaultdict[tuple[int, int], set[tuple[str, Sequence]]](set)
    for length, n_merges in product((1, 2, 3), repeat=2):
        for text in texts_of(length):
            for merges in valid_sequences(n_merges, "".join(sorted(set(text)))):
                gains = [compression_gain(text, [merges[i]], merges[:i]) for i in range(n_merges)]
                if any(gains[i] < gains[j] and is_submerge(merges[i], merges[j]) for i, j in pairs_of(n_merges)):
                    broken[length, n_merges].add((text, merges))
    assert list(broken) == [(3, 3)]
    assert ("aaa", (("a", "a"), ("a", "a"), (("a", "a"), "a"))) in broken[3, 3]
    assert all(len(set(merges)) < 3 for _, merges in broken[3, 3])


def pairs_of(n: int) -> list[tuple[int, int]]:
    return list(combinations(range(n), 2))


def test_sec_3_3_the_smallest_text_whose_curvature_exceeds_the_printed_maximum() -> None:
    # 2.5 is printed, for at most four merges. Texts of three symbols or less have 2 at most.
    most = dict[int, Fraction]()
    over = set[tuple[str, int]]()
    for length, merges in product((2, 3, 4), (1, 2, 3, 4)):
        for text in texts_of(length):
            value = max(total_backward_curvature(text, optimal, merges).value for optimal in all_optimal(text, merges))
            most[length] = max(most.get(length, value), value)
            if value > Fraction(5, 2) and merges < 3:
                over.add((text, merges))
    assert most == {2: 1, 3: 2, 4: 3}
    assert over == {("abab", 2)}


def test_eq_11_the_smallest_texts_that_exceed_the_printed_maximum() -> None:
    # 1.5 is printed.
    found = dict[tuple[str, int], Fraction]()
    for length, merges in product((2, 3), (1, 2)):
        for text in texts_of(length):
            for greedy, optimal in product(greedy_sequences(text, merges), all_optimal(text, merges)):
                value = greedy_curvature(text, optimal, greedy)
                if value is not None and value > Fraction(3, 2):
                    found[text, merges] = value
    assert found == dict.fromkeys([("aab", 2), ("aba", 2), ("abb", 2), ("abc", 2)], 2)


def test_algorithm_2_the_smallest_text_for_which_the_printed_loop_makes_a_merge_too_many() -> None:
    assert algorithm_2_as_printed("a", 0)[1] == []
    assert [algorithm_2_as_printed(text, 0)[1] for text in ("aa", "ab")] == [[("a", "a")], [("a", "b")]]


def counts_of(units: Sequence) -> dict[tuple[Merge, Merge], int]:
    """How often each pair occurs, overlaps left out."""
    counts: dict[tuple[Merge, Merge], int] = {}
    last = None
    for pair in pairwise(units):
        last = None if pair == last else pair
        if last is not None:
            counts[pair] = counts.get(pair, 0) + 1
    return counts


def fewest_units_with_two_pairs_kept(text: str) -> int:
    """The best result of two merges when the queue begins with a pair of most frequent pairs, under any tie rule."""
    counts = counts_of(tuple(text))
    order = sorted(counts.values(), reverse=True)
    fewest = len(text)
    for kept in combinations(counts, min(2, len(counts))):
        if sorted((counts[pair] for pair in kept), reverse=True) != order[:2]:
            continue
        queues: list[tuple[Sequence, set[tuple[Merge, Merge]]]] = [(tuple(text), set(kept))]
        for _ in range(2):
            after = []
            for units, queue in queues:
                live = {pair: count for pair, count in counts_of(units).items() if pair in queue}
                for pair in [pair for pair in live if live[pair] == max(live.values())]:
                    merged = apply_merge(units, pair)
                    after.append((merged, queue | {each for each in pairwise(merged) if pair in each}))
            queues = after or queues
        fewest = min(fewest, *(len(units) for units, _ in queues))
    return fewest


def loses_a_merge(text: str) -> bool:
    """Whether a queue of the two most frequent pairs alone ends with more units than any greedy sequence."""
    order = sorted(counts_of(tuple(text)).values(), reverse=True)
    # The queue must leave out a pair that occurs twice, and that is rarer than both which it keeps.
    if len(order) < 3 or order[1] < 3 or not any(1 < count < order[1] for count in order[2:]):
        return False
    worst = max(
        len(apply_merge(apply_merge(tuple(text), greedy[0]), greedy[1])) for greedy in greedy_sequences(text, 2)
    )
    return fewest_units_with_two_pairs_kept(text) > worst


def test_thm_4_2_the_smallest_text_for_which_two_kept_pairs_are_too_few() -> None:
    assert loses_a_merge("abababacdcd")
    assert not loses_a_merge("abababacded")
    assert sum(1 for text in texts_of(10)) == 115_975
    assert not any(loses_a_merge(text) for length in range(1, 11) for text in texts_of(length))


def test_prop_5_1_the_smallest_text_that_exceeds_the_bound() -> None:
    over = {
        (text, merges): effective_sequences(text, merges)
        for length, merges in product(range(1, 6), (1, 2, 3, 4))
        for text in texts_of(length)
        if effective_sequences(text, merges) > min(len(set(text)) ** (2 * merges), length**merges)
    }
    assert over == {("aaaaa", 2): 2, ("aaaaa", 3): 2}
    # The bound is 1 for one symbol, for any number of merges, and the number of sequences grows without end.
    assert [effective_sequences("a" * (2 ** (m + 1) - 1), m) for m in range(1, 6)] == [1, 2, 5, 13, 38]


def test_prop_5_5_the_smallest_safe_permutation_that_changes_something() -> None:
    found = dict[tuple[int, int], set[tuple[object, ...]]]()
    for n_rules in (1, 2, 3):
        for rules in all_rules_up_to_renaming(n_rules):
            one = Dictionary.from_pairs(rules)
            for order in set(permutations(rules)) - {rules}:
                other = Dictionary.from_pairs(order, one.alphabet.symbols)
                if not other.properness() or not permutation_safety(one, other, conflict="boundary"):
                    continue
                verdict = compare(one, other)
                if not verdict:
                    size = one.alphabet.n_symbols, len(verdict.witness.text)
                    found.setdefault(size, set()).add((rules, order, verdict.witness.text))
    assert min(found) == (2, 4)
    first, second, third = ("a", "b"), ("a", "ab"), ("ab", "b")
    assert ((first, second, third), (first, third, second), "aabb") in found[2, 4]
    assert all(len(rules) == 3 for same_size in found.values() for rules, _, _ in same_size)


@pytest.mark.parametrize(("n_rules", "symbols", "n_pairs"), [(1, "ab", 0), (2, "abcd", 0), (3, "a", 29)])
def test_prop_5_5_the_smallest_equivalent_dictionaries_of_different_rules(
    n_rules: int, symbols: str, n_pairs: int
) -> None:
    # Every symbol of these dictionaries is in a live rule, so that equivalent ones have the same symbols: two for every
    # rule, or fewer. For three rules one symbol is enough.
    kinds = defaultdict[tuple[object, ...], list[tuple[tuple[str, str], ...]]](list)
    words = list(all_words(symbols, 8 if len(symbols) == 1 else 4))
    for rules in all_rules_up_to_renaming(n_rules):
        used = "".join(sorted({symbol for rule in rules for symbol in "".join(rule)}))
        for chosen in permutations(symbols, len(used)):
            named = str.maketrans(used, "".join(chosen))
            renamed = tuple((u.translate(named), v.translate(named)) for u, v in rules)
            dictionary = Dictionary.from_pairs(renamed, symbols)
            assert {symbol for rule in dictionary.live_rules for symbol in dictionary[rule].product} == {*chosen}
            kinds[tuple(tokenize_single_pass(dictionary, word) for word in words)].append(renamed)
    equivalent = {
        frozenset([one, other])
        for kind in kinds.values()
        for one, other in combinations(kind, 2)
        if set(one) != set(other)
        and compare(Dictionary.from_pairs(one, symbols), Dictionary.from_pairs(other, symbols))
    }
    assert len(equivalent) == n_pairs
    if equivalent:
        one = (("a", "a"), ("a", "aa"), ("a", "aaa"))
        other = (("a", "a"), ("a", "aa"), ("aa", "aaa"))
        assert frozenset([one, other]) in equivalent


def test_prop_5_5_a_dead_rule_may_be_left_out() -> None:
    # No permutation changes the number of merges.
    assert compare(Dictionary([("a", "a")]), Dictionary([("a", "a"), ("a", "aa")]))


def breaks_the_proof_of_lemma_a_1(text: str, given: Sequence, merges: Sequence) -> bool:
    """Whether a merge of greatest gain is not possible yet, and a submerge of it, a pair of symbols, gains less."""
    gains = [compression_gain(text, [merge], (*given, *merges[:t])) for t, merge in enumerate(merges)]
    for gain, merge in zip(gains, merges, strict=True):
        if gain == max(gains) and not validity((*given, merge)):
            pairs = [part for part in merges if is_submerge(part, merge) and len(yield_of(part)) == 2]
            if any(compression_gain(text, [part], given) < gain for part in pairs):
                return True
    return False


def test_lemma_a_1_the_smallest_text_for_which_a_step_of_its_proof_fails() -> None:
    # The proof takes any submerge of two symbols. In abcd, [a,b] has been made before, and gains nothing any more.
    ab: Merge = ("a", "b")
    assert breaks_the_proof_of_lemma_a_1("abcd", (ab,), (ab, (ab, "c"), ((ab, "c"), "d")))
    for text in (text for length in (1, 2, 3) for text in texts_of(length)):
        sequences = [merges for n in (1, 2) for merges in valid_sequences(n, "".join(sorted({*text})))]
        for given, merges in product(sequences, repeat=2):
            assert not breaks_the_proof_of_lemma_a_1(text, given, merges)


def is_safe(merges: list[str], i: int, j: int, *, as_printed: bool) -> bool:
    """Whether exchanging merges i < j is safe: for all k < j and all k > i, or only for those from i to j."""
    conflict = CONFLICTS["boundary"]
    before, after = range(0 if as_printed else i, j), range(i + 1, len(merges) if as_printed else j + 1)
    return not any(conflict(merges[k], merges[j]) for k in before) and not any(
        conflict(merges[k], merges[i]) for k in after
    )


def test_def_5_3_the_shortest_sequence_with_a_safe_exchange_that_is_called_unsafe() -> None:
    merges = ["ab", "dd", "ca"]
    assert is_safe(merges, 1, 2, as_printed=False)
    assert not is_safe(merges, 1, 2, as_printed=True)
    # The paper itself says that it changes nothing. Of two merges there is one exchange, and both readings agree.
    mu = [(merge[0], merge[1]) for merge in merges]
    assert compare(Dictionary(mu), Dictionary([mu[0], mu[2], mu[1]]))
    for pair in product(["aa", "ab", "bc", "ca", "dd"], repeat=2):
        assert is_safe([*pair], 0, 1, as_printed=True) == is_safe([*pair], 0, 1, as_printed=False)


@pytest.mark.parametrize(("text", "merges"), [(text, merges) for text in ("aaabaab", "aabaaab") for merges in (2, 3)])
def test_eq_11_the_last_prefix_alone_breaks_no_bound_on_the_shortest_texts(text: str, merges: int) -> None:
    # On all others of up to seven symbols greedy training is optimal: see test_thm_3_10_the_bound_holds.
    for greedy, optimal in product(greedy_sequences(text, merges), all_optimal(text, merges)):
        value = greedy_curvature(text, optimal, greedy)
        share = Fraction(compression_gain(text, greedy, ()), compression_gain(text, optimal, ()))
        assert value is None or share >= greedy_bound(max(value, Fraction(0)))


def test_def_5_6_the_smallest_texts_for_which_the_guard_misses_the_optimum() -> None:
    missed = {
        (text, merges)
        for length, merges in product((1, 2, 3), (1, 2))
        for text in texts_of(length)
        if train_exact(text, merges, guard="literal").units > train_exact(text, merges, guard="none").units
    }
    assert missed == {(text, 2) for text in ("aaa", "aab", "aba")}


def test_fig_1_and_5_the_smallest_texts_on_which_the_code_errs() -> None:
    # One merge takes two symbols: the smallest across a space, and the smallest that is made at all.
    assert figure_1("a ", 1)[1] == [("a", " ")]
    assert figure_5("aa", 1, corrected=False) == ["a", "a"]
    assert figure_5("aa", 1, corrected=True) == [("a", "a")]


def test_conclusion_the_bound_without_its_factor_fails_on_no_shorter_text() -> None:
    # Greedy training is optimal on every text of six symbols or less, and 1 - e^-σ is less than 1.
    for merges in (1, 2, 3):
        for text in canonical_texts(6):
            fewest = min(len(forest) for _, forest in all_sequences(text, merges))
            for greedy in greedy_sequences(text, merges):
                units: Sequence = tuple(text)
                for merge in greedy:
                    units = apply_merge(units, merge)
                assert len(units) == fewest
