"""The README's picture of a language: the correct tokenizations of the texts that a pattern matches."""

from __future__ import annotations

from tokdfa import TokenDFA, default_dictionary, language, tokenized_language
from tokdfa.draw.automaton import dfa_graph
from tokdfa.draw.graph import Graph
from tokdfa.draw.render import to_svg

PATTERN = "(Mr|Mrs|Miss) (Bennet|Darcy)"


def graph() -> Graph:
    """Return the picture."""
    dictionary = default_dictionary()
    product = tokenized_language(dictionary, language(PATTERN, dictionary))
    return dfa_graph(TokenDFA.from_automaton(product, dictionary.alphabet).trim().minimize())


def draw() -> str:
    """Return it as SVG."""
    return to_svg(graph())
