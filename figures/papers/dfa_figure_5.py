"""Fig 5 of *Constructing a BPE Tokenization DFA*: the bound of Theorem 2 is reached, rule by rule."""

from __future__ import annotations

from tokdfa import Dictionary, iter_token_dfas
from tokdfa.draw.automaton import dfa_graph
from tokdfa.draw.graph import Graph, beside
from tokdfa.draw.render import to_svg


def graph() -> Graph:
    """Return the picture."""
    dictionary = Dictionary.from_pairs([("a" * (1 << k), "a" * (1 << k)) for k in range(3)], "a")
    graphs = {
        title: dfa_graph(dfa) for title, dfa in zip(["A₀", "A₁", "A₂", "A₃"], iter_token_dfas(dictionary), strict=True)
    }
    return beside(graphs, description="Four token DFAs over a, of one, two, three and four states.")


def draw() -> str:
    """Return it as SVG."""
    return to_svg(graph())
