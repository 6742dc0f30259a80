"""Graphs as text in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterable

from tokdfa.draw.graph import Edge, Graph
from tokdfa.draw.labels import character_sign

__all__ = ["quote_label", "to_dot"]

LINE_WIDTH = 40


def to_dot(graph: Graph) -> str:
    """Return `graph` in the DOT language.

    Parameters
    ----------
    graph : Graph
        What to draw.

    Returns
    -------
    str
        A ``digraph``, to be written as UTF-8; the same text, byte for byte, whenever it is made from the same graph.
        Nodes are called q0, q1, … in their order. Parallel edges of one style are one arrow, its labels separated by
        commas and broken into lines.
    """
    names = {node.name: f"q{number}" for number, node in enumerate(graph.nodes)}
    lines = ["digraph {", f"  rankdir={graph.direction}"]
    for node in graph.nodes:
        shape = f"double{node.shape}" if node.double else node.shape
        lines.append(f"  {names[node.name]} [label={quote_label(node.label)}, shape={shape}]")
    for number, name in enumerate(graph.initial):
        lines.append(f'  start{number} [label="", shape=none, width=0, height=0]')
        lines.append(f"  start{number} -> {names[name]}")
    for edge in _merged(graph.edges):
        attributes = [f"label={quote_label(_in_lines(edge.labels))}"] if edge.labels else []
        if edge.style != "solid":
            attributes.append(f"style={edge.style}")
        suffix = f" [{', '.join(attributes)}]" if attributes else ""
        lines.append(f"  {names[edge.source]} -> {names[edge.target]}{suffix}")
    return "\n".join([*lines, "}", ""])


def quote_label(text: str) -> str:
    r"""Return `text` as a quoted DOT string that, as a label, is rendered as exactly that text.

    In a label Graphviz gives a meaning to quotes, backslashes and, for the sake of HTML entities, ampersands. Line
    breaks stay line breaks. Other control characters and lone surrogates, which neither DOT nor a picture can hold,
    are rendered as escapes such as ``\x00``.
    """
    return f'"{"".join(map(_label_character, text))}"'


def _label_character(character: str) -> str:
    if character == "\n":
        return r"\n"
    if character in "\x7f" or character < " " or "\ud800" <= character <= "\udfff":
        character = character_sign(character)
    return character.replace("\\", r"\\").replace('"', r"\"").replace("&", "&amp;")


def _merged(edges: Iterable[Edge]) -> Iterable[Edge]:
    labels: dict[tuple[str, str, str], list[str]] = {}
    first: dict[tuple[str, str, str], Edge] = {}
    for edge in edges:
        key = (edge.source, edge.target, edge.style)
        first.setdefault(key, edge)
        labels.setdefault(key, []).extend(edge.labels)
    return (Edge(edge.source, edge.target, tuple(labels[key]), edge.style) for key, edge in first.items())


def _in_lines(labels: Iterable[str]) -> str:
    lines: list[str] = []
    for label in labels:
        if lines and len(lines[-1]) + len(label) + 2 <= LINE_WIDTH:
            lines[-1] += f", {label}"
        else:
            if lines:
                lines[-1] += ","
            lines.append(label)
    return "\n".join(lines)
