"""Token DFAs as networkx graphs."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given

from tests.support.automata import token_dfas
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.errors import AutomatonError


@given(token_dfas(tokens=["ab", "ba"]))
def test_there_and_back(dfa: TokenDFA) -> None:
    graph = dfa.to_networkx()
    assert graph.number_of_nodes() == dfa.n_states
    assert graph.number_of_edges() == dfa.n_transitions
    assert TokenDFA.from_networkx(graph) == dfa


def test_a_graph_made_by_hand() -> None:
    graph = nx.MultiDiGraph()
    graph.add_node("start", initial=True)
    graph.add_node("end", final=True)
    graph.add_edge("start", "end", token="ab")
    graph.add_edge("start", "start", token="a")
    dfa = TokenDFA.from_networkx(graph)
    assert list(dfa.edges()) == [(0, "a", 0), (0, "ab", 1)]
    assert dfa.accepts(["a", "ab"])


def test_graphs_that_are_no_token_dfas() -> None:
    graph = nx.MultiDiGraph()
    with pytest.raises(AutomatonError, match="exactly one node must have the attribute initial: 0"):
        TokenDFA.from_networkx(graph)
    graph.add_node(0, initial=True)
    graph.add_edge(0, 1)
    with pytest.raises(AutomatonError, match="edge from 0 to 1: the token of an edge must be a word"):
        TokenDFA.from_networkx(graph)
    graph.remove_edge(0, 1)
    graph.add_edge(0, 1, token="a")
    graph.add_edge(0, 0, token="a")
    with pytest.raises(AutomatonError, match="two transitions on the same token"):
        TokenDFA.from_networkx(graph)
