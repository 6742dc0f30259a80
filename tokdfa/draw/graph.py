"""The content of a picture, independent of how it is drawn: nodes, edges and their labels; and its DOT."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Literal

from tokdfa.automata.alphabet import Word
from tokdfa.base.verdict import Displayed


@dataclass(frozen=True, slots=True)
class Node:
    """A node: a unique name, and any text as its label."""

    name: str
    label: str
    double: bool = False  # Its outline is double, as for a final state; only for circles.
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

    Edges with the same ends, style and mark become one arrow with all their labels. An arrow from nowhere points at
    each of the nodes named in `initial`. The `description` is the picture in words.
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


_OWN_SIGNS = {" ": "␣", "\n": r"\n", "\t": r"\t", "\r": r"\r", "␣": r"\u2423"}
_LEAST_RANGE = 4
_LOOKS_ESCAPED = re.compile(r"\\[\\xuUntr]")


def word_label(word: Word) -> str:
    r"""Return the label of `word` in a picture.

    Printable text is shown as it is, except that a space is shown as ``␣``. Line breaks, control characters, lone
    surrogates, bytes that are not UTF-8 and all other unprintable characters become escapes: ``\n``, ``\x00``,
    ``\u200f``. In a word that has any of these, or reads as if it had, backslashes are doubled. So different words over
    one alphabet have different labels, except that the symbols of a word over longer symbols are joined without a mark.
    """
    if isinstance(word, bytes):
        text = word.decode("utf-8", "surrogateescape")
        signs = [_byte_sign(character) for character in text]
    else:
        text = word if isinstance(word, str) else "".join(word)
        signs = [character_sign(character) for character in text]
    if any(sign.startswith("\\") for sign, character in zip(signs, text, strict=True) if character != "\\") or (
        _LOOKS_ESCAPED.search(text)
    ):
        signs = [r"\\" if sign == "\\" else sign for sign in signs]
    return "".join(signs)


def word_labels(words: Iterable[Word]) -> Iterator[tuple[str, int]]:
    """Yield the labels of `words` in order, each with the number of words that it represents.

    Four or more symbols with consecutive codes become one label such as ``a … z``. No word has such a label, because a
    space in a word is shown as ``␣``.
    """
    run: list[Word] = []
    for word in words:
        if run and not (len(word) == len(run[-1]) == 1 and _code(word) == _code(run[-1]) + 1):
            yield from _flushed(run)
            run = []
        run.append(word)
    yield from _flushed(run)


def first_labels(pairs: Iterable[tuple[str, int]], n_words: int, most: int | None) -> tuple[list[str], int]:
    """Return up to `most` labels, and the number of words that they leave out."""
    shown = [*islice(pairs, most)]
    return [label for label, _ in shown], n_words - sum(count for _, count in shown)


def _flushed(run: list[Word]) -> Iterator[tuple[str, int]]:
    if len(run) >= _LEAST_RANGE:
        yield f"{word_label(run[0])} … {word_label(run[-1])}", len(run)
    else:
        yield from ((word_label(word), 1) for word in run)


def _code(symbol: Word) -> int:
    first = symbol[0]
    if isinstance(first, int):
        return first
    # A symbol of several characters is not consecutive with any other.
    return ord(first) if len(first) == 1 else -2 - 2 * len(first)


def character_sign(character: str) -> str:
    """Return the sign of one character: itself if it is printable, otherwise an escape, and ``␣`` for a space."""
    if character in _OWN_SIGNS:
        return _OWN_SIGNS[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _byte_sign(character: str) -> str:
    """Return the sign of a character decoded from bytes, where a surrogate represents a byte that is not UTF-8."""
    code = ord(character)
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else character_sign(character)


MAX_ARROWS: Final = 400
"""Number of arrows that are laid out by default: 226 take 2 s, 424 take 20 s, and 628 minutes."""
MAX_SECONDS: Final = 60.0
"""Seconds that a layout may take."""


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
