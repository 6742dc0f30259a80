"""Subset constructions: the first match of a backtracking engine, also where turns of repetitions are empty."""

from __future__ import annotations

from itertools import product

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tokdfa.base.errors import PatternError
from tokdfa.regex.class_dfa import ClassDFA
from tokdfa.regex.program import compile_program
from tokdfa.regex.subset import determinize
from tokdfa.regex.syntax import parse

WORDS = ["".join(word) for length in range(5) for word in product("ab c", repeat=length)]
atoms = st.sampled_from(["a", "b", "c", "[^a]", ".", r"(?!\S)", "(?=b)", r"(?:\b)", "(?:^)", "(?:)"])
operators = st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,2}?", "{2,}"])
patterns = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda options: f"(?:{'|'.join(options)})"),
        st.tuples(inner, operators).map(lambda part: f"(?:{part[0]}){part[1]}"),
    ),
    max_leaves=8,
)


def _end(dfa: ClassDFA, word: str) -> int | None:
    """Where the match at the beginning of a word ends."""
    state = dfa.initial[-1]
    end = 0 if dfa.accepts[state] and not dfa.delayed else None
    for place, symbol in enumerate([*dfa.partition.classes([ord(symbol) for symbol in word]), dfa.edge]):
        state = dfa.table[state, symbol]
        if dfa.accepts[state]:
            end = place + (not dfa.delayed)
    return end


@settings(max_examples=150)
@given(patterns)
@example(r"a(?:c|(?!\S)|[^a])*")
@example(r"(?:(?:a|(?=b))+?|b)*c?")
@example(r"(?:(?:a|)*|b)*")
@example(r"(?:(?:(?!\S)|b){0,2}c|.){2,}")
def test_first_is_what_a_backtracking_engine_finds(pattern: str) -> None:
    try:
        dfa = determinize(compile_program(parse(pattern)), "first")
    except PatternError:  # an assertion that is repeated by itself
        return
    program = regex.compile(pattern)
    for word in WORDS:
        match = program.match(word)
        assert _end(dfa, word) == (match and match.end()), word


@pytest.mark.parametrize("operator", ["*", "+", "?", "{0,1}", "*?"])
def test_nested_repetitions_of_what_may_be_empty_stay_small(operator: str) -> None:
    program = compile_program(parse("(?:" * 50 + r"a|(?!\S)" + f"){operator}" * 50))
    assert len(program.instructions) < 100_000
