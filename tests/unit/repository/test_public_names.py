"""Every public name has a signature, a docstring with an example that runs, and a place in the reference."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support import sources
from tests.support.site import site

ROOT = Path(__file__).parents[3]
NAMES = sorted(set(tokdfa.__all__) - {"__version__"})
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# One answer, or an array of them: for each token whether it is so.
ANSWERS = {"bool", "BoolArray"}


def source(name: str) -> Path:
    found = inspect.getsourcefile(inspect.unwrap(getattr(tokdfa, name)))
    assert found is not None
    return Path(found)


def run_examples(name: str) -> tuple[int, str]:
    """Run the examples of a public name, and return their number and a report of the failures."""
    found = doctest.DocTestFinder(recurse=False).find(
        getattr(tokdfa, name), name, globs={"tokdfa": tokdfa, "np": np}, module=False
    )
    report: list[str] = []
    n_run = 0
    for test in found:
        assert not any(doctest.SKIP in example.options for example in test.examples), f"{name}: an example is left out"
        n_run += len(test.examples)
        doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.append)
    return n_run, "".join(report)


@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_called_as_its_signature_says(name: str) -> None:
    value = getattr(tokdfa, name)
    assert callable(value)
    for parameter in inspect.signature(value).parameters.values():
        assert parameter.kind is not parameter.VAR_KEYWORD, f"{name}: which options there are is not said"


@pytest.mark.parametrize("name", NAMES)
def test_its_docstring_has_an_example_that_runs(name: str) -> None:
    value = getattr(tokdfa, name)
    assert value.__doc__, name
    # A docstring of numpy's form: a sentence, and headings that are underlined.
    assert re.match(r"\s*[A-Z].*[.:]\n", value.__doc__), name
    assert re.search(r"\n *Examples\n *--------\n", value.__doc__), name
    n_run, wrong = run_examples(name)
    assert n_run > 0, name
    assert not wrong, wrong


def test_an_example_that_is_wrong_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokdfa.Rule, "__doc__", ">>> tokdfa.Rule('a', 'b').product\n'ba'\n")
    n_run, wrong = run_examples("Rule")
    assert n_run == 1
    assert "Got:\n    'ab'" in wrong


@pytest.mark.parametrize("name", NAMES)
def test_its_place_in_the_reference_is_that_of_its_module(name: str) -> None:
    path = source(name).relative_to(ROOT)
    module = sys.modules[".".join(path.with_suffix("").parts)]
    assert name in module.__all__
    assert not any(part.startswith("_") for part in path.parts)
    assert name in site("reference").members(module)
    assert module.__name__ in site("reference").public_modules()


def answers(path: Path) -> list[tuple[str, str]]:
    """The functions of a file with names that begin with is_, and their return types."""
    text = path.read_text("utf-8")
    nodes = sources.statements(text) if "def is_" in text else ()
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name.startswith("is_")]
    return [(node.name, "" if node.returns is None else ast.unparse(node.returns)) for node in functions]


def test_no_options_go_through_unnamed() -> None:
    # A struct of the kernels has the fields that its declaration in C has; the others wrap any
    # command, or any function that a template calls.
    allowed = {
        "tokdfa/kernels/library.py",
        "tokdfa/cli/loading.py",
        "tokdfa/jobs/templates/child.py",
    }
    found = set()
    for path in sorted((ROOT / "tokdfa").rglob("*.py")):
        text = path.read_text("utf-8")
        for node in sources.statements(text) if "**" in text else ():
            if isinstance(node, ast.FunctionDef) and node.args.kwarg is not None:
                annotation = node.args.kwarg.annotation
                if annotation is None or ast.unparse(annotation) == "Any":
                    found.add(path.relative_to(ROOT).as_posix())
    assert found == allowed


def test_is_answers_true_or_false() -> None:
    found = [answer for path in sorted((ROOT / "tokdfa").rglob("*.py")) for answer in answers(path)]
    assert len(found) > 20
    assert {name: returned for name, returned in found if returned not in ANSWERS} == {}
