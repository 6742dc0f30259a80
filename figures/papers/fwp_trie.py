"""The figure of *Fast WordPiece Tokenization*: the trie of a, abcd, ##b, ##bc and ##z with failure links and pops."""

from __future__ import annotations

from tokdfa import WordPieceVocabulary
from tokdfa.draw.graph import Graph
from tokdfa.draw.render import to_svg
from tokdfa.draw.trie import trie_graph


def graph() -> Graph:
    """Return the picture."""
    return trie_graph(WordPieceVocabulary(["a", "abcd", "##b", "##bc", "##z"]))


def draw() -> str:
    """Return it as SVG."""
    return to_svg(graph())
