"""Rendering DOT as SVG and PNG by Graphviz: an installed `dot`, or the one in pygraphviz's wheels, within limits."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import sys
import zlib
from importlib.util import find_spec
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

from tokdfa.base.errors import LimitExceededError, TokdfaError
from tokdfa.draw.graph import MAX_ARROWS, MAX_SECONDS, Graph, to_dot

# The same for everyone, even if their Graphviz has other defaults.
_SETTINGS = {"G": {}, "N": {"fontname": "Helvetica"}, "E": {"fontname": "Helvetica"}}
_PNG_HEAD = b"\x89PNG\r\n\x1a\n"
_HINT = "a .dot file needs no layout; or draw a part of it"
# A process of its own can be stopped, which a layout in this process cannot be. If the font is missing, Graphviz uses
# another one and warns.
_BY_WHEEL = """
import json, sys, warnings
sys.path[:], kind, arguments = json.loads(sys.argv[1])
import pygraphviz
warnings.simplefilter("ignore", RuntimeWarning)
dot = sys.stdin.buffer.read().decode("utf-8")
sys.stdout.buffer.write(pygraphviz.AGraph(string=dot).draw(format=kind, prog="dot", args=" ".join(arguments)))
"""


def can_render() -> bool:
    """Return whether Graphviz is available."""
    return shutil.which("dot") is not None or find_spec("pygraphviz") is not None


def render(
    graph: Graph, kind: Literal["svg", "png"], *, max_arrows: int = MAX_ARROWS, max_seconds: float = MAX_SECONDS
) -> bytes:
    """Return a picture of `graph`, with its description included as alternative text.

    It may have at most `max_arrows` arrows, and Graphviz take at most `max_seconds`.
    """
    n_arrows = graph.n_arrows
    if n_arrows > max_arrows:
        what = f"the picture has {n_arrows:,} arrows, more than the limit of {max_arrows:,}"
        raise LimitExceededError(what, hint=_HINT)
    try:
        data = _run(to_dot(graph), kind, max_seconds)
    except subprocess.TimeoutExpired:
        what = f"Graphviz takes more than {max_seconds:g} s for {len(graph.nodes):,} nodes and {n_arrows:,} arrows"
        raise LimitExceededError(what, hint=_HINT) from None
    if kind == "png":
        return _described(data, graph.description)
    return _accessible(data.decode("utf-8"), graph.description).encode("utf-8")


def to_svg(graph: Graph, *, max_arrows: int = MAX_ARROWS, max_seconds: float = MAX_SECONDS) -> str:
    """Return a picture of `graph` as an SVG element; see :func:`render`."""
    return render(graph, "svg", max_arrows=max_arrows, max_seconds=max_seconds).decode("utf-8")


def _run(dot: str, kind: str, max_seconds: float) -> bytes:
    arguments = [f"-{scope}{name}={value}" for scope, values in _SETTINGS.items() for name, value in values.items()]
    if shutil.which("dot") is not None:
        command = ["dot", f"-T{kind}", *arguments]
    elif find_spec("pygraphviz") is not None:
        command = [sys.executable, "-I", "-c", _BY_WHEEL, json.dumps([sys.path, kind, arguments])]
    else:
        what = "Graphviz, which draws the pictures, is not installed"
        raise TokdfaError(what, hint="install Graphviz, or pip install 'tokdfa[draw]', or write a .dot file")
    done = subprocess.run(command, input=dot.encode("utf-8"), capture_output=True, check=False, timeout=max_seconds)
    if done.returncode:
        raise TokdfaError("Graphviz fails", value=done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2])
    return done.stdout


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
