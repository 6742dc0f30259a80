"""The trie of LinMaxMatch as a picture: nodes, edges, failure links and pops."""

from __future__ import annotations

import pytest

from tokdfa.base.errors import LimitExceededError
from tokdfa.draw.graph import to_dot
from tokdfa.draw.trie import trie_graph
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary

VOCABULARY = WordPieceVocabulary(["a", "abcd", "##b", "##bc", "##z"])

FIGURE = """\
digraph {
  rankdir=LR
  q0 [label="ε", shape=circle]
  q1 [label="##", shape=circle]
  q2 [label="a", shape=doublecircle]
  q3 [label="ab", shape=circle]
  q4 [label="abc", shape=circle]
  q5 [label="abcd", shape=doublecircle]
  q6 [label="##b", shape=doublecircle]
  q7 [label="##bc", shape=doublecircle]
  q8 [label="##z", shape=doublecircle]
  start0 [label="", shape=none, width=0, height=0]
  start0 -> q0
  q0 -> q1 [label="##"]
  q0 -> q2 [label="a"]
  q1 -> q6 [label="b"]
  q1 -> q8 [label="z"]
  q2 -> q3 [label="b"]
  q3 -> q4 [label="c"]
  q4 -> q5 [label="d"]
  q6 -> q7 [label="c"]
  q2 -> q1 [label="a", style=dashed]
  q3 -> q6 [label="a", style=dashed]
  q4 -> q7 [label="a", style=dashed]
  q5 -> q1 [label="abcd", style=dashed]
  q6 -> q1 [label="##b", style=dashed]
  q7 -> q1 [label="##bc", style=dashed]
  q8 -> q1 [label="##z", style=dashed]
}
"""


def test_the_figure_of_the_trie_is_as_written() -> None:
    assert to_dot(trie_graph(VOCABULARY)) == FIGURE


def test_what_one_word_meets() -> None:
    graph = trie_graph(VOCABULARY, words=["abcz"])
    assert [node.label for node in graph.nodes] == ["ε", "##", "a", "ab", "abc", "##bc", "##z"]
    assert [(edge.style, edge.labels) for edge in graph.edges][-3:] == [
        ("dashed", ("a",)),
        ("dashed", ("##bc",)),
        ("dashed", ("##z",)),
    ]
    assert [node.label for node in trie_graph(VOCABULARY, words=["q", "aq"]).nodes] == ["ε", "##", "a"]


def test_entries_that_share_a_beginning_with_the_prefix() -> None:
    graph = trie_graph(WordPieceVocabulary(["#", "##b", "#c", "###"]))
    assert [node.label for node in graph.nodes] == ["ε", "##", "#", "#c", "##b", "###"]


def test_an_empty_prefix_and_an_empty_vocabulary() -> None:
    assert [node.label for node in trie_graph(WordPieceVocabulary([])).nodes] == ["ε", "##"]
    graph = trie_graph(WordPieceVocabulary(["a"], prefix=""))
    assert [node.label for node in graph.nodes] == ["ε", "ε", "a", "a"]


def test_a_picture_may_be_too_large() -> None:
    with pytest.raises(LimitExceededError, match="the trie has 9 nodes, more than the limit of 8"):
        trie_graph(VOCABULARY, max_nodes=8)
