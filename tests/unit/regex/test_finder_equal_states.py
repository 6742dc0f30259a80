"""Merged states against following both automata together, and against telling all pairs of states apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tokdfa.regex.finder import merge_equal_states
from tokdfa.regex.program import compile_program
from tokdfa.regex.subset import determinize
from tokdfa.regex.syntax import parse
from tokdfa.regex.utf8 import ByteDFA, to_bytes

PATTERNS = [
    *("[0-9]{4}", "a|é", "[a-z]+@[a-z]+", r"\bab\b", "[а-яё]{3}", r"(?m:^)a.b$", r"x\n?$", "[^a]b|é(?=x)"),
    *(r"\p{Han}{2}", "a{10}", "(?:ab|cb)+x", "[ab]c|[cd]c", ".é|aé"),
]


def automaton(pattern: str) -> ByteDFA:
    return to_bytes(determinize(compile_program(parse(pattern)), "longest", searching=True, anchored=False))


def record(dfa: ByteDFA, state: int) -> tuple[int, ...]:
    """The record of a match that ends at a state, and of a match that ends if the text does."""
    ended = (int(dfa.delay[state]), int(dfa.right[state])) if dfa.delay[state] >= 0 else (-1,)
    ending = (int(dfa.end_delay[state]), int(dfa.end_right[state])) if dfa.end_delay[state] >= 0 else (-1,)
    return (int(state == 0), *ended, *ending)


def following(dfa: ByteDFA, state: int) -> list[int]:
    """The states after each symbol, and those in which to restart at the end of a match."""
    after = dfa.table[state, dfa.column].tolist()
    after.append(int(dfa.restart[state]) if dfa.delay[state] >= 0 else 0)
    after.append(int(dfa.end_restart[state]) if dfa.end_delay[state] >= 0 else 0)
    return after


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_is_recorded_of_any_text_is_the_same(pattern: str) -> None:
    given = automaton(pattern)
    merged = merge_equal_states(given)
    met = set(zip(given.starts.tolist(), merged.starts.tolist(), strict=True))
    waiting = list(met)
    while waiting:
        state, other = waiting.pop()
        assert record(given, state) == record(merged, other)
        for pair in zip(following(given, state), following(merged, other), strict=True):
            if pair not in met:
                met.add(pair)
                waiting.append(pair)
    assert len(met) <= given.n_states
    assert len(set(map(bytes, np.ascontiguousarray(merged.table.T)))) == merged.table.shape[1]


@pytest.mark.parametrize("pattern", [pattern for pattern in PATTERNS if r"\b" not in pattern and "Han" not in pattern])
def test_no_two_states_are_equal(pattern: str) -> None:
    merged = merge_equal_states(automaton(pattern))
    pairs = list(combinations(range(merged.n_states), 2))
    differ = {pair for pair in pairs if record(merged, pair[0]) != record(merged, pair[1])}
    n_before = -1
    while len(differ) > n_before:
        n_before = len(differ)
        for p, q in pairs:
            after = zip(following(merged, p), following(merged, q), strict=True)
            if (p, q) not in differ and any((min(a, b), max(a, b)) in differ for a, b in after):
                differ.add((p, q))
    assert len(differ) == len(pairs)


@pytest.mark.parametrize(("pattern", "n_states", "n_merged"), [("[0-9]{4}", 9, 6), ("[a-z]+@[a-z]+", 8, 5)])
def test_symbols_that_do_not_matter_take_no_states(pattern: str, n_states: int, n_merged: int) -> None:
    given = automaton(pattern)
    assert (given.n_states, merge_equal_states(given).n_states) == (n_states, n_merged)


@pytest.mark.parametrize("pattern", [" ?b", "é?b", "x*b"])
def test_that_a_match_may_have_begun_is_no_equality(pattern: str) -> None:
    """The following text decides equally, but the match that ends there begins at another position."""
    merged = merge_equal_states(automaton(pattern))
    begun = merged.initial
    for byte in {" ?b": b" ", "é?b": "é".encode(), "x*b": b"x"}[pattern]:
        begun = int(merged.table[begun, merged.column[byte]])
    assert begun != merged.initial


def test_long_chains_are_left_as_they_are() -> None:
    given = automaton("a{150}")
    assert merge_equal_states(given) is given
