"""Totals of fuzzing: runs are added up, target by target, whichever process they come from."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.fuzzing.totals import ROOT, TOTALS, read, record, revision_here


def test_runs_are_added_up(tmp_path: Path) -> None:
    path = tmp_path / "totals.json"
    assert read(path) == {}
    record("walk", 1.25, 100, 0, "a", corpus=7, edges=50, path=path)
    record("dfa", 2.0, 5, 1, "a", path=path)
    entry = record("walk", 2.0, 11, 2, "b", edges=51, path=path)
    assert read(path)["walk"] == entry
    assert (entry["cpu_seconds"], entry["executions"], entry["finds"]) == (3.2, 111, 2)
    assert (entry["corpus"], entry["edges"], entry["revision"]) == (7, 51, "b")
    assert read(path)["dfa"]["finds"] == 1
    assert [file.name for file in tmp_path.iterdir()] == ["totals.json"]


def test_no_run_of_another_process_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "totals.json"
    code = (
        "import sys; from pathlib import Path; from tests.fuzzing.totals import record\n"
        "for _ in range(20): record('walk', 1, 1, 0, 'a', path=Path(sys.argv[1]))"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=ROOT) for _ in range(4)]
    assert [process.wait(60) for process in running] == [0] * 4
    assert read(path)["walk"]["executions"] == 80


def test_the_file_says_what_it_is_asked_for() -> None:
    wanted = {"cpu_seconds", "executions", "finds", "corpus", "edges", "last", "revision"}
    for target, entry in read(TOTALS).items():
        assert set(entry) == wanted, target
    if TOTALS.exists():
        assert TOTALS.read_text(encoding="utf-8") == json.dumps(read(TOTALS), indent=2, sort_keys=True) + "\n"


def test_the_revision_is_named() -> None:
    assert revision_here()
