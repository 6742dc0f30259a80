"""Token DFAs as networkx graphs, and back."""

from __future__ import annotations

from typing import Any

import networkx as nx

from tokdfa.automata.alphabet import TokenAlphabet
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.errors import AutomatonError

__all__ = ["from_networkx", "to_networkx"]


def to_networkx(dfa: TokenDFA) -> nx.MultiDiGraph[int]:
    """Return a token DFA as a graph.

    Returns
    -------
    networkx.MultiDiGraph
        Nodes are the states, with boolean attributes ``initial`` and ``final``; each transition is an edge with its
        spelled token in ``token`` and as the key. The graph's attribute ``alphabet`` is the token alphabet.
    """
    graph: nx.MultiDiGraph[int] = nx.MultiDiGraph(alphabet=dfa.alphabet)
    for state in range(dfa.n_states):
        graph.add_node(state, initial=state == dfa.initial, final=dfa.is_final(state))
    graph.add_edges_from((p, q, word, {"token": word}) for p, word, q in dfa.edges())
    return graph


def from_networkx(graph: nx.MultiDiGraph[Any]) -> TokenDFA:
    """Return the token DFA that a graph describes.

    Parameters
    ----------
    graph : networkx.MultiDiGraph
        A graph as returned by :func:`to_networkx`. Nodes may be anything and become states in the order of the graph;
        exactly one has ``initial`` set. Edges have their token, a word, in ``token``. Without the attribute
        ``alphabet``, the alphabet is that of :meth:`TokenDFA.from_edges`.

    Raises
    ------
    AutomatonError
        If there is not exactly one initial node, an edge has no token, or two edges of one node have the same token.
    """
    states = {node: state for state, node in enumerate(graph.nodes)}
    initial = [states[node] for node, given in graph.nodes(data="initial") if given]
    if len(initial) != 1:
        raise AutomatonError("exactly one node must have the attribute initial", value=len(initial))
    finals = [states[node] for node, given in graph.nodes(data="final") if given]
    edges = []
    for p, q, token in graph.edges(data="token"):
        if not isinstance(token, (bytes, str, tuple)) or len(token) == 0:
            raise AutomatonError("the token of an edge must be a word", value=token, where=f"edge from {p!r} to {q!r}")
        edges.append((states[p], token, states[q]))
    dfa = TokenDFA.from_edges(edges, initial[0], finals=finals, n_states=len(states))
    alphabet = graph.graph.get("alphabet")
    return dfa.over(alphabet) if isinstance(alphabet, TokenAlphabet) else dfa
