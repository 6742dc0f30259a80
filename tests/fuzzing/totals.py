"""How long each target has been fuzzed in all: `totals.json`, to which every run adds."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

TOTALS = Path(__file__).with_name("totals.json")
ROOT = Path(__file__).parents[2]


def read(path: Path = TOTALS) -> dict[str, dict[str, Any]]:
    """Return the totals by target; none if there is no file yet."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def record(
    target: str,
    cpu_seconds: float,
    executions: int,
    finds: int,
    revision: str,
    *,
    corpus: int | None = None,
    edges: int | None = None,
    path: Path = TOTALS,
) -> dict[str, Any]:
    """Add a run to the totals of its target, and return them. Other processes may do so at the same time.

    Parameters
    ----------
    target : str
    cpu_seconds : float
        The processor time of the run.
    executions : int
        The number of inputs that were run.
    finds : int
        The number of inputs that failed.
    revision : str
        The commit that was fuzzed; see `revision_here`.
    corpus : int, optional
        The number of inputs in the corpus now; the one before is kept if it is not given.
    edges : int, optional
        The number of edges (or branches, or lines: what the target counts) that the corpus reaches; kept likewise.
    path : Path
    """
    with _locked(path):
        totals = read(path)
        entry = totals.setdefault(target, {"cpu_seconds": 0.0, "executions": 0, "finds": 0, "corpus": 0, "edges": 0})
        entry["cpu_seconds"] = round(entry["cpu_seconds"] + cpu_seconds, 1)
        entry["executions"] += executions
        entry["finds"] += finds
        if corpus is not None:
            entry["corpus"] = corpus
        if edges is not None:
            entry["edges"] = edges
        entry["last"] = datetime.now(UTC).date().isoformat()
        entry["revision"] = revision
        beside = path.with_name(f"{path.name}.new")
        beside.write_text(json.dumps(totals, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        beside.replace(path)
    return entry


def revision_here() -> str:
    """Return the commit that is checked out, with a plus sign if files have been changed since."""
    if not (ROOT / ".git").exists():
        return "unknown"
    done = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "unknown"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock on the folder of a file, so that only the file remains."""
    import fcntl

    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
