"""Graphs as text in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tokdfa.draw.graph import Edge, Graph, Node
from tokdfa.draw.labels import character_sign

__all__ = ["DEAD", "FRESH", "MARK", "quote_label", "to_dot"]

LINE_WIDTH = 40

# Sky blue and vermilion of Okabe and Ito's palette, which colour-blind readers can distinguish; and a grey.
FRESH = "#56b4e9"
MARK = "#d55e00"
DEAD = "#767676"
# Numbers in states stay black, which is legible on white and on the colour of new states.
_MARKED_NODE = f'color="{MARK}", penwidth=2.5'
_MARKED_EDGE = f'color="{MARK}", fontcolor="{MARK}", penwidth=2.5'


def to_dot(graph: Graph) -> str:
    """Return `graph` in the DOT language: a ``digraph``, to be written as UTF-8.

    Equal graphs give the same text, byte for byte. Nodes are called q0, q1, … in order. Parallel edges of the same
    style become one arrow, with the labels separated by commas and broken into lines.
    """
    names = {node.name: f"q{number}" for number, node in enumerate(graph.nodes)}
    lines = ["digraph {", f"  rankdir={graph.direction}"]
    lines += [
        f"  {names[node.name]} [label={quote_label(node.label)}, {', '.join(_outline(node))}]" for node in graph.nodes
    ]
    for number, name in enumerate(graph.initial):
        lines.append(f'  start{number} [label="", shape=none, width=0, height=0]')
        lines.append(f"  start{number} -> {names[name]}")
    for edge in _merged(graph.edges):
        attributes = [f"label={quote_label(_in_lines(edge.labels))}"] if edge.labels else []
        if edge.style != "solid":
            attributes.append(f"style={edge.style}")
        if edge.marked:
            attributes.append(_MARKED_EDGE)
        suffix = f" [{', '.join(attributes)}]" if attributes else ""
        lines.append(f"  {names[edge.source]} -> {names[edge.target]}{suffix}")
    return "\n".join([*lines, "}", ""])


def _outline(node: Node) -> list[str]:
    """Return the style of a node. No two styles differ by colour alone."""
    attributes = [f"shape=double{node.shape}" if node.double else f"shape={node.shape}"]
    styles = [*(["filled"] if node.fresh else []), *(["dashed"] if node.dead else [])]
    if styles:
        attributes.append(f'style="{",".join(styles)}"')
    if node.fresh:
        attributes.append(f'fillcolor="{FRESH}"')
    if node.marked:
        attributes.append(_MARKED_NODE)
    elif node.dead and not node.fresh:
        attributes.append(f'color="{DEAD}", fontcolor="{DEAD}"')
    return attributes


def quote_label(text: str) -> str:
    r"""Return `text` as a quoted DOT string that, as a label, is rendered as exactly that text.

    In a label Graphviz interprets quotes, backslashes and, because of HTML entities, ampersands. Line breaks stay line
    breaks. Other control characters and lone surrogates, which neither DOT nor a picture can hold, are rendered as
    escapes such as ``\x00``.
    """
    return f'"{"".join(map(_label_character, text))}"'


def _label_character(character: str) -> str:
    if character == "\n":
        return r"\n"
    if character in "\x7f" or character < " " or "\ud800" <= character <= "\udfff":
        character = character_sign(character)
    return character.replace("\\", r"\\").replace('"', r"\"").replace("&", "&amp;")


def _merged(edges: Iterable[Edge]) -> Iterable[Edge]:
    labels: dict[tuple[str, str, str, bool], list[str]] = {}
    first: dict[tuple[str, str, str, bool], Edge] = {}
    for edge in edges:
        key = (edge.source, edge.target, edge.style, edge.marked)
        first.setdefault(key, edge)
        labels.setdefault(key, []).extend(edge.labels)
    return (replace(edge, labels=tuple(labels[key])) for key, edge in first.items())


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
