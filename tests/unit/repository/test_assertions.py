"""Tests show what they assert: each in its own body, or by a helper named assert_…, and in a name that says it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import sources

TESTS = Path(__file__).parents[2]
FILES = sorted(TESTS.rglob("test_*.py"))
SHORTEST = 16


def functions_of(source: str) -> Iterator[ast.FunctionDef]:
    """Yield the functions of a source that pytest runs."""
    for node in sources.statements(source):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node


def asserts(test: ast.FunctionDef) -> bool:
    """Whether a test has an assertion: `assert`, `pytest.raises` or a helper with a name that begins with assert_."""
    nodes = [*ast.walk(test)]
    names = [sources.called(node) for node in nodes if isinstance(node, ast.Call)]
    return any(isinstance(node, ast.Assert) for node in nodes) or any(
        name in ("raises", "warns") or name.startswith("assert_") for name in names
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(TESTS)))
def test_a_test_asserts_in_its_body_what_its_name_says(file: Path) -> None:
    found = [*functions_of(file.read_text("utf-8"))]
    assert [test.name for test in found if not asserts(test)] == []
    assert [test.name for test in found if len(test.name) < SHORTEST] == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [("check(x)", False), ("assert x", True), ("assert_equal(x)", True), ("with pytest.raises(E): f()", True)],
)
def test_a_test_without_an_assertion_is_noticed(body: str, expected: bool) -> None:
    assert len(FILES) > 300
    (test,) = functions_of(f"def test_x():\n    {body}\n")
    assert asserts(test) == expected
