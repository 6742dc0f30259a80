"""Minimization, against the definition: two states are one if no continuation distinguishes them."""

from __future__ import annotations

import random

from hypothesis import given

from tests.support.automata import language, token_dfas
from tokdfa import TokenAlphabet
from tokdfa.automata.token_dfa import TokenDFA


def residuals(dfa: TokenDFA, longest: int) -> set[frozenset[tuple[int, ...]]]:
    """The non-empty languages, cut at `longest`, of the states that can be reached."""
    reached = dfa.reachable()
    found = set()
    for state in range(reached.n_states):
        rows = [dict(reached.moves(p)) for p in range(reached.n_states)]
        found.add(frozenset(language(TokenDFA(dfa.alphabet, rows, state, finals=reached.finals), longest)))
    return found - {frozenset()}


@given(token_dfas(max_states=6))
def test_minimal_dfas_have_one_state_for_each_residual_language(dfa: TokenDFA) -> None:
    minimal = dfa.minimize()
    # Two different states of at most six are distinguished by at most five tokens.
    expected = residuals(dfa, 5)
    assert language(minimal, 6) == language(dfa, 6)
    assert minimal.n_states == max(len(expected), 1)
    assert len(residuals(minimal, 5)) == len(expected)


@given(token_dfas(tokens=["ab"], max_states=8), token_dfas(tokens=["ab"], max_states=8))
def test_equal_languages_have_one_minimal_dfa(first: TokenDFA, second: TokenDFA) -> None:
    assert (first.minimize() == second.minimize()) == bool(first.equivalence(second))
    assert first.minimize().minimize() == first.minimize()


def test_the_empty_language_has_one_state() -> None:
    minimal = TokenDFA.from_edges([(0, "a", 1), (1, "a", 1)], finals=[], symbols="ab").minimize()
    assert (minimal.n_states, minimal.n_transitions, minimal.finals) == (1, 0, frozenset())


def test_copies_of_a_large_automaton_are_found() -> None:
    rng = random.Random(5)
    n, copies = 500, 20
    alphabet = TokenAlphabet("abc")
    row = [[rng.randrange(n) for _ in range(3)] for _ in range(n)]
    final = [rng.random() < 0.5 for _ in range(n)]
    one = TokenDFA(alphabet, [dict(enumerate(targets)) for targets in row], finals=[p for p in range(n) if final[p]])
    shuffled = list(range(n * copies))
    rng.shuffle(shuffled)
    rows: list[dict[int, int]] = [{}] * (n * copies)
    for p in range(n * copies):
        rows[shuffled[p]] = {token: shuffled[q + n * rng.randrange(copies)] for token, q in enumerate(row[p % n])}
    finals = [shuffled[p] for p in range(n * copies) if final[p % n]]
    many = TokenDFA(alphabet, rows, shuffled[0], finals=finals)
    assert many.minimize() == one.minimize()
    assert many.equivalence(one)
    different = TokenDFA(alphabet, rows, shuffled[0], finals=set(finals) ^ {shuffled[0]})
    verdict = different.equivalence(one)
    assert not verdict
    assert different.accepts(verdict.witness) != one.accepts(verdict.witness)


def test_long_chains_need_no_recursion() -> None:
    n = 20_000
    chain = TokenDFA(TokenAlphabet("a"), [{0: p + 1} for p in range(n)] + [{}], finals=[n])
    assert chain.minimize() == chain
    assert chain.equivalence(chain)
    assert chain.isomorphism(chain)
