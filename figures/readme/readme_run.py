"""The README's picture of a run: b≀aa≀ba in the token DFA of [a≀a, b≀a] over {a, b}."""

from __future__ import annotations

from tokdfa import Dictionary, token_dfa
from tokdfa.draw.automaton import dfa_graph
from tokdfa.draw.graph import Graph
from tokdfa.draw.render import to_svg


def graph() -> Graph:
    """Return the picture."""
    dfa = token_dfa(Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab"))
    return dfa_graph(dfa, fresh=[2], run=["b", "aa", "ba"])


def draw() -> str:
    """Return it as SVG."""
    return to_svg(graph())
