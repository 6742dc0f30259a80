"""Commands over many files: reports, exit statuses, and going on after a kill."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support import commands

ROOT = Path(__file__).parents[3]


@pytest.fixture
def merges(tmp_path: Path) -> Path:
    path = tmp_path / "merges.txt"
    tokdfa.default_dictionary().save(path)
    return path


def write_shards(folder: Path, n: int = 6, repeat: int = 1) -> list[Path]:
    tokenizer = tokdfa.default_tokenizer()
    folder.mkdir()
    paths = []
    for number in range(n):
        ids = np.tile(tokenizer.encode("a single man in possession of a good fortune"), repeat)
        if number % 3 == 1:
            ids = np.append(ids, [261, 1193])
        paths.append(folder / f"{number:03}.npy")
        np.save(paths[-1], ids.astype(np.uint16))
    return paths


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict]:
    status = commands.run(*arguments, "--json")
    return status, json.loads(capsys.readouterr().out)


def test_files_folders_and_patterns(tmp_path: Path, merges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = write_shards(tmp_path / "shards")
    gpt2 = ("--pretokenizer", "gpt2")
    status, whole = run(capsys, "validate", merges, tmp_path / "shards", *gpt2)
    assert status == 1
    assert not whole["valid"]
    report = whole["report"]
    assert (report["shards"], report["documents"], report["wrong_documents"]) == (6, 6, 2)
    assert report["kinds"] == [{"kind": "pair", "count": 2}]
    assert [Path(row["file"]).name for row in report["first"]] == ["001.npy", "004.npy"]
    for given in (paths, [f"{tmp_path}/shards/*.npy"], [tmp_path / "shards", "--threads", "3"]):
        assert run(capsys, "validate", merges, *given, *gpt2) == (status, whole)
    assert commands.run("validate", merges, *paths, *gpt2) == 1
    shown = capsys.readouterr().out
    assert "001.npy, byte " in shown
    assert "not canonical: 2 violations (pair 2), 2 wrong documents" in shown
    assert commands.run("validate", merges, paths[0], paths[2], *gpt2) == 0
    assert capsys.readouterr().out == "canonical: 22 ids in 2 documents of 2 files\n"


def test_a_file_and_a_folder_have_the_same_fields(
    tmp_path: Path, merges: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = write_shards(tmp_path / "shards")
    gpt2 = ("--pretokenizer", "gpt2")
    status, folder = run(capsys, "validate", merges, tmp_path / "shards", *gpt2, "--all")
    one_status, one = run(capsys, "validate", merges, paths[1], *gpt2, "--all")
    assert (status, folder.keys(), folder["report"].keys()) == (one_status, one.keys(), one["report"].keys())
    assert folder["violations"][:1] == one["violations"]
    assert [Path(each["file"]).name for each in folder["violations"]] == ["001.npy", "004.npy"]
    (group,) = folder["report"]["groups"]
    assert (group["count"], group["ids"], group["text"]) == (2, [261, 1193], " single")
    assert folder["report"]["tenths"] == [0, 0, 0, 0, 0, 0, 0, 0, 2, 0]
    assert run(capsys, "validate", merges, tmp_path / "shards", *gpt2)[1]["violations"] == one["violations"]
    assert commands.run("validate", merges, tmp_path / "shards", *gpt2) == 1
    line = "2 times: [261 1193, canonical 2513] in 'on of a good fortune| single|', rule 2257 (' s' + 'ingle'); first "
    assert line in capsys.readouterr().out
    assert commands.run("validate", merges, tmp_path / "shards", *gpt2, "--all") == 1
    assert len([line for line in capsys.readouterr().out.splitlines() if "never follows" in line]) == 2


def test_the_files_of_a_folder_are_windows_of_a_longer_stream(
    tmp_path: Path, merges: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --window every file is judged as it is alone, also with threads and a report."""
    tokenizer = tokdfa.default_tokenizer()
    # Files are cut within characters.
    ids = np.insert(tokenizer.encode("a single 漢字🙂 man in " * 200)[:3000], 1508, [261, 1193]).astype(np.uint16)
    (tmp_path / "shards").mkdir()
    paths = [tmp_path / "shards" / f"{number:02}.npy" for number in range(40)]
    for number, path in enumerate(paths):
        np.save(path, ids[number * 74 : number * 74 + 74])
    options = ("--pretokenizer", "gpt2", "--all")
    _, whole = run(capsys, "validate", merges, tmp_path / "shards", *options)
    expected = []
    for path in paths:
        status, one = run(capsys, "validate", merges, path, *options, "--window")
        assert status == bool(one["violations"])
        expected += one["violations"]
    assert 0 < len(expected) < len(whole["violations"])
    for more in ((), ("--threads", 3), ("--report", tmp_path / "r.json")):
        status, found = run(capsys, "validate", merges, tmp_path / "shards", *options, "--window", *more)
        assert (status, found["violations"]) == (1, expected), more
        assert sum(kind["count"] for kind in found["report"]["kinds"]) == len(expected)
    # One file with threads is not cut into parts.
    np.save(tmp_path / "long.npy", np.tile(ids, 400))
    alone = run(capsys, "validate", merges, tmp_path / "long.npy", *options, "--window")
    assert run(capsys, "validate", merges, tmp_path / "long.npy", *options, "--window", "--threads", 2) == alone


