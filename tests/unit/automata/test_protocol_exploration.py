"""Exploring: against networkx and walks of every length."""

from __future__ import annotations

from functools import partial
from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.automata import token_dfas
from tokdfa.automata.protocol import Numbering, explore, reached, shortest_way, trace
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.errors import LimitExceededError

arrows = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=14)
dfas = token_dfas("ab", max_states=5)


class TooManyError(Exception):
    pass


def at_most(limit: int, count: int) -> None:
    if count > limit:
        raise TooManyError


@given(arrows, st.sets(st.integers(0, 6)))
def test_reached_states_are_those_of_networkx(pairs: list[tuple[int, int]], starts: set[int]) -> None:
    graph = nx.DiGraph(pairs)
    graph.add_nodes_from(range(7))
    sources, targets = np.array(pairs, dtype=np.int32).reshape(-1, 2).T.copy()
    marks = [state in starts for state in range(7)]
    expected = starts.union(*(nx.descendants(graph, start) for start in starts))
    assert {*np.flatnonzero(reached(sources, targets, marks)).tolist()} == expected
    backwards = starts.union(*(nx.ancestors(graph, start) for start in starts))
    assert {*np.flatnonzero(reached(targets, sources, marks)).tolist()} == backwards


def test_numbers_are_given_as_states_are_met() -> None:
    numbers = Numbering("a", partial(at_most, 3))
    assert [numbers[state] for state in "abacb"] == [0, 1, 0, 2, 1]
    assert numbers.states == ["a", "b", "c"]
    assert "d" not in numbers
    with pytest.raises(TooManyError):
        numbers["d"]


@given(dfas)
def test_explore_is_breadth_first(dfa: TokenDFA) -> None:
    n_states, n_transitions = dfa.reachable().n_states, dfa.reachable().n_transitions
    found = list(explore(dfa, n_states, n_transitions))
    order = [dfa.initial, *(target for _, target in nx.bfs_edges(nx.DiGraph(_arrows(dfa)), dfa.initial))]
    assert [state for state, _ in found] == order
    for state, row in found:
        assert {token: order[number] for token, number in row.items()} == dict(dfa.moves(state))
    if n_states > 1:
        with pytest.raises(LimitExceededError, match="states"):
            list(explore(dfa, n_states - 1, n_transitions))
    if n_transitions:
        with pytest.raises(LimitExceededError, match="transitions"):
            list(explore(dfa, n_states, n_transitions - 1))


def _arrows(dfa: TokenDFA) -> dict[int, list[int]]:
    return {state: [target for _, target in dfa.moves(state)] for state in range(dfa.n_states)}


@given(dfas)
def test_the_shortest_way_is_the_least_of_the_shortest(dfa: TokenDFA) -> None:
    tokens = range(len(dfa.alphabet))
    words = (list(word) for length in range(dfa.n_states) for word in product(tokens, repeat=length))
    expected = next((word for word in words if dfa.accepts(word)), None)
    assert shortest_way(dfa.initial, dfa.moves, dfa.is_final) == expected


def test_a_search_for_a_way_can_be_stopped() -> None:
    endless = partial(shortest_way, 0, lambda state: [("on", state + 1)], lambda state: state == 9)
    assert endless(partial(at_most, 9)) == ["on"] * 9
    with pytest.raises(TooManyError):
        endless(partial(at_most, 8))


def test_a_way_is_traced_back() -> None:
    origin = {3: (2, "c"), 2: (1, "b"), 9: (1, "x")}
    assert trace(origin, 3) == ["b", "c"]
    assert trace(origin, 1) == []
