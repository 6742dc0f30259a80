"""Running a target under libFuzzer for a while, and adding up what was done."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.campaigns.evidence.ledger import LEDGER, record, remember, revision_here
from tests.campaigns.fuzzing.corpus import pack, unpack
from tests.campaigns.fuzzing.kernels.build import TARGETS

# No input is longer: long enough for the blocks of the walk and the shelf of the memory, and quick to run.
MOST_BYTES = dict.fromkeys(TARGETS, 512) | {"encode": 1024, "documents": 1024, "wordpiece": 768}
# So much of a corpus is committed, the inputs that find the most first.
KEPT_BYTES = 48 << 10
# Totals are written after each slice, so that little is lost if the machine goes away.
SLICE = 120


@dataclass(frozen=True)
class Slice:
    """The result of some seconds: processor time, inputs run, edges and features covered, and the input that failed."""

    cpu_seconds: float
    executions: int
    edges: int
    failed: Path | None
    output: str


def run_slice(program: Path, target: str, corpus: Path, artifacts: Path, *, seconds: int, nice: int) -> Slice:
    """Run a target on a growing corpus."""
    corpus.mkdir(parents=True, exist_ok=True)
    artifacts.mkdir(parents=True, exist_ok=True)
    command = [
        str(program), f"-max_len={MOST_BYTES[target]}", f"-max_total_time={seconds}", "-timeout=300",
        "-rss_limit_mb=3000", "-report_slow_units=86400", "-print_final_stats=1",
        "-use_value_profile=0", f"-artifact_prefix={artifacts}{os.sep}",
        str(corpus), str(unpack(target, corpus.parents[1] / "committed")),
    ]  # fmt: skip
    return sliced(command, artifacts, nice=nice)


def sliced(command: list[str], artifacts: Path, *, nice: int, cwd: Path | None = None) -> Slice:
    """Run libFuzzer, which puts an input that fails into the folder `artifacts`."""
    before = set(artifacts.iterdir())
    process = subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        preexec_fn=lambda: os.nice(nice),
    )  # fmt: skip
    assert process.stdout
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    new = sorted(set(artifacts.iterdir()) - before)
    units = re.findall(r"stat::number_of_executed_units: (\d+)", output) or re.findall(r"^#(\d+)\t", output, re.M)
    edges = re.findall(r"cov: (\d+)", output)
    failed = new[0] if new else None
    if process.returncode and not failed:
        failed = artifacts / "none-was-written"
    cpu = usage.ru_utime + usage.ru_stime
    return Slice(cpu, int(units[-1]) if units else 0, max(map(int, edges), default=0), failed, output)


def run(program: Path, target: str, work: Path, *, minutes: float, nice: int, ledger: Path = LEDGER) -> Iterator[Slice]:
    """Run a target for some minutes of processor time; each slice is added to the ledger and yielded."""
    corpus, artifacts = work / "corpora" / target, work / "artifacts" / target

    def one(left: float) -> Slice:
        return run_slice(program, target, corpus, artifacts, seconds=min(SLICE, round(left)), nice=nice)

    yield from recorded(one, target, "kernels", minutes=minutes, ledger=ledger)


def recorded(
    one: Callable[[float], Slice], target: str, promise: str, *, minutes: float, ledger: Path
) -> Iterator[Slice]:
    """Yield slices, each with the seconds that are left, until an input fails; add each to the ledger."""
    spent, revision = 0.0, revision_here()
    while spent < 60 * minutes:
        done = one(60 * minutes - spent + 1)
        spent += done.cpu_seconds
        record(
            f"fuzzing {target}",
            promise,
            "fuzzed inputs",
            done.executions,
            cpu_seconds=done.cpu_seconds,
            differences=int(done.failed is not None),
            commit=revision,
            goes_on=spent > done.cpu_seconds,
            path=ledger,
        )
        remember(f"fuzzing {target}", {"edges": done.edges}, path=ledger)
        yield done
        if done.failed:
            return


def minimize(program: Path, target: str, work: Path, *, ledger: Path = LEDGER) -> tuple[int, int]:
    """Replace the committed corpus of a target by a small one that reaches the same; return its inputs and bytes."""
    fresh = work / "merged" / target
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    grown = work / "corpora" / target
    sources = [unpack(target, work / "committed"), *([grown] if grown.is_dir() else [])]
    # Only edges count, not how often they are taken: some hundred inputs, not thousands.
    command = [
        str(program),
        "-merge=1",
        "-use_counters=0",
        f"-max_len={MOST_BYTES[target]}",
        str(fresh),
        *map(str, sources),
    ]
    subprocess.run(command, capture_output=True, check=True)
    kept, size = keep_smallest(target, fresh, KEPT_BYTES)
    remember(f"fuzzing {target}", {"corpus": kept}, path=ledger)
    return kept, size


def keep_smallest(target: str, fresh: Path, most_bytes: int) -> tuple[int, int]:
    """Replace the committed corpus by the smallest files of a folder; return their number and their bytes."""
    # The merge has looked at short inputs first, and has kept those that reach something new.
    found = sorted(fresh.iterdir(), key=lambda path: (path.stat().st_size, path.name))
    kept, size = {}, 0
    for path in found:
        if size + path.stat().st_size <= most_bytes:
            kept[path.name[:16]] = path.read_bytes()
            size += path.stat().st_size
    pack(target, kept)
    return len(kept), size
