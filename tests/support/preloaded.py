"""Processes with a small C library loaded before all others, which makes some of their calls fail."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.campaigns.fuzzing.kernels.build import compiler_of_this_machine

_FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared")


def printed_with(name: str, folder: Path) -> Any:
    """Return the JSON that ``NAME.py`` of this folder prints, run with the library of ``NAME.c``.

    The test is skipped where there is no glibc or no compiler, and under AddressSanitizer, which replaces calls itself.
    """
    if platform.libc_ver()[0] != "glibc" or "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("calls are made to fail by a library in place of glibc")
    command = compiler_of_this_machine()
    if command is None:
        pytest.skip("the library that lets calls fail needs a C compiler")
    library, support = folder / f"{name}.so", Path(__file__).parent
    subprocess.run([*command, *_FLAGS, str(support / f"{name}.c"), "-o", str(library)], check=True)
    done = subprocess.run(
        [sys.executable, str(support / f"{name}.py")],
        env=os.environ | {"LD_PRELOAD": str(library), "PYTHONPATH": str(Path(tokdfa.__file__).parents[1])},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)
