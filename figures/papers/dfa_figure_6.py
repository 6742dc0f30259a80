"""Fig 6 of *Constructing a BPE Tokenization DFA*: two transducers for a≀a, the second one subsequential."""

from __future__ import annotations

from tokdfa import Dictionary, Transducer, determinize, token_dfa
from tokdfa.draw.automaton import transducer_graph
from tokdfa.draw.graph import Graph, beside
from tokdfa.draw.render import to_svg


def graph() -> Graph:
    """Return the picture."""
    plain = Transducer.from_token_dfa(token_dfa(Dictionary.from_pairs([("a", "a")], "ab")))
    graphs = {"(a)": transducer_graph(plain), "(b)": transducer_graph(determinize(plain))}
    return beside(graphs, description="Two transducers from text to tokens for the one rule a≀a over a and b.")


def draw() -> str:
    """Return it as SVG."""
    return to_svg(graph())
