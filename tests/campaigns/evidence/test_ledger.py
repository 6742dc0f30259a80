"""The ledger adds runs up, whichever process they come from; tests report their counts; the page shows them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.campaigns.evidence import page
from tests.campaigns.evidence.ledger import (
    LEDGER,
    ROOT,
    VARIABLE,
    entries,
    merge,
    record,
    remember,
    revision_here,
    written,
)
from tests.campaigns.evidence.promises import KINDS, PROMISES
from tests.campaigns.evidence.tally import Tally
from tests.campaigns.standing.campaign import PROMISES as PARTS


def test_runs_are_added_up(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    assert entries(path) == {}
    record("fuzzing walk", "kernels", "fuzzed inputs", 100, cpu_seconds=1.25, commit="a", path=path)
    record("fuzzing dfa", "kernels", "fuzzed inputs", 5, differences=1, cpu_seconds=2, commit="a", path=path)
    entry = record("fuzzing walk", "kernels", "fuzzed inputs", 11, cpu_seconds=2, commit="b", path=path)
    remember("fuzzing walk", {"edges": 51}, path=path)
    remember("fuzzing walk", {"corpus": 7}, path=path)
    assert entries(path)["fuzzing walk"] == entry | {"figures": {"corpus": 7, "edges": 51}}
    assert entry["total"] == {"count": 111, "differences": 0, "cpu_seconds": 3.2}
    assert entry["last"].pop("date")
    assert entry["last"] == {"count": 11, "differences": 0, "cpu_seconds": 2, "commit": "b"}
    assert entries(path)["fuzzing dfa"]["last"]["differences"] == 1
    assert [file.name for file in tmp_path.iterdir()] == ["ledger.json"]


def test_a_run_goes_on_at_the_same_commit_only(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    counts = []
    for commit, goes_on in (("a", False), ("a", True), ("b", True), ("b", False)):
        entry = record("x", "tests", "random cases", 3, cpu_seconds=1, commit=commit, goes_on=goes_on, path=path)
        counts.append((entry["last"]["count"], entry["total"]["count"]))
    assert counts == [(3, 3), (6, 6), (3, 9), (3, 12)]


def test_ledgers_are_merged(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine.json", tmp_path / "other.json"
    record("a", "splices", "random cases", 3, cpu_seconds=1, differences=1, commit="1", path=mine)
    remember("a", {"corpus": 2, "edges": 3}, path=mine)
    record("a", "splices", "random cases", 4, cpu_seconds=2, commit="2", path=other)
    record("b", "splices", "random cases", 5, cpu_seconds=3, commit="2", path=other)
    remember("a", {"edges": 5}, path=other)
    merge([other], path=mine)
    found = entries(mine)
    assert found["a"]["total"] == {"count": 7, "differences": 1, "cpu_seconds": 3.0}
    assert (found["a"]["last"]["count"], found["a"]["last"]["commit"]) == (4, "2")
    assert found["a"]["figures"] == {"corpus": 2, "edges": 5}
    assert found["b"] == entries(other)["b"]


def test_no_run_of_another_process_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    code = (
        "import sys; from pathlib import Path; from tests.campaigns.evidence.ledger import record\n"
        "for _ in range(20):\n"
        "    record('x', 'tests', 'random cases', 1, cpu_seconds=1, commit='a', path=Path(sys.argv[1]))"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=ROOT) for _ in range(4)]
    assert [process.wait(60) for process in running] == [0] * 4
    assert entries(path)["x"]["total"] == {"count": 80, "differences": 0, "cpu_seconds": 80}


TESTS = """
def test_counting(tally):
    for _ in range(3):
        tally("loading", "random cases", 4)
    tally("loading", "spoiled inputs", 2)
    tally("validation", "random cases", 7)

import pytest

@pytest.mark.parametrize("n", [1, 2])
def test_parameters(n, tally):
    tally("encoding", "real texts", n)
    assert n == 1 or not FAILS

def test_failing_early(tally):
    assert not FAILS
    tally("encoding", "random cases", 1)
"""


def test_tests_report_what_they_count(tmp_path: Path) -> None:
    path, file = tmp_path / "ledger.json", tmp_path / "test_x.py"
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "tests.campaigns.evidence.tally",
        "--rootdir",
        tmp_path,
        "-c",
        os.devnull,
    ]
    command = [sys.executable, "-m", "pytest", *options, file]
    environment = os.environ | {VARIABLE: str(path), "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}
    found = []
    for fails in (False, True):
        file.write_text(TESTS.replace("FAILS", str(fails)), encoding="utf-8")
        subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, check=False)
        found.append(
            {name: (entry["last"]["count"], entry["last"]["differences"]) for name, entry in entries(path).items()}
        )
    counted = {
        "test_x.py::test_counting (loading, random cases)": (12, 0),
        "test_x.py::test_counting (validation, random cases)": (7, 0),
        "test_x.py::test_counting (spoiled inputs)": (2, 0),
    }
    assert found == [
        counted | {"test_x.py::test_parameters": (3, 0), "test_x.py::test_failing_early": (1, 0)},
        counted | {"test_x.py::test_parameters": (3, 1), "test_x.py::test_failing_early": (0, 1)},
    ]
    before = path.read_bytes()
    subprocess.run(command, env=environment | {VARIABLE: ""}, cwd=tmp_path, capture_output=True, check=False)
    assert path.read_bytes() == before


def test_what_is_counted_is_promised(tally: Tally) -> None:
    with pytest.raises(AssertionError):
        tally("nothing", "random cases", 1)
    with pytest.raises(AssertionError):
        tally("loading", "nothing", 1)


def test_the_ledger_says_what_it_is_asked_for() -> None:
    known = entries()
    assert LEDGER.read_text(encoding="utf-8") == written(known)
    assert len(known) >= 15
    for campaign, entry in known.items():
        assert set(entry) - {"figures", "last"} == {"promise", "kind", "total"}, campaign
        assert entry["promise"] in PROMISES
        assert entry["kind"] in KINDS
        assert set(entry["total"]) == {"count", "differences", "cpu_seconds"}
        assert set(entry.get("last", {})) in (set(), {*entry["total"], "commit", "date"})
        assert all(entry["total"][name] >= entry.get("last", entry["total"])[name] for name in entry["total"])


def test_every_test_that_is_named_is_there() -> None:
    for campaign in entries():
        file, is_test, test = campaign.partition(" (")[0].partition("::")
        assert not is_test or f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), campaign
        _, is_part, part = campaign.partition("tests.campaigns.standing --part ")
        assert not is_part or part in PARTS, campaign


@pytest.mark.parametrize(("path", "text"), [(page.PAGE, page.page), (page.README, page.readme)], ids=["page", "README"])
def test_the_page_is_that_of_the_ledger(path: Path, text) -> None:
    assert path.read_text(encoding="utf-8") == text(), "run python -m tests.campaigns.evidence"


def test_the_page_counts_nothing_that_was_not_measured() -> None:
    total = {"count": 7_654_321, "differences": 2, "cpu_seconds": 7200.0}
    known = {"fuzzing walk": {"promise": "kernels", "kind": "fuzzed inputs", "total": total}}
    lines = list(page.tables(known))
    assert "| fuzzed inputs | 1 |  |  | 7,654,321 | 2.0 h |" in lines
    assert "| `fuzzing walk` | fuzzed inputs |  |  |  |  | 7,654,321 | 2 |" in lines
    assert not any("random cases" in line for line in lines)


def test_the_revision_is_named() -> None:
    assert revision_here()