def test_a_folder_has_a_page(tmp_path: Path, merges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_shards(tmp_path / "shards")
    page = tmp_path / "page.html"
    for more in ((), ("--report", tmp_path / "report.json")):
        page.unlink(missing_ok=True)
        assert (
            commands.run("validate", merges, tmp_path / "shards", "--pretokenizer", "gpt2", "--html", page, *more) == 1
        )
        content = page.read_text(encoding="utf-8")
        assert "2 violations in 70 ids, 2 documents of 6 concerned." in content
        assert [content.count(f"{number:03}.npy") > 0 for number in range(6)] == [
            False,
            True,
            False,
            False,
            True,
            False,
        ]
    assert "not canonical: 2 violations" in capsys.readouterr().out


def test_broken_files(tmp_path: Path, merges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = write_shards(tmp_path / "shards", 3)
    paths[2].write_bytes(paths[2].read_bytes()[:-1])
    status, answer = run(capsys, "validate", merges, *paths[::2], "--pretokenizer", "gpt2")
    assert (status, answer["valid"], answer["report"]["shards"]) == (2, None, 2)
    assert answer["report"]["broken"][0]["where"] == str(paths[2])
    assert commands.run("validate", merges, *paths, "--pretokenizer", "gpt2") == 2
    captured = capsys.readouterr()
    assert "broken: " in captured.out
    assert "1 file could not be read to the end" in captured.err


def test_arguments_that_do_not_go_together(tmp_path: Path, merges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = write_shards(tmp_path / "shards", 2)
    assert commands.run("validate", merges, *paths, "--explain") == 2
    assert "--explain prints the lattice of a Unigram tokenizer" in capsys.readouterr().err
    assert commands.run("validate", merges, *paths, "-") == 2
    assert "standard input is one stream" in capsys.readouterr().err
    assert commands.run("validate", merges, *paths, "--documents", "x.npy") == 2
    assert "--documents: for several files it is an id or none, not 'x.npy'" in capsys.readouterr().err
    assert commands.run("validate", merges, tmp_path / "none*") == 2
    assert "no files of ids" in capsys.readouterr().err
    assert commands.run("search", merges, "man", paths[0], "--threads", "2") == 2
    assert "--threads is for --count" in capsys.readouterr().err


def test_search_counts_in_many_files(tmp_path: Path, merges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = write_shards(tmp_path / "shards")
    for given in (paths, [tmp_path / "shards"], [tmp_path / "shards", "--threads", "3"]):
        assert run(capsys, "search", merges, "man|single", *given, "--count") == (0, {"count": 14})
    assert run(capsys, "search", merges, "zzz", *paths, "--count") == (1, {"count": 0})
    paths[0].write_bytes(b"")
    assert commands.run("search", merges, "man", tmp_path / "shards", "--count") == 2
    captured = capsys.readouterr()
    assert captured.out == "5\n"
    assert "000.npy: no ids: the file is empty" in captured.err


def test_a_report_goes_on(
    tmp_path: Path, merges: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = write_shards(tmp_path / "shards")
    report = tmp_path / "report.json"
    partial = tmp_path / "report.json.partial"
    run_it = ("validate", merges, tmp_path / "shards", "--pretokenizer", "gpt2", "--report", report)
    assert commands.run(*run_it) == 1
    whole = report.read_bytes()
    assert not partial.exists()
    assert [row["violations"] for row in json.loads(whole)["shards"]] == [0, 1, 0, 0, 1, 0]
    # The partial report of a run that was stopped, and a line that is cut short.
    from tokdfa.jobs.shards import run as module

    lines: list[bytes] = []
    add = module.Journal.add

    def recorded(self: module.Journal, *row: object) -> None:
        add(self, *row)  # type: ignore[arg-type]
        lines[:] = [partial.read_bytes()]

    with monkeypatch.context() as patched:
        patched.setattr(module.Journal, "add", recorded)
        assert commands.run(*run_it) == 1
    head, *rows = lines[0].splitlines(keepends=True)
    assert len(rows) == 6
    judged: list[Path] = []
    original = module.check_shard

    def counted(tokenizer: object, path: str, **options: object) -> object:
        judged.append(Path(path))
        return original(tokenizer, path, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "check_shard", counted)
    for content, left in (
        (head + rows[0] + rows[3], [1, 2, 4, 5]),
        (head + rows[0] + rows[1][:-9], [1, 2, 3, 4, 5]),
        (head[:-5], range(6)),
        (b'{"version": 0}\n' + rows[0], range(6)),
        (head + b"".join(rows), []),
    ):
        partial.write_bytes(content)
        judged.clear()
        assert commands.run(*run_it) == 1
        assert report.read_bytes() == whole
        assert sorted(judged) == [paths[number] for number in left]  # Two threads take them in any order.
    # A file that has changed is judged again.
    partial.write_bytes(head + b"".join(rows))
    np.save(paths[0], np.array([64], np.uint16))
    judged.clear()
    assert commands.run(*run_it) == 1
    assert judged == [paths[0]]
    capsys.readouterr()


def count_lines(path: Path) -> int:
    try:
        return path.read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def killed(arguments: list[str], partial: Path, lines: int) -> bool:
    """Start a command, and kill it once a file has so many lines; return whether it was still running."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "tokdfa", *arguments],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
    )
    while process.poll() is None and count_lines(partial) < lines:
        time.sleep(0.002)
    was_running = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    return was_running


@pytest.mark.slow
def test_a_hundred_kills(tmp_path: Path, merges: Path, tally: Tally) -> None:
    """The report is the same byte for byte, even if the command is killed many times."""
    write_shards(tmp_path / "shards", 400, 3000)
    report, partial = tmp_path / "report.json", tmp_path / "report.json.partial"
    arguments = ["validate", str(merges), str(tmp_path / "shards"), "--pretokenizer", "gpt2", "--report", str(report)]
    assert commands.run(*arguments) == 1
    whole = report.read_bytes()
    source = random.Random(7)
    kills = gone_on = writing = torn = 0
    while kills < 100:
        report.unlink(missing_ok=True)
        known = 0
        while not report.exists() and kills < 100:
            wanted = known + source.randrange(1, 60)
            was_running = killed([*arguments, "--threads", source.choice("12")], partial, wanted)
            kills += was_running
            lines = count_lines(partial)
            writing += was_running and 1 < lines <= 400
            torn += was_running and partial.exists() and not partial.read_bytes().endswith(b"\n")
            gone_on += lines > known > 0
            known = lines
        if report.exists():
            assert report.read_bytes() == whole
    assert commands.run(*arguments) == 1
    assert report.read_bytes() == whole
    print(f"{kills} kills: {writing} between the first shard and the last, {torn} within a line; {gone_on} went on")
    assert writing > 80
    assert gone_on > 10
    tally("crashes", "kills survived", kills)
