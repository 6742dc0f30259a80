"""FORMAL, section 3 and appendix A: compression utility, its curvature, and what greedy training is sure to reach."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa import TokdfaError
from tokdfa.train.exact import train_exact
from tokdfa.train.merges import Merge, apply_merge, apply_merges, is_submerge, is_valid
from tokdfa.train.utility import (
    compression_gain,
    compression_utility,
    greedy_bound,
    greedy_curvature,
    total_backward_curvature,
)

Sequence = tuple[Merge, ...]


@st.composite
def valid_sequences(draw: st.DrawFn, longest: int = 6) -> Sequence:
    merges: list[Merge] = []
    for _ in range(draw(st.integers(0, longest))):
        part = st.sampled_from(["a", "b", *merges])
        merges.append((draw(part), draw(part)))
    return tuple(merges)


texts = st.text("ab", max_size=16)


@given(texts, valid_sequences())
def test_prop_3_2_utility_is_monotone(text: str, merges: Sequence) -> None:
    assert is_valid(merges)
    utilities = [compression_utility(text, merges[:i]) for i in range(len(merges) + 1)]
    assert utilities == sorted(utilities)


@given(texts, valid_sequences(), st.data())
def test_prop_3_4_utility_is_submodular(text: str, merges: Sequence, data: st.DataObject) -> None:
    prefix = merges[: data.draw(st.integers(0, len(merges)))]
    part = st.sampled_from(["a", "b", *prefix])
    nu = (data.draw(part), data.draw(part))
    assert compression_gain(text, [nu], prefix) >= compression_gain(text, [nu], merges)


def test_ex_3_5_why_validity_matters() -> None:
    text = "aabcde"
    prefix: Sequence = (("a", "a"),)
    merges: Sequence = (*prefix, ("c", "d"))
    nu: Sequence = (("b", ("c", "d")), (("b", ("c", "d")), "e"))
    assert (compression_utility(text, prefix), compression_utility(text, merges)) == (1, 2)
    assert compression_gain(text, nu, prefix) == 0
    assert compression_gain(text, nu, merges) == 2
    assert not is_valid((*prefix, *nu))


@given(texts, valid_sequences(8), st.data())
def test_prop_3_8_utility_is_hierarchically_submodular(text: str, merges: Sequence, data: st.DataObject) -> None:
    pairs = [(i, j) for j in range(len(merges)) for i in range(j) if is_submerge(merges[i], merges[j])]
    for i, j in pairs:
        # A merge that has been made before makes nothing the second time, and then the statement fails.
        if merges[i] not in merges[:i]:
            assert compression_gain(text, [merges[i]], merges[:i]) >= compression_gain(text, [merges[j]], merges[:j])


@given(texts, valid_sequences(), valid_sequences())
def test_lemma_a_1_some_merge_gains_at_least_the_average(text: str, given_merges: Sequence, merges: Sequence) -> None:
    gain = compression_gain(text, merges, given_merges)
    possible = [compression_gain(text, [nu], given_merges) for nu in merges if is_valid((*given_merges, nu))]
    assert not merges or max(possible) * len(merges) >= gain


def test_prop_3_8_fails_for_a_repeated_merge() -> None:
    ab: Merge = ("a", "b")
    merges: Sequence = (ab, ab, (ab, "c"))
    assert is_valid(merges)
    assert compression_gain("abc", [merges[1]], merges[:1]) == 0
    assert compression_gain("abc", [merges[2]], merges[:2]) == 1


def canonical_texts(longest: int, symbols: str = "abc") -> Iterator[str]:
    """Every text up to renaming: symbols come for the first time in their order."""

    def extend(text: str, used: int) -> Iterator[str]:
        if len(text) > 1:
            yield text
        if len(text) < longest:
            for symbol in symbols[: used + 1]:
                yield from extend(text + symbol, max(used, symbols.index(symbol) + 1))

    return extend("", 0)


def all_optimal(text: str, merges: int) -> list[Sequence]:
    """Return every optimal sequence whose merges all replace something."""
    best, found = len(text), [()]
    stack: list[tuple[Sequence, tuple[Merge, ...]]] = [((), tuple(text))]
    while stack:
        sequence, forest = stack.pop()
        if len(forest) < best:
            best, found = len(forest), []
        if len(forest) == best:
            found.append(sequence)
        if len(sequence) < merges:
            stack.extend(((*sequence, pair), apply_merge(forest, pair)) for pair in dict.fromkeys(pairwise(forest)))
    return [sequence for sequence in found if sequence]


def greedy_sequences(text: str, merges: int) -> list[Sequence]:
    """Return every sequence that a greedy trainer may find, whatever its tie rule."""
    sequences: dict[Sequence, tuple[Merge, ...]] = {(): tuple(text)}
    for _ in range(merges):
        longer: dict[Sequence, tuple[Merge, ...]] = {}
        for sequence, forest in sequences.items():
            after = {pair: apply_merge(forest, pair) for pair in dict.fromkeys(pairwise(forest))}
            fewest = min(map(len, after.values()), default=0)
            longer |= {(*sequence, pair): units for pair, units in after.items() if len(units) == fewest}
            if not after:
                longer[sequence] = forest
        sequences = longer
    return list(sequences)


@pytest.mark.parametrize(
    ("text", "merges", "exactly", "value"),
    [
        ("abab", 1, False, 2),
        ("abab", 2, False, 3),
        ("aabab", 3, False, 4),
        ("aaabab", 4, False, 5),
        ("ababcabc", 2, True, Fraction(5, 2)),
        ("aaaabaab", 3, True, 2),
    ],
)
def test_def_3_9_texts_that_attain_the_curvature(text: str, merges: int, exactly: bool, value: Fraction) -> None:
    curvatures = [
        total_backward_curvature(text, optimal, merges, exactly=exactly) for optimal in all_optimal(text, merges)
    ]
    assert max(curvature.value for curvature in curvatures) == value


def test_def_3_9_is_m_plus_1_at_most_on_short_texts() -> None:
    for merges in (1, 2, 3):
        curvatures = [
            total_backward_curvature(text, optimal, merges).value
            for text in canonical_texts(5)
            for optimal in all_optimal(text, merges)
        ]
        assert max(curvatures) == merges + 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("merges", "longest", "as_written", "exactly", "eq_11"),
    [(1, 8, 2, 2, None), (2, 8, 3, Fraction(5, 2), 2)],
)
def test_def_3_9_and_eq_11_on_all_short_texts(
    merges: int, longest: int, as_written: int, exactly: Fraction | int, eq_11: Fraction | int | None
) -> None:
    found: dict[str, list[Fraction]] = {"as written": [], "exactly": [], "eq 11": []}
    for text in canonical_texts(longest):
        greedy = greedy_sequences(text, merges)
        for optimal in all_optimal(text, merges):
            found["as written"].append(total_backward_curvature(text, optimal, merges).value)
            found["exactly"].append(total_backward_curvature(text, optimal, merges, exactly=True).value)
            values = (greedy_curvature(text, optimal, sequence) for sequence in greedy)
            found["eq 11"] += [value for value in values if value is not None]
    assert [max(values, default=None) for values in found.values()] == [as_written, exactly, eq_11]


def test_eq_11_reaches_two() -> None:
    values = {}
    for text in canonical_texts(6):
        for greedy in greedy_sequences(text, 2):
            for optimal in all_optimal(text, 2):
                value = greedy_curvature(text, optimal, greedy)
                if value is not None:
                    values[text] = max(value, values.get(text, value))
    assert max(values.values()) == 2
    assert min((text for text in values if values[text] == 2), key=len) == "aab"
    assert greedy_curvature("aab", (("a", "b"), ("a", ("a", "b"))), (("a", "a"), (("a", "a"), "b"))) == 2
    assert greedy_curvature("ab", (("a", "b"),), (("a", "b"),)) is None


def test_thm_3_10_the_bound_holds() -> None:
    for merges in (1, 2, 3):
        for text in canonical_texts(6):
            best = len(text) - train_exact(text, merges).units
            curvature = max(
                total_backward_curvature(text, optimal, merges).value for optimal in all_optimal(text, merges)[:3]
            )
            for greedy in greedy_sequences(text, merges):
                assert compression_utility(text, greedy) >= greedy_bound(curvature) * best - 1e-9


def test_sec_3_3_the_printed_bounds() -> None:
    assert [round(greedy_bound(curvature), 2) for curvature in (2.5, 2.0, 1.5)] == [0.37, 0.43, 0.52]
    assert greedy_bound(0) == 1
    with pytest.raises(TokdfaError):
        greedy_bound(-1)


def test_ex_abaabbaa_four_units_are_possible() -> None:
    result = train_exact("abaabbaa", 2)
    assert result.units == 4
    assert apply_merges("abaabbaa", result.merges) == result.forests[0]
