"""The content of a picture, independent of how it is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from tokdfa.base.display import Displayed

__all__ = ["Edge", "Graph", "Node", "beside"]


@dataclass(frozen=True, slots=True)
class Node:
    """A node: a unique name, and any text as its label."""

    name: str
    label: str
    double: bool = False  # Its outline is double, like that of a final state; only a circle can be.
    shape: Literal["circle", "octagon", "plaintext"] = "circle"
    fresh: bool = False  # It is new, and so filled.
    dead: bool = False  # No accepting run passes through it; it is grey with a dashed outline.
    marked: bool = False  # A run passes through it; it is bold.


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow between two nodes, given by name; its labels, which may be any texts, are side by side on it.

    It is drawn bold if it is `marked`, which means that a run takes it.
    """

    source: str
    target: str
    labels: tuple[str, ...] = ()
    style: Literal["solid", "dashed", "dotted"] = "solid"
    marked: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Graph(Displayed):
    """Nodes and edges in the order in which to draw them.

    Edges with the same ends, style and mark become one arrow with all their labels. An arrow from
    nowhere points at each of the nodes named in `initial`. The `description` says in words what the picture shows.
    """

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    initial: tuple[str, ...] = ()
    direction: Literal["LR", "TB"] = "LR"
    description: str = ""

    @property
    def n_arrows(self) -> int:
        """The number of arrows between nodes."""
        return len({(edge.source, edge.target, edge.style, edge.marked) for edge in self.edges})

    def __repr__(self) -> str:
        return f"<Graph: {len(self.nodes)} nodes, {len(self.edges)} edges>"


def beside(graphs: Mapping[str, Graph], *, description: str = "") -> Graph:
    """Return one picture of several graphs, each with its title at the tail of the arrow from nowhere."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    # Graphviz puts the first graph at the bottom.
    for title, graph in reversed([*graphs.items()]):
        nodes.append(Node(title, title, shape="plaintext"))
        nodes += [replace(node, name=f"{title} {node.name}") for node in graph.nodes]
        edges += [Edge(title, f"{title} {name}") for name in graph.initial]
        edges += [
            replace(edge, source=f"{title} {edge.source}", target=f"{title} {edge.target}") for edge in graph.edges
        ]
    return Graph(tuple(nodes), tuple(edges), direction=next(iter(graphs.values())).direction, description=description)
