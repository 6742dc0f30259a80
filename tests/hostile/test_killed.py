"""Commands that are killed while they write: there is the old file or the new one, never a part of it."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tokdfa.cli import main
from tokdfa.training.output import write_dictionary

OLD = b"old"


pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def run_again_and_again(arguments: list[str]) -> tuple[int, int]:
    """Run a command in a fork, without end; return the process, and where it writes after each time."""
    reads, writes = os.pipe()
    child = os.fork()
    if child:
        os.close(writes)
        return child, reads
    with contextlib.suppress(BaseException):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        while True:
            with contextlib.suppress(SystemExit):
                main(arguments)
            os.write(writes, b".")
    os._exit(1)


def files(folder: Path) -> dict[str, str]:
    """Write what the commands read; return the paths by name."""
    tokenizer = tokdfa.default_tokenizer()
    rules = folder / "merges.txt"
    write_dictionary(tokenizer.dictionary, rules)
    words = ["a", "single", "man", "in", "possession", "of", "good", "fortune", "must", "be", "want", "wife"]
    dice = random.Random(1)
    text = folder / "text.txt"
    text.write_text(" ".join(dice.choices(words, k=8_000)), encoding="utf-8")
    ids = folder / "ids.npy"
    spoiled = tokdfa.load(rules).encode(text.read_text(encoding="utf-8")[:10_000])
    np.save(ids, np.concatenate((spoiled[::2], spoiled[1::2])))
    return {"rules": str(rules), "text": str(text), "ids": str(ids), "kept": str(folder / "kept")}


COMMANDS: dict[str, Callable[[dict[str, str], str], list[str]]] = {
    "encode.npy": lambda file, out: ["encode", file["rules"], "--file", file["text"], "-o", out, "--force"],
    "report.html": lambda file, out: ["validate", file["rules"], file["ids"], "--all", "--html", out, "--force"],
    "some.tiktoken": lambda file, out: ["convert", file["rules"], "--to", "tiktoken", "-o", out, "--force"],
    "picture.dot": lambda file, out: ["draw", file["rules"], "--rules", "25", "-o", out, "--force"],
    "merges.txt": lambda file, out: [
        *("train", file["text"], "--merges", "60", "-o", out, "--force"),
        *("--checkpoint", file["kept"], "--interval", "0"),
    ],
}


def assert_files_are_whole_after_kills(name: str, kills: int, folder: Path) -> int:
    """Kill a command that runs again and again; return how often it was about to write."""
    file = files(folder)
    (folder / "out").mkdir()
    out = folder / "out" / name
    arguments = COMMANDS[name](file, str(out))
    dice = random.Random(name)
    caught = 0
    expected = None
    for number in range(kills):
        if expected is not None:
            out.write_bytes(OLD)
        process, done = run_again_and_again(arguments)
        try:
            assert os.read(done, 1) == b"."
            time.sleep(dice.uniform(0, 0.2))
            expected = expected or out.read_bytes()
        finally:
            os.kill(process, signal.SIGKILL if number % 2 else signal.SIGTERM)
            assert os.WIFSIGNALED(os.waitpid(process, 0)[1])
            os.close(done)
        assert len(expected) > 100
        assert out.read_bytes() in (OLD, expected)
        left = {path.name for path in out.parent.iterdir()} - {name}
        assert left <= {f".{name}.part"}
        caught += bool(left)
    # A file that a kill has left behind is in nobody's way.
    with pytest.raises(SystemExit):
        main(arguments)
    assert out.read_bytes() == expected
    assert [path.name for path in out.parent.iterdir()] == [name]
    return caught


@pytest.mark.parametrize("name", COMMANDS)
def test_three_kills_leave_whole_files(name: str, tmp_path: Path) -> None:
    assert_files_are_whole_after_kills(name, 3, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_hundred_kills(name: str, tmp_path: Path, tally: Tally) -> None:
    writing = assert_files_are_whole_after_kills(name, 100, tmp_path)
    print(name, writing, "of 100 kills while a new file was being written")
    tally("crashes", "kills survived", 100)
