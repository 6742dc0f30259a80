"""FORMAL, section 5: the exact optimum by depth-first search, and which guard keeps it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.campaigns.evidence.tally import Tally
from tests.support.dictionaries import all_words
from tests.support.formal_merges import show_merge, validity
from tokdfa import TokdfaError
from tokdfa.training.theory import Merge, apply_merge, apply_merges, boundary_conflict, overlap_conflict, train_exact


def effective_sequences(text: str, merges: int) -> int:
    """Count the sequences of exactly `merges` merges that all replace something."""
    level: list[tuple[Merge, ...]] = [tuple(text)]
    for _ in range(merges):
        level = [apply_merge(forest, pair) for forest in level for pair in dict.fromkeys(pairwise(forest))]
    return len(level)


def test_prop_5_1_fails_for_one_symbol() -> None:
    assert effective_sequences("a" * 63, 5) == 38


@given(st.text("ab", min_size=1, max_size=9), st.integers(1, 4))
def test_prop_5_1_with_the_alphabet_growing(text: str, merges: int) -> None:
    bound = 1
    for i in range(merges):
        bound *= (len(set(text)) + i) ** 2
    assert effective_sequences(text, merges) <= bound


def test_def_5_6_the_literal_guard_misses_the_optimum_of_aaa() -> None:
    assert train_exact("aaa", 2, guard="none").units == 1
    assert train_exact("aaa", 2, guard="literal").units == 2
    assert train_exact("aaa", 2).units == 1


def misses(guard: str, longest: int, merges: int) -> tuple[int, int]:
    """Return the number of texts, and the number of those for which the guard misses the optimum."""
    texts = [text for text in all_words("abc", longest) if text]
    brute: dict[str, int] = {}
    missed = 0
    for text in texts:
        names = {symbol: "abc"[i] for i, symbol in enumerate(dict.fromkeys(text))}
        renamed = "".join(names[symbol] for symbol in text)
        if renamed not in brute:
            brute[renamed] = train_exact(renamed, merges, guard="none").units
        missed += train_exact(text, merges, guard=guard).units != brute[renamed]  # type: ignore[arg-type]
    return len(texts), missed


@pytest.mark.parametrize("guard", ["parts", "overlap"])
@pytest.mark.parametrize("merges", [1, 2, 3, 4])
def test_alg_3_with_the_corrected_guard_is_exact(merges: int, guard: str) -> None:
    assert misses(guard, 5, merges) == (363, 0)


@pytest.mark.slow
@pytest.mark.parametrize("merges", [1, 2, 3, 4])
def test_alg_3_with_the_corrected_guard_is_exact_on_all_texts_of_eight_symbols(merges: int, tally: Tally) -> None:
    assert misses("parts", 8, merges) == (9840, 0)
    tally("construction", "exhaustive cases", 9840)


@pytest.mark.parametrize(("merges", "missed"), [(1, 0), (2, 48), (3, 106)])
def test_def_5_6_how_often_the_literal_guard_misses_on_texts_of_five_symbols(merges: int, missed: int) -> None:
    assert misses("literal", 5, merges) == (363, missed)


@pytest.mark.slow
@pytest.mark.parametrize(("merges", "missed"), [(1, 0), (2, 858), (3, 1915), (4, 3036)])
def test_def_5_6_how_often_the_literal_guard_misses(merges: int, missed: int) -> None:
    assert misses("literal", 8, merges) == (9840, missed)


def test_the_boundary_symbols_alone_do_not_make_an_exact_guard() -> None:
    # [x,[a,b]] and [[a,b],y] contend for the ab of xaby, share no boundary symbol, and aby comes before xab. The guard
    # lets aby be merged before xab only, or not at all, and then the qxab in qxaby is lost.
    text = "xabqxabyabyqxababy"
    best = train_exact(text, 4, guard="none")
    assert best.units == train_exact(text, 4).units == 6
    assert train_exact(text, 4, guard="boundary").units == 7
    assert [show_merge(merge) for merge in best.merges] == ["[a,b]", "[x,[a,b]]", "[q,[x,[a,b]]]", "[[a,b],y]"]
    assert not boundary_conflict("xab", "aby")
    assert overlap_conflict("xab", "aby")


@pytest.mark.parametrize("conflict", [boundary_conflict, overlap_conflict])
def test_conflicts_are_symmetric(conflict: Callable[[str, str], bool]) -> None:
    words = [word for word in all_words("ab", 4) if word]
    assert all(conflict(one, other) == conflict(other, one) for one in words for other in words)


def test_overlap_conflict_is_whether_occurrences_can_overlap() -> None:
    words = [word for word in all_words("ab", 4) if word]
    for one in words:
        for other in words:
            # Lay the one over the other in every way.
            overlaps = any(
                all(one[i - shift] == other[i] for i in range(len(other)) if 0 <= i - shift < len(one))
                for shift in range(1 - len(one), len(other))
            )
            assert overlap_conflict(one, other) == overlaps, (one, other)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=6), st.integers(1, 3), min_size=1, max_size=2))
def test_alg_3_equals_brute_force_on_weighted_pieces(pieces: dict[str, int]) -> None:
    best, guarded = train_exact(pieces, 3, guard="none"), train_exact(pieces, 3)
    assert guarded.units == best.units
    assert guarded.explored <= train_exact(pieces, 3, guard="overlap").explored <= best.explored
    assert validity(guarded.merges)
    assert guarded.forests == tuple(apply_merges(text, guarded.merges) for text in pieces)
    units = sum(n * len(forest) for n, forest in zip(pieces.values(), guarded.forests, strict=True))
    assert guarded.units == units


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(TokdfaError, match="examined 41 sequences"):
        train_exact("the quick brown fox jumps", 6, limit=1000)
    with pytest.raises(TokdfaError, match=r"texts of up to 200 symbols.*: 201"):
        train_exact("a" * 201, 1)
    with pytest.raises(TokdfaError, match="unknown guard"):
        train_exact("ab", 1, guard="other")  # type: ignore[arg-type]
