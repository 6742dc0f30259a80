"""Fig 4 of *Constructing a BPE Tokenization DFA*: the improper dictionary ab≀a, a≀b of Example 5."""

from __future__ import annotations

from tokdfa import Dictionary, token_dfa
from tokdfa.draw.automaton import dfa_graph
from tokdfa.draw.graph import Graph
from tokdfa.draw.render import to_svg


def graph() -> Graph:
    """Return the picture."""
    return dfa_graph(token_dfa(Dictionary.from_pairs([("ab", "a"), ("a", "b")], "ab"), check=False))


def draw() -> str:
    """Return it as SVG."""
    return to_svg(graph())
