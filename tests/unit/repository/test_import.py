"""Importing tokdfa is cheap, and imports run one way."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import sources

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("program", ["import tokdfa", "import tokdfa.cli; tokdfa.cli.main(['--help'])"])
def test_light_uses_load_no_kernels(program: str) -> None:
    heavy = {"numpy", "_cffi_backend", "jsonschema", "tokdfa.kernels.library"}
    shown = f"print(sorted({heavy} & set(sys.modules)), file=sys.stderr)"
    check = f"import atexit, sys; atexit.register(lambda: {shown}); {program}"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_imports_run_one_way() -> None:
    lint = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run([sys.executable, "-c", lint], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout


def test_public_names_resolve() -> None:
    import tokdfa

    assert all(hasattr(tokdfa, name) for name in tokdfa.__all__)
    with pytest.raises(AttributeError):
        tokdfa.no_such_name  # noqa: B018


def test_public_names_are_listed_once_for_type_checkers_and_for_python() -> None:
    import tokdfa

    lines = Path(tokdfa.__file__).with_suffix(".pyi").read_text("utf-8").splitlines()[1:]
    expected = [f"from {module} import {name} as {name}" for name, module in tokdfa._HOMES.items()]
    assert [line for line in lines if line] == [*expected, "__version__: str"]


def imported(source: str) -> Iterator[str]:
    """Yield the names of the modules that a source imports, inside functions too."""
    for node in sources.statements(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def test_imports_are_found_wherever_they_are() -> None:
    source = "import a.b as c, d\nfrom e.f import g\ndef h():\n    from tests.i import j\nfrom . import k\n"
    assert {*imported(source)} == {"a.b", "d", "e.f", "tests.i"}


@pytest.mark.parametrize("folder", ["figures", "tokdfa"])
def test_only_tests_import_tests(folder: str) -> None:
    sources = sorted((ROOT / folder).rglob("*.py"))
    assert len(sources) > 10
    for path in sources:
        # Helpers of tests are imported as `support`, or from the top of the repository as `tests`.
        roots = {name.partition(".")[0] for name in imported(path.read_text(encoding="utf-8"))}
        assert not roots & {"tests", "support"}, path
