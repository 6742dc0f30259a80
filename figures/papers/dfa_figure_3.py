"""Fig 3 of *Constructing a BPE Tokenization DFA*: A₀, A₁ and A₂ of Example 2, the states of the last fold filled."""

from __future__ import annotations

from itertools import pairwise

from tokdfa import Dictionary, iter_token_dfas
from tokdfa.draw.automaton import dfa_graph
from tokdfa.draw.graph import Graph, beside
from tokdfa.draw.render import to_svg


def graph() -> Graph:
    """Return the picture."""
    dfas = [*iter_token_dfas(Dictionary.from_pairs([("a", "a"), ("b", "a")], "ab"))]
    fresh = [range(0), *(range(before.n_states, dfa.n_states) for before, dfa in pairwise(dfas))]
    graphs = {title: dfa_graph(dfa, fresh=new) for title, dfa, new in zip(["A₀", "A₁", "A₂"], dfas, fresh, strict=True)}
    return beside(graphs, description="Three token DFAs: the universal one, with rule a≀a folded in, and then b≀a.")


def draw() -> str:
    """Return it as SVG."""
    return to_svg(graph())
