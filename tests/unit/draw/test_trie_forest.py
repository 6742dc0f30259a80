"""Pictures of forests of merges, and of orders of rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa import Dictionary, RuleOrder, TokdfaError
from tokdfa.draw.graph import to_dot
from tokdfa.draw.trie import forest_graph, order_graph
from tokdfa.training.theory import Merge, apply_merges

FIG_2: tuple[Merge, ...] = (
    ("a", "b"),
    ("c", "b"),
    (("a", "b"), "a"),
    ((("a", "b"), "a"), ("c", "b")),
)


def test_fig_2_is_drawn() -> None:
    graph = forest_graph(apply_merges("abaabacbcb", FIG_2))
    assert [node.label for node in graph.nodes if node.double] == ["aba", "abacb", "cb"]
    labels = {node.name: node.label for node in graph.nodes}
    children: dict[str, list[str]] = {}
    for edge in graph.edges:
        children.setdefault(edge.source, []).append(edge.target)
    drawn = {(labels[name], *(labels[child] for child in both)) for name, both in children.items()}
    assert drawn == {("ab", "a", "b"), ("cb", "c", "b"), ("aba", "ab", "a"), ("abacb", "aba", "cb")}
    assert "".join(labels[node.name] for node in graph.nodes if node.name not in children) == "abaabacbcb"
    assert to_dot(graph).count("->") == len(graph.edges) == 14


@given(st.text("abc", max_size=20), st.lists(st.sampled_from(FIG_2), max_size=4))
def test_a_forest_is_drawn_with_a_leaf_a_symbol_and_a_root_a_unit(text: str, merges: list[Merge]) -> None:
    forest = apply_merges(text, merges)
    graph = forest_graph(forest)
    inner = {edge.source for edge in graph.edges}
    assert [node.label for node in graph.nodes if node.name not in inner] == list(text)
    assert sum(node.double for node in graph.nodes) == len(forest)
    assert len(graph.edges) == len(graph.nodes) - len(forest)


def test_large_forests_are_refused() -> None:
    with pytest.raises(TokdfaError, match="more than the limit of 500"):
        forest_graph("a" * 501)


def test_an_order_of_rules_is_drawn_as_its_hasse_diagram() -> None:
    # a≀b and b≀a stay in their order, and so a≀ab comes after both of them; c≀c may come anywhere.
    graph = order_graph(RuleOrder(Dictionary([("a", "b"), ("b", "a"), ("c", "c"), ("a", "ab")])))
    labels = {node.name: node.label for node in graph.nodes}
    arrows = {(labels[edge.source], labels[edge.target]) for edge in graph.edges}
    assert arrows == {("a≀b", "b≀a"), ("b≀a", "a≀ab")}
    assert [*labels.values()] == ["a≀b", "b≀a", "c≀c", "a≀ab"]
