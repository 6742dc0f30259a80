"""The targets of the kernels: all inputs kept by fuzzing are run again, with every allocation failing in turn."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.campaigns.fuzzing.corpus import inputs, unpack
from tests.campaigns.fuzzing.kernels.build import (
    CHECKED,
    HERE,
    OWN,
    TARGETS,
    BuildError,
    compiler_of_this_machine,
    program,
    sanitizing_compiler,
)
from tests.campaigns.fuzzing.kernels.machines import write as write_machines
from tests.campaigns.fuzzing.kernels.run import KEPT_BYTES
from tests.campaigns.sanitizers.__main__ import FAILING


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        command = sanitizing_compiler("address,undefined")
    except BuildError as error:
        pytest.skip(str(error))
    flags = ["-O1", *CHECKED, "-fsanitize=address,undefined"]
    folder = tmp_path_factory.mktemp("targets")
    return program(folder, "allocations.c", TARGETS, command, kernels=[*flags, *FAILING], own=flags)


# `python -m tests.campaigns.sanitizers --quick` does the same.
@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_nothing_that_was_kept_fails(target: str, driver: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [driver, unpack(target, tmp_path)], capture_output=True, text=True, errors="replace", check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.startswith(f"{target}: {len(inputs(target))} inputs"), done.stdout
    n_failing = int(done.stdout.split(", ")[1].split()[0])
    # These take no memory of their own.
    assert (n_failing > 20) == (
        target not in ("walk", "documents", "normalization", "replacing", "models", "ngrams")
    ), done.stdout


# Whoever changes a struct or a function of a kernel learns here which targets use it, not when they next run.
def test_every_target_compiles(tmp_path: Path) -> None:
    command = compiler_of_this_machine()
    if command is None:
        pytest.skip("needs a C compiler: apt-get install gcc")
    write_machines(tmp_path / "machines.h")
    sources = [HERE / f"{target}.c" for target in TARGETS]
    line = [*command, *OWN, "-fsyntax-only", f"-I{tmp_path}", *sources]
    done = subprocess.run(line, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stderr[:4000]


@pytest.mark.parametrize("target", TARGETS)
def test_corpora_are_small(target: str) -> None:
    sizes = [len(data) for data in inputs(target).values()]
    assert 40 < len(sizes) < 500
    assert sum(sizes) <= KEPT_BYTES
