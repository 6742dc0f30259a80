"""Reads and writes that fail: the message names that file, and no part of an output is left."""

from __future__ import annotations

import errno
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


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    if platform.libc_ver()[0] != "glibc" or "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("calls are made to fail by a library that replaces those of glibc")
    command = compiler_of_this_machine()
    if command is None:
        pytest.skip("the library that lets calls fail needs a C compiler")
    shim = tmp_path_factory.mktemp("shim") / "failing_calls.so"
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    subprocess.run([*command, *flags, str(SUPPORT / f"{shim.stem}.c"), "-o", str(shim)], check=True)
    done = subprocess.run(
        [sys.executable, str(SUPPORT / f"{shim.stem}.py")],
        env=os.environ | {"LD_PRELOAD": str(shim), "PYTHONPATH": str(Path(tokdfa.__file__).parents[1])},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_the_file_that_failed_is_named(failures: list[dict[str, Any]]) -> None:
    for failure in failures:
        first, *_ = failure["said"].splitlines()
        named = first.removesuffix(f": {os.strerror(errno.EIO)}")
        assert named != first, failure
        assert named.split(": ")[-1] == failure["file"], failure
        assert failure["status"] == 2, failure
    assert {failure["command"] for failure in failures} > {"encode", "replace", "replace in files", "train", "convert"}


def test_later_calls_and_calls_while_writing_fail_too(failures: list[dict[str, Any]]) -> None:
    assert sum(failure["first"] > 0 for failure in failures) > 10
    assert not any(failure["is_left"] for failure in failures)
