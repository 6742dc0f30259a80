"""Replacing in many files that is killed: each file is there as a whole or not at all, and the job is resumed."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.written_stores import write_datatrove, write_jsonl

COMMAND = "import sys; from tokdfa.cli import main; print('ready', flush=True); main(sys.argv[1:])"
TEXTS = ["a single man in possession", "", "of a good fortune", "a man, a man must be a man"] * 100

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="this system has no kill")


def written(folder: Path) -> tuple[list[str], Path]:
    """Write a dictionary and a corpus; return the arguments of the command, without its output."""
    tokenizer = tokdfa.default_tokenizer()
    tokenizer.dictionary.save(folder / "merges.txt")
    documents = [tokenizer.encode(text).tolist() for text in TEXTS]
    (folder / "old").mkdir()
    for number in range(12):
        write_jsonl(folder / "old" / f"{number}.jsonl", documents)
        write_datatrove(folder / "old" / f"{number}.ds", documents)
    arguments = ["replace", str(folder / "merges.txt"), " man", " woman", str(folder / "old")]
    return [*arguments, "--pretokenizer", "gpt2", "--threads", "2", "-o"], folder / "old"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


def run(arguments: list[str]) -> int:
    return subprocess.run([sys.executable, "-c", COMMAND, *arguments], capture_output=True, check=False).returncode


def assert_files_are_whole_after_kills(kills: int, folder: Path) -> int:
    """Kill the command again and again, each time resumed; return how often some files were done, and others not."""
    arguments, _ = written(folder)
    began = time.monotonic()
    assert run([*arguments, str(folder / "expected")]) == 0
    takes = time.monotonic() - began
    expected = contents(folder / "expected")
    dice = random.Random(1)
    between = 0
    for number in range(kills):
        output = folder / f"new{number}"
        left: dict[str, bytes] = {}
        for resume in ([], ["--resume"])[: 1 + (kills > 1)]:
            command = [sys.executable, "-c", COMMAND, *arguments, str(output), *resume]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            assert process.stdout is not None
            with process.stdout:
                process.stdout.readline()
                time.sleep(dice.uniform(0, takes))
                process.send_signal(signal.SIGKILL if number % 2 else signal.SIGTERM)
                process.wait()
            if not output.exists():
                break
            before, left = left, contents(output)
            assert before.items() <= left.items() <= expected.items()
            between += 0 < len(left) < len(expected)
        resumable = (output / ".tokdfa-replace.partial").exists()
        if output.exists():
            assert run([*arguments, str(output), "--resume" if resumable else "--force"]) == 0
            assert contents(output) == expected
            assert {path.name for path in output.iterdir()} == {*expected}
    return between


def test_a_kill_leaves_whole_files(tmp_path: Path) -> None:
    assert_files_are_whole_after_kills(1, tmp_path)


@pytest.mark.slow
def test_forty_kills_leave_whole_files(tmp_path: Path, tally: Tally) -> None:
    between = assert_files_are_whole_after_kills(40, tmp_path)
    print(between, "kills while some of the files were done")
    assert between > 4
    tally("crashes", "kills survived", 40)
