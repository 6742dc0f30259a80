"""Prove the tests by faults: ``python -m tests.campaigns.mutation --size 200``, then ``--stage all``.

Plants small faults in the modules of `subjects.py`, one at a time and in a copy of the repository, and runs the tests
of the module on each, with few examples (``--stage own``). What survives is planted together, and the whole suite is
run once; then each fault by itself meets the tests that failed (``--stage all``). A fault is caught when a test fails,
when the tests cannot be collected, and when they take far longer than without it. What still survives is to be judged:
a gap gets its test; a fault that changes nothing that is promised goes to `equivalent.json`, with the reason.

The sample is the first faults in the order of a hash of the seed and the fault's description, so that a larger sample
contains the smaller one, and edits elsewhere change nothing. Outcomes are written to a file, one JSON object a line,
and faults already in it are not run again. Where the environment variable TOKDFA_LEDGER names a file, the results
of the sample are added to it.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.campaigns.evidence.ledger import ledger_named, record
from tests.campaigns.mutation.mutants import Mutant, mutants
from tests.campaigns.mutation.subjects import ROOT, files, tests_of

EQUIVALENT = Path(__file__).with_name("equivalent.json")
STAGES = ("own", "all")
# Loaded once, before the tests of each fault are run in a fork.
LOADED = ("numpy", "hypothesis", "regex", "networkx", "click", "rich", "tokdfa.kernels.library")
MEMORY = 8 << 30
FAILED = Path("mutation-failed.txt")


def sample(size: int, seed: int, subject: str = "") -> list[Mutant]:
    """Return the first faults in the order of the seed, for files with `subject` in their paths."""
    every = [
        mutant
        for file in files()
        if subject in file
        for mutant in mutants(file, (ROOT / file).read_text(encoding="utf-8"))
    ]
    return sorted(every, key=lambda mutant: hashlib.sha256(f"{seed} {mutant.key}".encode()).digest())[:size]


def copied(tree: Path) -> None:
    """Copy the repository, times of files included, so that compiled files stay compiled."""
    ignored = shutil.ignore_patterns(".git", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis")
    shutil.copytree(ROOT, tree, ignore=ignored, symlinks=True, dirs_exist_ok=True)


def load(tree: Path) -> None:
    """Import what no fault is planted in."""
    os.chdir(tree)
    sys.path[:] = [str(tree), *(path for path in sys.path if path and Path(path).resolve() != ROOT)]
    for name in [name for name in sys.modules if name.split(".")[0] in ("tests", "tokdfa")]:
        del sys.modules[name]
    os.environ["PYTHONPATH"] = str(tree)
    for name in LOADED:
        importlib.import_module(name)
    subjects = {file.removesuffix(".py").replace("/", ".") for file in files()}
    if early := subjects & set(sys.modules):
        raise SystemExit(f"imported before a fault is planted: {', '.join(sorted(early))}")
    gc.freeze()


class Failures:
    """A plugin of pytest that writes down which tests fail."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Write the test down."""
        if report.failed:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(report.nodeid + "\n")


