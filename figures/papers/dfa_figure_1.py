"""Fig 1 of *Constructing a BPE Tokenization DFA*: two tokenizations of one string."""

from __future__ import annotations

from tokdfa import TokenDFA
from tokdfa.draw.automaton import dfa_graph
from tokdfa.draw.graph import Graph
from tokdfa.draw.render import to_svg


def graph() -> Graph:
    """Return the picture."""
    edges = [(0, "a", 1), (1, "b", 2), (2, "c", 3), (1, "bc", 4)]
    return dfa_graph(TokenDFA.from_edges(edges, finals=[3, 4]))


def draw() -> str:
    """Return it as SVG."""
    return to_svg(graph())
