"""Running a target of the readers for a while, and adding up what was done."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.campaigns.evidence.ledger import LEDGER, ROOT, remember
from tests.campaigns.fuzzing.corpus import unpack
from tests.campaigns.fuzzing.kernels.run import SLICE, Slice, keep_smallest, recorded, sliced

__all__ = ["MISSING", "is_installed", "minimize", "run", "run_slice"]

MISSING = "the readers are fuzzed with atheris, a tool for developers that is not installed: pip install atheris"
# JSON is long: a vocabulary of bytes alone has three thousand.
KEPT_BYTES = 96 << 10


def is_installed() -> bool:
    """Return whether atheris is there."""
    return importlib.util.find_spec("atheris") is not None


def run_slice(target: str, work: Path, *, seconds: float, nice: int) -> Slice:
    """Fuzz a target for some seconds of processor time, or until an input fails."""
    corpus, artifacts = work / "corpora" / target, work / "artifacts" / target
    for folder in (corpus, artifacts):
        folder.mkdir(parents=True, exist_ok=True)
    flags = [f"-artifact_prefix={artifacts}{os.sep}", str(corpus), str(unpack(target, work / "committed"))]
    command = [sys.executable, "-m", "tests.campaigns.fuzzing.readers.run", target, str(seconds), *flags]
    return sliced(command, artifacts, nice=nice, cwd=ROOT)


def run(target: str, work: Path, *, minutes: float, nice: int, ledger: Path = LEDGER) -> Iterator[Slice]:
    """Run a target for some minutes of processor time; each slice is added to the ledger and yielded."""

    def one(left: float) -> Slice:
        # A slice is begun by importing everything anew.
        return run_slice(target, work, seconds=min(2 * SLICE, left), nice=nice)

    yield from recorded(one, target, "loading", minutes=minutes, ledger=ledger)


def minimize(target: str, work: Path, *, ledger: Path = LEDGER) -> tuple[int, int]:
    """Replace the committed corpus of a target by a small one that reaches the same; return its inputs and bytes."""
    with tempfile.TemporaryDirectory() as folder:
        places = [unpack(target, work / "committed"), work / "corpora" / target]
        sources = [str(place) for place in places if place.is_dir()]
        command = [
            sys.executable,
            "-m",
            "tests.campaigns.fuzzing.readers.run",
            target,
            "inf",
            "-merge=1",
            folder,
            *sources,
        ]
        subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
        kept = keep_smallest(target, Path(folder), KEPT_BYTES)
    remember(f"fuzzing {target}", {"corpus": kept[0]}, path=ledger)
    return kept
