"""Run the kernels with everything checked: ``python -m tests.campaigns.sanitizers``.

`.ci/run` does ``--quick --only tests``.

Three builds, each stopping at the first error; nothing is suppressed:

- `tests`: a copy of the repository, its library compiled with ``-fsanitize=address,undefined``, runs the tests of the
  kernels, and, unless it is to be quick, the differential and the hostile ones. libasan and libstdc++ are preloaded
  (libraries that are compared with throw); leaks of Python itself are not looked for.
- `allocations`: the targets of `tests/campaigns/fuzzing` on their corpora, with every allocation of the kernels failing
  in turn, under AddressSanitizer, UndefinedBehaviorSanitizer and LeakSanitizer: all that is built is used and given
  back.
- `threads`: the same targets with eight threads, under ThreadSanitizer, and two threads of Python that share a
  tokenizer; see `shared.py`.

Where the environment variable TOKDFA_LEDGER names a file, each run is added to it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.campaigns.evidence.ledger import ledger_named, record
from tests.campaigns.fuzzing.corpus import unpack
from tests.campaigns.fuzzing.kernels.build import CHECKED, ROOT, TARGETS, BuildError, program, sanitizing_compiler

QUICK = ["tests/unit/kernels", "tests/unit/tokenizers/models/unigram/test_segmenter.py"]
FULL = [*QUICK, "tests/differential", "tests/hostile"]
# They start compilers, fork under limits of memory that the checked library exceeds by far, or count used memory.
APART = ["tests/unit/kernels/backend"]
FAILING = [f"-D{name}=failing_{name}" for name in ("malloc", "calloc", "realloc")]


def _run(command: list[str], **environment: str) -> int:
    print("$", *command, flush=True)
    return subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=False).returncode


def run_allocations(folder: Path, options: argparse.Namespace) -> int:
    """Run the corpora with failing allocations; see `allocations.c`."""
    command = sanitizing_compiler("address,undefined")
    flags = ["-O1", *CHECKED, "-fsanitize=address,undefined"]
    made = program(folder / "allocations", "allocations.c", TARGETS, command, kernels=[*flags, *FAILING], own=flags)
    return _run([str(made), *_corpora(folder)], ASAN_OPTIONS="detect_leaks=1")


def run_threads(folder: Path, options: argparse.Namespace) -> int:
    """Run the corpora with eight threads, see `threads.c`, and threads of Python, see `shared.py`."""
    command = sanitizing_compiler("thread")
    flags = ["-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=thread"]
    made = program(folder / "threads", "threads.c", TARGETS, command, kernels=flags, own=[*flags, "-pthread"])
    status = _run([str(made), *_corpora(folder)], TSAN_OPTIONS="halt_on_error=1")
    copy = _copied(folder, [*command, "-fsanitize=thread"])
    watched = {"LD_PRELOAD": _library(command, "libtsan.so"), "PYTHONPATH": str(copy)}
    # The threads of libraries that are not compiled so would be taken for races.
    watched |= {"OPENBLAS_NUM_THREADS": "1", "TSAN_OPTIONS": "halt_on_error=1"}
    return status or _run([sys.executable, str(copy / "tests/campaigns/sanitizers/shared.py")], **watched)


def run_tests(folder: Path, options: argparse.Namespace) -> int:
    """Run tests in a copy of the repository with a checked library."""
    compiler = sanitizing_compiler("address,undefined")
    copy = _copied(folder, compiler, "--sanitize", "--werror")
    preloaded = [_library(compiler, name) for name in ("libasan.so", "libstdc++.so")]
    tests = options.tests or (QUICK if options.quick else FULL)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    command += [f"--deselect={path}" for path in APART] + (["-n", str(options.jobs)] if options.jobs > 1 else [])
    print("$", *command, flush=True)
    environment = {
        "LD_PRELOAD": " ".join(preloaded),
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONPATH": str(copy),
        "HYPOTHESIS_PROFILE": "faults" if options.quick else "default",
    }
    return subprocess.run(command, cwd=copy, env=os.environ | environment, check=False).returncode


def _copied(folder: Path, compiler: list[str], *options: str) -> Path:
    """Copy the repository, and compile its library in the copy."""
    copy = folder / "tokdfa"
    ignored = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", "build", "_kernels.*", "_ffi.py")
    shutil.copytree(ROOT, copy, ignore=ignored, symlinks=True)
    build = [sys.executable, str(copy / "tokdfa/kernels/backend/compile.py"), *options]
    subprocess.run(build, check=True, env=os.environ | {"CC": " ".join(compiler)})
    return copy


def _library(compiler: list[str], name: str) -> str:
    """Return where a library of the compiler is."""
    asked = [*compiler, f"-print-file-name={name}"]
    found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(found).is_absolute():
        raise BuildError(f"{name} is missing: apt-get install gcc g++")
    return str(Path(found).resolve())


def _corpora(folder: Path) -> list[str]:
    return [str(unpack(target, folder / "corpora")) for target in TARGETS]


PARTS: dict[str, Callable[[Path, argparse.Namespace], int]] = {
    "allocations": run_allocations,
    "threads": run_threads,
    "tests": run_tests,
}


def main() -> int:
    """Run the parts; status 1 if one of them fails, 0 if all is well or if the compiler is missing, which is said."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.sanitizers", description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--only", choices=PARTS, action="append", help="by default all")
    parser.add_argument("--quick", action="store_true", help="only the tests of the kernels, with few examples")
    parser.add_argument("--jobs", type=int, default=1, help="how many tests to run at a time")
    parser.add_argument("tests", nargs="*", help="which tests to run instead")
    options = parser.parse_args()
    failed = []
    for name in options.only or PARTS:
        start, spent = time.monotonic(), sum(os.times()[:4])
        with tempfile.TemporaryDirectory() as folder:
            try:
                status = PARTS[name](Path(folder), options)
            except BuildError as error:
                print(f"NOT RUN: {name}: {error}", flush=True)
                continue
        if (ledger := ledger_named()) is not None:
            campaign = f"python -m tests.campaigns.sanitizers --only {name}" + " --quick" * options.quick
            seconds = sum(os.times()[:4]) - spent
            record(
                campaign, "kernels", "sanitizer runs", 1, differences=int(status != 0), cpu_seconds=seconds, path=ledger
            )
        print(f"{name}: {'fails' if status else 'passed'}, {time.monotonic() - start:.0f} s", flush=True)
        failed += [name] if status else []
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
