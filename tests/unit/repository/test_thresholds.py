"""Thresholds are passed in, as `Tuning` values: no test assigns a constant of a module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.support import sources

TESTS = Path(__file__).parents[2]
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")


def assigned_constants(source: str) -> Iterator[str]:
    """Yield the constants that are assigned as attributes, by ``setattr`` or by a statement."""
    for node in ast.walk(ast.parse(source)):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Call) and sources.called(node) == "setattr":
            # Of an object and a name, or of a path with the name at its end.
            name = next((each.value for each in node.args[:2] if isinstance(each, ast.Constant)), "")
            if CONSTANT.fullmatch(str(name).rpartition(".")[2]):
                yield str(name)
        elif isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            targets = [node.target]
        for target in targets:
            for each in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                if isinstance(each, ast.Attribute) and CONSTANT.fullmatch(each.attr):
                    yield ast.unparse(each)


def test_what_assigns_a_constant_is_found() -> None:
    source = """
monkeypatch.setattr(module, "WINDOW", 3)
patch.setattr("tokdfa.a.b._MOST_PAIRS", 0)
setattr(module, "_MAX2", 1)
module.BLOCK, other.CHUNK = 1, 2
WINDOW = 3
monkeypatch.setattr("shutil.which", "NONE")
self.window = WINDOW
module.MAX += 1
"""
    found = ["WINDOW", "tokdfa.a.b._MOST_PAIRS", "_MAX2", "module.BLOCK", "other.CHUNK", "module.MAX"]
    assert sorted(assigned_constants(source)) == sorted(found)


def test_no_test_assigns_a_constant() -> None:
    paths = sorted(TESTS.rglob("*.py"))
    assert len(paths) > 100
    found = [
        f"{name} in {path.relative_to(TESTS)}"
        for path in paths
        if path != Path(__file__)
        for name in assigned_constants(path.read_text(encoding="utf-8"))
    ]
    assert not found, "pass a Tuning: " + ", ".join(found)
