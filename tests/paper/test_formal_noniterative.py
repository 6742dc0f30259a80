"""FORMAL, appendix B.2: non-iterative BPE."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.formal_merges import (
    compression_utility,
    from_dictionary,
    possible_merges,
    show_merge,
    train_noniterative,
    validity,
)
from tokdfa import TokdfaError
from tokdfa.training.naive import train_naive
from tokdfa.training.theory import apply_merges, yield_of


def test_abcabcd_the_printed_merges() -> None:
    merges = train_noniterative("abcabcd", 4, width=3)
    assert [show_merge(merge) for merge in merges] == ["[a,b]", "[[a,b],c]", "[b,c]", "[a,[b,c]]"]


@given(st.text("abc", max_size=12), st.integers(2, 5), st.integers(0, 30))
def test_it_makes_valid_sequences(text: str, width: int, merges: int) -> None:
    counts = possible_merges(text, width)
    assert validity(train_noniterative(text, merges, width=width))
    for merge, count in counts.items():
        word = yield_of(merge)
        assert count == sum(text.startswith(word, i) for i in range(len(text)))


@pytest.mark.parametrize(("k", "width"), [(1, 2), (2, 4), (3, 4)])
def test_the_bad_family(k: int, width: int) -> None:
    n = 2**k * 3
    text = "a" * (width * n)
    m = len(possible_merges(text, width)) + k
    theirs = len(apply_merges(text, train_noniterative(text, m, width=width)))
    assert theirs >= n
    d = train_naive({text: 1}, width.bit_length() - 1 + k, min_frequency=1)
    best = len(apply_merges(text, from_dictionary(d)))
    assert best == n // 2**k
    # The ratio of utilities is bounded from below; the ratio of unit counts grows without bound.
    assert theirs >= 2**k * best
    assert Fraction(width * n - n, width * n - best) >= Fraction(width - 1, width)
    assert compression_utility(text, from_dictionary(d)) == width * n - best


def test_wide_windows_are_refused() -> None:
    with pytest.raises(TokdfaError, match="10 at most"):
        possible_merges("ab", 11)
