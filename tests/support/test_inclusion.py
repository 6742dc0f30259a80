"""Emptiness, inclusion and equivalence, against all short tokenizations."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.support.automata import iter_tokenizations, token_dfas
from tests.support.inclusion import emptiness, equivalence, inclusion, shortest
from tokdfa import TokenAlphabet
from tokdfa.automata.boolean import intersection, union
from tokdfa.automata.protocol import accepts
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.errors import LimitExceededError

dfas = token_dfas("ab", max_states=3)


def _first(accepted) -> tuple[int, ...] | None:
    """The first of all tokenizations, shortest first and then in token order, for which `accepted` holds.

    Two automata of three states, each with a sink, are distinguished by at most fifteen tokens; pairs of useful states
    are fewer by far, and no witness longer than eight tokens is looked for here.
    """
    return next((sequence for sequence in iter_tokenizations(2, 8) if accepted(sequence)), None)


@given(token_dfas("ab", max_states=6))
def test_the_shortest_member_is_the_least(dfa: TokenDFA) -> None:
    member = _first(lambda sequence: accepts(dfa, sequence))
    assert shortest(dfa) == member
    assert emptiness(dfa).witness == member
    assert bool(emptiness(dfa)) == (member is None)


@given(dfas, dfas)
def test_inclusion_and_equivalence_have_the_least_witness(first: TokenDFA, second: TokenDFA) -> None:
    only_first = _first(lambda sequence: accepts(first, sequence) and not accepts(second, sequence))
    either = _first(lambda sequence: accepts(first, sequence) != accepts(second, sequence))
    assert inclusion(first, second).witness == only_first
    assert equivalence(first, second).witness == either
    assert bool(equivalence(first, second)) == (either is None)
    assert bool(inclusion(first, second)) == (only_first is None)
    # Lazy automata are decided in the same way as explicit ones.
    assert equivalence(union(first, first), second).witness == either


@given(dfas, dfas)
def test_inclusion_is_the_order_of_the_algebra(first: TokenDFA, second: TokenDFA) -> None:
    included = bool(inclusion(first, second))
    assert included == bool(equivalence(intersection(first, second), first))
    assert included == bool(equivalence(union(first, second), second))


def test_the_reason_names_the_side() -> None:
    a, b = (TokenDFA.from_edges([(0, token, 1)], finals=[1], symbols="ab") for token in "ab")
    assert equivalence(a, b).reason == "only the first accepts a tokenization of 1 tokens"
    assert equivalence(union(b, b), union(a, a)).reason.startswith("only the second")


def test_the_budget_is_kept() -> None:
    chain = TokenDFA(TokenAlphabet("a"), [{0: i + 1} for i in range(20)] + [{}], finals=[20])
    assert shortest(chain, max_states=21) == (0,) * 20
    with pytest.raises(LimitExceededError, match="raise max_states"):
        shortest(chain, max_states=10)
