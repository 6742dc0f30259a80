"""Rendering DOT as SVG and PNG by Graphviz: an installed `dot`, or the one in pygraphviz's wheels."""

from __future__ import annotations

import re
import shutil
import struct
import warnings
import zlib
from typing import Any, Literal
from xml.sax.saxutils import escape, quoteattr

from tokdfa.draw.dot import to_dot
from tokdfa.draw.graph import Graph
from tokdfa.errors import TokdfaError

__all__ = ["can_render", "render", "to_svg"]

# The same for everyone, whatever the defaults of their Graphviz.
_SETTINGS = {"G": {}, "N": {"fontname": "Helvetica"}, "E": {"fontname": "Helvetica"}}
_PNG_HEAD = b"\x89PNG\r\n\x1a\n"


def can_render() -> bool:
    """Return whether Graphviz is available."""
    return shutil.which("dot") is not None or _pygraphviz() is not None


def render(graph: Graph, kind: Literal["svg", "png"]) -> bytes:
    """Return a picture of `graph`, with its description included as alternative text.

    Raises
    ------
    TokdfaError
        If Graphviz is not available, or fails.
    """
    data = _run(to_dot(graph), kind)
    if kind == "png":
        return _described(data, graph.description)
    return _accessible(data.decode("utf-8"), graph.description).encode("utf-8")


def to_svg(graph: Graph) -> str:
    """Return a picture of `graph` as an SVG element; see :func:`render`."""
    return render(graph, "svg").decode("utf-8")


def _run(dot: str, kind: str) -> bytes:
    arguments = [f"-{scope}{name}={value}" for scope, values in _SETTINGS.items() for name, value in values.items()]
    if shutil.which("dot") is not None:
        return _by_program(dot, kind, arguments)
    pygraphviz = _pygraphviz()
    if pygraphviz is None:
        raise TokdfaError(
            "Graphviz, which draws the pictures, is not installed",
            hint="install Graphviz, or pip install 'tokdfa[draw]', or write a .dot file",
        )
    with warnings.catch_warnings():
        # If the font is missing, Graphviz uses another one and prints a long warning.
        warnings.simplefilter("ignore", RuntimeWarning)
        drawn: bytes = pygraphviz.AGraph(string=dot).draw(format=kind, prog="dot", args=" ".join(arguments))
    return drawn


def _by_program(dot: str, kind: str, arguments: list[str]) -> bytes:
    import subprocess

    done = subprocess.run(["dot", f"-T{kind}", *arguments], input=dot.encode("utf-8"), capture_output=True, check=False)
    if done.returncode:
        raise TokdfaError("Graphviz fails", value=done.stderr.decode("utf-8", "replace").strip())
    return done.stdout


def _pygraphviz() -> Any:
    try:
        import pygraphviz
    except ImportError:
        return None
    return pygraphviz


def _accessible(svg: str, description: str) -> str:
    """Return the SVG element alone, with a role and a description."""
    begin = svg.index("<svg")
    svg = re.sub(r"<!--.*?-->\n?", "", svg[begin:], flags=re.DOTALL)
    if not description:
        return svg
    head = f'<svg role="img" aria-label={quoteattr(description)}'
    svg = svg.replace("<svg", head, 1)
    end = svg.index(">", svg.index("viewBox")) + 1
    return f"{svg[:end]}\n<desc>{escape(description)}</desc>{svg[end:]}"


def _described(png: bytes, description: str) -> bytes:
    """Return a PNG with its description in a text chunk after the header."""
    if not description:
        return png
    header = len(_PNG_HEAD) + 25
    body = b"iTXtDescription\0\0\0\0\0" + description.encode("utf-8")
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return png[:header] + chunk + png[header:]
