"""The counts of all campaigns: `ledger.json`, to which runs add."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

LEDGER = Path(__file__).with_name("ledger.json")
ROOT = Path(__file__).parents[3]
VARIABLE = "TOKDFA_LEDGER"
NOTHING = {"count": 0, "differences": 0, "cpu_seconds": 0.0}


def entries(path: Path = LEDGER) -> dict[str, dict[str, Any]]:
    """Return the entries by campaign; none if the file does not exist yet."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def ledger_named() -> Path | None:
    """Return the file that the environment variable TOKDFA_LEDGER names, to which a run is to be added; or none."""
    named = os.environ.get(VARIABLE, "").strip()
    return Path(named).resolve() if named else None


def record(
    campaign: str,
    promise: str,
    kind: str,
    count: int,
    *,
    cpu_seconds: float,
    differences: int = 0,
    commit: str | None = None,
    goes_on: bool = False,
    path: Path = LEDGER,
) -> dict[str, Any]:
    """Add a run to the entry of its campaign, and return that. Other processes may do so at the same time.

    Parameters
    ----------
    campaign : str
        A name under which the run can be repeated: the node of a test, or a command.
    promise : str
        The promise that the campaign tests; one of `tests.campaigns.evidence.promises`.
    kind : str
        The kind of case that is counted; one of `tests.campaigns.evidence.promises`, too.
    count : int
        The number of cases that were tried.
    cpu_seconds : float
        The processor time of the run and of the processes that it started.
    differences : int
        The number of cases that were not as promised.
    commit : str, optional
        The tested revision; by default the one checked out, see `revision_here`.
    goes_on : bool
        Whether the run is a part of the last one, if that was at the same commit.
    path : Path
    """
    commit = commit or revision_here()
    added = {"count": count, "differences": differences, "cpu_seconds": cpu_seconds}
    today = datetime.now(UTC).date().isoformat()
    with _opened(path) as known:
        entry = known.setdefault(campaign, {"total": NOTHING})
        last = entry.get("last", {})
        before = last if goes_on and last.get("commit") == commit else NOTHING
        entry |= {
            "promise": promise,
            "kind": kind,
            "last": _sum(before, added) | {"commit": commit, "date": today},
            "total": _sum(entry["total"], added),
        }
    return entry


def remember(campaign: str, figures: dict[str, int], *, path: Path = LEDGER) -> None:
    """Keep what else there is to say of a campaign: the size of a corpus, or the edges that it reaches."""
    with _opened(path) as known:
        entry = known.setdefault(campaign, {"total": NOTHING})
        entry["figures"] = entry.get("figures", {}) | figures


def merge(others: Iterable[Path], *, path: Path = LEDGER) -> None:
    """Add the entries of other ledgers, once each: their runs are the last ones, and the totals are summed."""
    for other in others:
        for campaign, entry in entries(other).items():
            with _opened(path) as known:
                mine = known.setdefault(campaign, {"total": NOTHING})
                total = _sum(mine["total"], entry["total"])
                figures = mine.get("figures", {}) | entry.get("figures", {})
                mine |= entry | {"total": total} | ({"figures": figures} if figures else {})


def written(known: dict[str, dict[str, Any]]) -> str:
    """Return the text of the file with these entries."""
    return json.dumps(known, indent=2, sort_keys=True) + "\n"


def revision_here() -> str:
    """Return the commit that is checked out, with a plus sign if files but the ledger have been changed since."""
    if not (ROOT / ".git").exists():
        return "unknown"
    git = ["git", "-C", str(ROOT)]
    head = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False)
    changed = subprocess.run(
        [*git, "status", "--porcelain", "--untracked-files=no", "--", ".", f":!{LEDGER.relative_to(ROOT)}"],
        capture_output=True,
        text=True,
        check=False,
    )
    return head.stdout.strip() + ("+" if changed.stdout.strip() else "") or "unknown"


def _sum(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {
        "count": one["count"] + other["count"],
        "differences": one["differences"] + other["differences"],
        "cpu_seconds": round(one["cpu_seconds"] + other["cpu_seconds"], 1),
    }


@contextmanager
def _opened(path: Path) -> Iterator[dict[str, dict[str, Any]]]:
    """Read the entries and write them back, under a lock on the folder, so that only the file remains."""
    import fcntl

    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        known = entries(path)
        yield known
        beside = path.with_name(f"{path.name}.new")
        beside.write_text(written(known), encoding="utf-8")
        beside.replace(path)
    finally:
        os.close(folder)
