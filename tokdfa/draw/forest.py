"""Pictures of forests of merges."""

from __future__ import annotations

from collections.abc import Sequence

from tokdfa.base.errors import LimitExceededError
from tokdfa.draw.graph import Edge, Graph, Node
from tokdfa.draw.labels import word_label
from tokdfa.training.theory.merges import Merge, iter_submerges, yield_of

__all__ = ["forest_graph"]


def forest_graph(forest: Sequence[Merge], *, max_nodes: int = 500) -> Graph:
    """Return the picture of the result of applying merges to a string: a tree for each unit, from left to right.

    Inner nodes are labelled with their yields, leaves with their symbols. The roots, which are the units, have a
    double outline. Arrows lead from a merge to its two parts.

    At most `max_nodes` are drawn; a forest is what :func:`~tokdfa.training.theory.merges.apply_merges` returns.

    Notes
    -----
    *A Formal Perspective on Byte-Pair Encoding*, Figure 2.
    """
    n_nodes = sum(1 for unit in forest for _ in iter_submerges(unit))
    if n_nodes > max_nodes:
        hint = "draw the forest of a shorter text"
        raise LimitExceededError(f"the forest has {n_nodes:,} nodes, more than the limit of {max_nodes:,}", hint=hint)
    nodes: list[Node] = []
    edges: list[Edge] = []

    def grow(merge: Merge, is_root: bool) -> str:
        name = str(len(nodes))
        nodes.append(Node(name, word_label(yield_of(merge)), double=is_root))
        if isinstance(merge, tuple):
            edges.extend(Edge(name, grow(part, False)) for part in merge)
        return name

    for unit in forest:
        grow(unit, True)
    return Graph(tuple(nodes), tuple(edges), direction="TB")
