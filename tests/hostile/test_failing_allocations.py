"""Whatever a kernel cannot allocate: MemoryError, nothing is left over, and the object answers as before."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.support.preloaded import printed_with

KERNELS = Path(tokdfa.__file__).parent / "kernels"


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = printed_with("failing_allocations", tmp_path_factory.mktemp("library"))
    return found


def test_every_use_is_refused_and_answers_as_before(outcomes: dict[str, dict[str, Any]]) -> None:
    for name, outcome in outcomes.items():
        assert outcome["calls"] > 0, name
        assert outcome["refused"] > 0, name
        assert outcome["answered"] == 0, name
        assert outcome["wrong"] == [], name
        assert outcome["left"] == [], name


def test_every_function_that_can_lack_memory_has_been_without(outcomes: dict[str, dict[str, Any]]) -> None:
    met = {function for outcome in outcomes.values() for function in outcome["functions"]}
    expected = set()
    for path in KERNELS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name != "check_memory" and _can_lack_memory(node):
                expected.add(f"{path.relative_to(KERNELS)}:{node.name}")
    assert len(expected) > 10
    assert met == expected


def _can_lack_memory(function: ast.FunctionDef) -> bool:
    calls = {
        node.func.id for node in ast.walk(function) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return not calls.isdisjoint({"check_memory", "MemoryError"})
