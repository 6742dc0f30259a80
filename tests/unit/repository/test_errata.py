"""The page of errata: every erratum says the same four things, and the tests that it names are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[3] / "notebooks"
ERRATA = re.findall(
    r"^### (.*?)(?=^##)", (NOTEBOOKS / "errata.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
TESTS = {
    path: {node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)}
    for path in NOTEBOOKS.parent.glob("tests/paper/test_*.py")
}


def linked(text: str) -> list[tuple[str, Path]]:
    """The tests that a text names, each with its file."""
    found = re.findall(r"\[`(test_\w+\.py)::(test_\w+)`\]\(([^)]+)\)", text)
    assert all(path.endswith(f"/{file}") for file, _, path in found)
    return [(name, NOTEBOOKS / path) for _, name, path in found]


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda erratum: erratum.splitlines()[0])
def test_an_erratum_has_its_four_parts_and_its_tests(erratum: str) -> None:
    assert re.findall(r"^- \*\*(\w+):\*\*", erratum, re.MULTILINE) == [
        "Printed",
        "Counterexample",
        "Repaired",
        "Tests",
    ]
    tests = erratum.partition("- **Tests:**")[2]
    named = linked(tests)
    assert len(named) == tests.count("](") > 0
    for name, path in named:
        assert name in TESTS[path.resolve()], f"{path.name} has no {name}"


def test_the_page_names_every_test_of_a_smallest_counterexample() -> None:
    named = {name for erratum in ERRATA for name, _ in linked(erratum)}
    smallest = {name for path, names in TESTS.items() if path.stem.endswith("_errata") for name in names}
    smallest = {name for name in smallest if name.startswith("test_")}
    assert len(ERRATA) > 20
    assert len(smallest) > 15
    assert smallest <= named