def run(tests: list[str], timeout: float, *, to_the_end: bool = False) -> tuple[str, float]:
    """Run tests in a fork, up to the first failure: "passed", "failed", "timeout" or another reason for the end."""
    start = time.monotonic()
    FAILED.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        os.setsid()
        output = os.open("mutation-output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(output, stream)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        sys.dont_write_bytecode = True
        import pytest

        # Tests may change the folder.
        failures = Failures(FAILED.resolve())
        quiet = ["-q", "--tb=short", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
        os._exit(int(pytest.main([*quiet, *([] if to_the_end else ["-x"]), *tests], plugins=[failures])))
    while time.monotonic() - start < timeout:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            code = os.waitstatus_to_exitcode(status)
            return {0: "passed", 1: "failed"}.get(code, f"status {code}"), time.monotonic() - start
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "timeout", time.monotonic() - start


@contextmanager
def planted(faults: list[Mutant], tree: Path) -> Iterator[None]:
    """Plant faults in the copy; they must not overlap."""
    kept: dict[Path, tuple[bytes, os.stat_result]] = {}
    try:
        for mutant in sorted(faults, key=lambda mutant: (mutant.file, -mutant.start)):
            path = tree / mutant.file
            if path not in kept:
                kept[path] = path.read_bytes(), path.stat()
                for stale in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
                    stale.unlink()
            path.write_bytes(mutant.applied(path.read_bytes()))
        yield
    finally:
        for path, (source, times) in kept.items():
            path.write_bytes(source)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def apart(faults: list[Mutant]) -> list[list[Mutant]]:
    """Return groups of faults that do not overlap."""
    groups: list[list[Mutant]] = []
    for mutant in faults:
        for group in groups:
            if all(m.file != mutant.file or m.end <= mutant.start or mutant.end <= m.start for m in group):
                group.append(mutant)
                break
        else:
            groups.append([mutant])
    return groups


def failing_together(faults: list[Mutant], tree: Path, tests: list[str]) -> list[str]:
    """Return the tests that fail when these faults are all planted, and do not fail without them."""
    with planted(faults, tree):
        outcome, taken = run(tests, 3600 * 4, to_the_end=True)
    found = sorted(set(FAILED.read_text(encoding="utf-8").splitlines())) if FAILED.exists() else []
    print(f"{len(faults)} faults together: {outcome}, {len(found)} tests fail, {taken:.0f} s", flush=True)
    if outcome not in ("passed", "failed"):
        if len(faults) == 1:
            return tests
        half = len(faults) // 2
        parts = [failing_together(part, tree, tests) for part in (faults[:half], faults[half:])]
        return sorted({test for part in parts for test in part})
    if found and run(found, 3600, to_the_end=True)[0] != "passed":
        fail_anyway = set(FAILED.read_text(encoding="utf-8").splitlines())
        print("fail without any fault:", *sorted(fail_anyway), sep="\n    ", flush=True)
        found = [test for test in found if test not in fail_anyway]
    return found


def main() -> int:
    """Run a stage over a sample; status 1 if faults survive that nobody has judged."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.mutation", description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--size", type=int, default=200, help="the number of faults")
    parser.add_argument("--skip", type=int, default=0, help="the number of faults to skip at the beginning")
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--subject", default="", help="only files whose path contains this")
    parser.add_argument("--stage", choices=STAGES, default="own", help="which tests; `all` is for survivors")
    parser.add_argument("--outcomes", type=Path, default=Path("mutation-outcomes.jsonl"))
    parser.add_argument("--tree", type=Path, help="where the copy of the repository goes; by default a new folder")
    parser.add_argument("--tests", nargs="+", help="what `--stage all` runs, instead of the whole suite")
    parser.add_argument("--fault", help="only faults whose key contains this")
    parser.add_argument("--list", action="store_true", help="list the faults and run nothing")
    options = parser.parse_args()
    ledger = ledger_named()
    chosen = sample(options.size, options.seed, options.subject)[options.skip :]
    chosen = [mutant for mutant in chosen if (options.fault or "") in mutant.key]
    if options.list:
        print(*(mutant.key for mutant in chosen), sep="\n")
        return 0
    outcomes = options.outcomes.resolve()
    known: dict[str, dict[str, str]] = {}
    if outcomes.exists():
        for line in outcomes.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            known.setdefault(entry["fault"], {})[entry["stage"]] = entry["outcome"]
    with tempfile.TemporaryDirectory() as folder:
        tree = (options.tree or Path(folder)).resolve()
        copied(tree)
        load(tree)
        waiting = [
            mutant
            for mutant in chosen
            if options.stage not in known.setdefault(mutant.key, {})
            and (options.stage == "own" or known[mutant.key].get("own") == "passed")
        ]
        os.environ["HYPOTHESIS_PROFILE"] = {"own": "faults", "all": "default"}[options.stage]
        tests = {file: tests_of(file) for file in files()}
        if options.stage == "all":
            for group in apart(waiting):
                found = failing_together(group, tree, options.tests or ["tests"])
                tests |= {mutant.key: found for mutant in group}
        seconds: dict[frozenset[str], float] = {}
        for number, mutant in enumerate(waiting, 1):
            chosen_tests = tests[mutant.file if options.stage == "own" else mutant.key]
            outcome, taken = "passed", 0.0
            if chosen_tests:
                key = frozenset(chosen_tests)
                if key not in seconds:
                    outcome, seconds[key] = run(chosen_tests, 3600)
                    if outcome != "passed":
                        print((tree / "mutation-output.txt").read_text(encoding="utf-8"), file=sys.stderr)
                        raise SystemExit(f"without any fault: {outcome}")
                with planted([mutant], tree):
                    outcome, taken = run(chosen_tests, 30 + 5 * seconds[key])
            known[mutant.key][options.stage] = outcome
            with outcomes.open("a", encoding="utf-8") as file:
                entry = {"fault": mutant.key, "stage": options.stage, "outcome": outcome, "seconds": round(taken, 1)}
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
            print(f"{number}/{len(waiting)} {outcome} {taken:.0f} s {mutant.line} {mutant.key}", flush=True)
    caught, unjudged = report(chosen, known)
    if ledger is not None:
        campaign = f"python -m tests.campaigns.mutation --size {options.size} --seed {options.seed}"
        campaign += f" --skip {options.skip}" * bool(options.skip) + f" --subject {options.subject}" * bool(
            options.subject
        )
        seconds = sum(os.times()[:4])
        n_faults = caught + unjudged
        record(campaign, "tests", "faults planted", n_faults, differences=unjudged, cpu_seconds=seconds, path=ledger)
    return int(unjudged > 0)


def report(chosen: list[Mutant], known: dict[str, dict[str, str]]) -> tuple[int, int]:
    """Print what survived, judged or not; return the number that were caught, and of survivors that were not judged."""
    reasons: dict[str, str] = json.loads(EQUIVALENT.read_text(encoding="utf-8")) if EQUIVALENT.exists() else {}
    ran = [mutant for mutant in chosen if known.get(mutant.key)]
    survivors = [mutant for mutant in ran if set(known[mutant.key].values()) == {"passed"}]
    unjudged = [mutant for mutant in survivors if mutant.key not in reasons]
    for mutant in survivors:
        print(f"{mutant.file}:{mutant.line} {mutant.key}\n    {reasons.get(mutant.key, 'NOT JUDGED')}")
    caught = len(ran) - len(survivors)
    share = caught / max(caught + len(unjudged), 1)
    print(f"{len(ran)} faults of {len(chosen)} planted: {caught} caught, ", end="")
    print(f"{len(survivors) - len(unjudged)} judged equivalent, {len(unjudged)} not judged; ", end="")
    print(f"{share:.1%} of those not equivalent are caught")
    return caught, len(unjudged)


if __name__ == "__main__":
    raise SystemExit(main())
