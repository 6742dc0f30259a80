"""Only methods that answer or show have imports that run upwards; without these no module needs itself."""

from __future__ import annotations

import ast
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import grimp
import networkx as nx
import pytest

from tokdfa.tokenizers.formats import reading

ROOT = Path(__file__).parents[3]
FORMATS = "tokdfa.tokenizers.formats"
# Within one package: the methods of a token DFA that write it out, minimize it, or return it as a graph.
WITHIN = {
    ("tokdfa.automata.token_dfa", "tokdfa.automata.explicit"),
}
# Public names, commands and readers of files on first use, the parser of the standard library; whether jinja2 and
# pygraphviz are installed.
BY_STRING = {
    "tokdfa/__init__.py",
    "tokdfa/cli/group.py",
    "tokdfa/draw/render.py",
    "tokdfa/regex/syntax.py",
    "tokdfa/jobs/templates/rendering.py",
    "tokdfa/tokenizers/formats/reading.py",
}


def imports_by_string(source: str) -> bool:
    """Whether a source has a function that imports a module by a string."""
    names = {"import_module", "__import__", "importlib"}
    for node in ast.walk(ast.parse(source)) if any(name in source for name in names) else ():
        if isinstance(node, ast.Name | ast.Attribute):
            found = {node.id if isinstance(node, ast.Name) else node.attr}
        elif isinstance(node, ast.Import):
            found = {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found = {(node.module or "").partition(".")[0]}
        else:
            continue
        # These two find files and versions, not modules.
        harmless = ("importlib.resources", "importlib.metadata")
        if names & found and not (isinstance(node, ast.ImportFrom) and node.module in harmless):
            return True
    return False


@pytest.fixture(scope="module")
def graph() -> nx.DiGraph[str]:
    """Which module imports which one, inside functions too, but for imports that only types need."""
    found = grimp.build_graph("tokdfa", exclude_type_checking_imports=True, cache_dir=None)
    edges: nx.DiGraph[str] = nx.DiGraph()
    edges.add_edges_from(
        (name, other) for name in found.modules for other in found.find_modules_directly_imported_by(name)
    )
    edges.add_edges_from((reading.__name__, f"{FORMATS}.{module}") for module, _ in reading.READERS.values())
    return edges


def cycles(graph: nx.DiGraph[str]) -> list[list[str]]:
    """The sets of modules that need each other, the largest first."""
    found = (sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1)
    return sorted(found, key=len, reverse=True)


@pytest.mark.parametrize(
    "source",
    [
        "from importlib import import_module as find",
        "import importlib.util",
        "def f():\n    return __import__('tokdfa.draw')",
        "import tokdfa as t\nt.import_module('a')",
    ],
)
def test_imports_by_string_are_noticed(source: str) -> None:
    assert imports_by_string(source)
    assert not imports_by_string("from importlib.resources import files\nimport tokdfa.draw")


def test_nothing_imports_by_string_but_what_is_listed() -> None:
    sources = sorted((ROOT / "tokdfa").rglob("*.py"))
    assert len(sources) > 200
    found = {str(path.relative_to(ROOT).as_posix()) for path in sources if imports_by_string(path.read_text("utf-8"))}
    assert found == BY_STRING


def test_no_module_needs_itself_but_by_methods_that_answer(graph: nx.DiGraph[str]) -> None:
    assert len(graph) > 200
    assert cycles(graph)
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    ignored = [pair.split(" -> ") for pair in contracts[0]["ignore_imports"]]
    upward = {(a, b) for a, b in graph.edges for name, other in ignored if a == name and fnmatch(b, other)}
    assert len(upward) >= len(ignored)
    graph.remove_edges_from(upward | WITHIN)
    assert cycles(graph) == []
