"""Numbering tokens by the rules that make them, and rules given between tokens instead of their numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.kernels.encode.one_pass import index_rules, number_products

N_SYMBOLS, N_TOKENS = 5, 40

symbol_or_token = st.integers(0, N_TOKENS - 1)
rules = st.lists(st.tuples(symbol_or_token, symbol_or_token, st.integers(N_SYMBOLS, N_TOKENS - 1)), max_size=60)


def columns_of(rules: list[tuple[int, int, int]]) -> np.ndarray:
    return np.array(rules, dtype=np.int32).reshape(-1, 3).T.copy()


@given(rules)
def test_numbers_follow_the_rules(rules: list[tuple[int, int, int]]) -> None:
    ids = np.arange(N_TOKENS, dtype=np.int32) * 7 + 3
    number, ids_of_numbers = number_products(columns_of(rules)[2], N_SYMBOLS, ids)
    in_order = [*range(N_SYMBOLS), *dict.fromkeys(product for _, _, product in rules)]
    expected = [-1] * N_TOKENS
    for n, token in enumerate(in_order):
        expected[token] = n
    assert number.tolist() == expected
    assert ids_of_numbers[: len(in_order)].tolist() == ids[in_order].tolist()
    assert (ids_of_numbers[len(in_order) :] == -1).all()


@given(rules)
def test_rules_between_tokens_are_those_between_their_numbers(rules: list[tuple[int, int, int]]) -> None:
    columns = columns_of(rules)
    number, _ = number_products(columns[2], N_SYMBOLS, np.zeros(N_TOKENS, dtype=np.int32))
    numbered = [[int(number[token]) for token in rule] for rule in rules]
    possible = [rule for rule in numbered if min(rule) >= 0]
    found, of_symbols = index_rules(*columns, number)
    expected, of_symbols_expected = index_rules(*columns_of(possible))
    assert np.array_equal(of_symbols, of_symbols_expected)
    assert sorted(found[found > 0].tolist()) == sorted(expected[expected > 0].tolist())


@pytest.mark.parametrize("wrong", [-1, N_TOKENS])
def test_rules_between_what_are_no_tokens_are_refused(wrong: int) -> None:
    good, bad = np.array([0], dtype=np.int32), np.array([wrong], dtype=np.int32)
    number = np.arange(N_TOKENS, dtype=np.int32)
    for columns in ((bad, good, good), (good, bad, good), (good, good, bad)):
        with pytest.raises(ValueError, match="not among 40"):
            index_rules(*columns, number)
    with pytest.raises(ValueError, match="not among 40"):
        number_products(bad, N_SYMBOLS, number)
