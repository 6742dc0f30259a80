"""Fig 2 of *Constructing a BPE Tokenization DFA*: unique tokenizations, but no context-invariance."""

from __future__ import annotations

from tokdfa import TokenDFA
from tokdfa.draw.automaton import dfa_graph
from tokdfa.draw.graph import Graph
from tokdfa.draw.render import to_svg


def graph() -> Graph:
    """Return the picture."""
    return dfa_graph(TokenDFA.from_edges([(0, "a", 0), (0, "aa", 1)], finals=[1]))


def draw() -> str:
    """Return it as SVG."""
    return to_svg(graph())
