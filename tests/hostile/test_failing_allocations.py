"""Whatever a kernel cannot allocate: MemoryError, nothing is left over, and the object answers as before."""

from __future__ import annotations

import ast
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests import support
from tests.campaigns.fuzzing.kernels.build import compiler_of_this_machine

SUPPORT = Path(support.__file__).parent
KERNELS = Path(tokdfa.__file__).parent / "kernels"


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    if platform.libc_ver()[0] != "glibc":
        pytest.skip("allocations are made to fail by a library that replaces those of glibc")
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip(
            "AddressSanitizer has its own allocations; `python -m tests.campaigns.sanitizers` lets those fail in C"
        )
    command = compiler_of_this_machine()
    if command is None:
        pytest.skip("the library that lets allocations fail needs a C compiler")
    shim = tmp_path_factory.mktemp("shim") / "failing_allocations.so"
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    subprocess.run([*command, *flags, str(SUPPORT / f"{shim.stem}.c"), "-o", str(shim)], check=True)
    done = subprocess.run(
        [sys.executable, str(SUPPORT / f"{shim.stem}.py")],
        env=os.environ | {"LD_PRELOAD": str(shim), "PYTHONPATH": str(KERNELS.parents[1])},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
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
