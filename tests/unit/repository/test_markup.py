"""The markup of docstrings: each is well-formed reStructuredText, which the documentation site needs."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("docutils", reason="docutils, which the extra `test` has, is not installed")

from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser
from docutils.utils import new_document

from tests.support import sources

ROOT = Path(__file__).parents[3]
# Roles of Sphinx, which docutils does not know.
ROLES = re.compile(r":(?:py:)?(?:attr|class|data|exc|func|meth|mod|obj|ref):(?=`)")
# The sections of numpydoc in which entries may follow one another without a blank line.
LISTS = re.compile(r"^(?:Attributes|Parameters|Raises|Returns|Yields)\n-+$", re.MULTILINE)
# In the help of a command, lines that click keeps as they are.
BLOCK_OF_CLICK = re.compile(r"^\\b\n(.+):$\n", re.MULTILINE)
HEADING = re.compile(r"^[A-Z][A-Za-z ]+\n-{3,}$", re.MULTILINE)

# A line of words has no markup, and every second docstring is one.
PLAIN = re.compile(r"[A-Z][A-Za-z0-9 ,;.()'-]*")


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each docstring of the package."""
    for path in sorted((ROOT / "tokdfa").rglob("*.py")):
        for node in sources.statements(path.read_text("utf-8")):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                yield f"{path.relative_to(ROOT).as_posix()}, {getattr(node, 'name', 'module')}", text


def plain(text: str) -> str:
    """Return a docstring as docutils alone can read it: roles, entries, ``**fields``, |Q|, blocks of click."""
    text = ROLES.sub("", inspect.cleandoc(text))
    text = BLOCK_OF_CLICK.sub(r"\1::\n\n", text)
    for heading in reversed([*LISTS.finditer(text)]):
        after = HEADING.search(text, heading.end())
        end = after.start() if after else len(text)
        entries = re.sub(r"\n(?=\S)", "\n\n", text[heading.end() : end])
        entries = re.sub(r"^\*+", lambda stars: stars[0].replace("*", r"\*"), entries, flags=re.MULTILINE)
        text = text[: heading.end()] + entries + text[end:]
    lines = []
    for line in text.split("\n"):
        parts = re.split(r"(`+[^`]*`+)", line)
        lines.append("".join(part if part.startswith("`") else part.replace("|", r"\|") for part in parts))
    return "\n".join(lines)


def faults(text: str) -> list[str]:
    """Return what docutils reports about a docstring, warnings and errors."""
    document = new_document("docstring", SETTINGS.copy())
    PARSER.parse(plain(text), document)
    return [node.astext() for node in document.findall(nodes.system_message) if node["level"] >= 2]


PARSER = Parser()
SETTINGS = get_default_settings(Parser)
SETTINGS.report_level = 5  # Nothing is printed; the reports are in the document.
SETTINGS.halt_level = 6


def test_docstrings_are_well_formed() -> None:
    found = [(place, [] if PLAIN.fullmatch(text) else faults(text)) for place, text in docstrings()]
    assert len(found) > 1500
    assert [(place, wrong) for place, wrong in found if wrong] == []


@pytest.mark.parametrize(
    "text",
    [
        "A *star.",
        "A `word.",
        "Take:\n- one\n  - two\n three",
        "Some of it.\n\nParameters\n----------\nx : int\n    One.\n  Two.\n",
        "A :class:`name.",
    ],
)
def test_broken_markup_is_found(text: str) -> None:
    assert faults(text)


@pytest.mark.parametrize(
    "text",
    [
        "|Q| states.",
        "See :func:`f`.",
        "Some of it.\n\nParameters\n----------\nx : int\n*y : int\n    Y.\n**z\n    Z.\n",
    ],
)
def test_what_sphinx_and_numpydoc_know_is_no_fault(text: str) -> None:
    assert not faults(text)
