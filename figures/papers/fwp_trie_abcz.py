"""The nodes that LinMaxMatch meets on the word abcz, in the trie of *Fast WordPiece Tokenization*."""

from __future__ import annotations

from tokdfa import WordPieceVocabulary
from tokdfa.draw.graph import Graph
from tokdfa.draw.render import to_svg
from tokdfa.draw.trie import trie_graph


def graph() -> Graph:
    """Return the picture."""
    return trie_graph(WordPieceVocabulary(["a", "abcd", "##b", "##bc", "##z"]), words=["abcz"])


def draw() -> str:
    """Return it as SVG."""
    return to_svg(graph())
