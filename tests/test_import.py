"""Importing tokdfa is cheap, and imports run one way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("program", ["import tokdfa", "import tokdfa.cli; tokdfa.cli.main(['--help'])"])
def test_light_uses_load_no_kernels(program: str) -> None:
    shown = "print(sorted({'numpy', '_cffi_backend', 'tokdfa.kernels.library'} & set(sys.modules)), file=sys.stderr)"
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
