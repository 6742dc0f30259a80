"""The bar over the files of a corpus, on a terminal: how much is done, how fast, and the time left."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tokdfa.cli.corpus import progress

ROOT = Path(__file__).parents[3]


def on_terminal(*arguments: object) -> tuple[int, str, str]:
    """Run a command with a terminal as its stderr; return its status and its output on stdout and on the terminal."""
    import pty

    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(
        [sys.executable, "-m", "tokdfa", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=environment,
        cwd=ROOT,
    )
    os.close(theirs)
    shown = b""
    while True:
        ready, _, _ = select.select([ours], [], [], 60)
        try:
            part = os.read(ours, 1 << 16) if ready else b""
        except OSError:
            # The other end is closed.
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.stdout is not None
    with process.stdout:
        printed = process.stdout.read()
    return process.wait(), printed.decode(), shown.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_bar_on_a_terminal(tmp_path: Path) -> None:
    merges = tmp_path / "merges.txt"
    tokdfa.default_dictionary().save(merges)
    folder = tmp_path / "shards"
    folder.mkdir()
    for number in range(3):
        ids = tokdfa.default_tokenizer().encode("a single man in possession\n")
        np.save(folder / f"{number}.npy", np.tile(ids, 150_000).astype(np.uint16))
    status, printed, shown = on_terminal("validate", merges, folder, "--pretokenizer", "gpt2")
    assert status == 0
    # The answer alone is on stdout, and the bar is gone at the end.
    assert re.fullmatch(r"canonical: [\d,]+ ids in 3 documents of 3 files\n", printed)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert re.search(r"\d of 3 files, \d+\.\d M ids/s", plain)
    assert re.search(r"\d+%", plain)
    assert re.search(r"\d:\d\d:\d\d|-:--:--", plain)
    assert shown.rstrip("\r\n").endswith(("\x1b[2K", "\x1b[?25h", "\x1b[1A\x1b[2K"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_bar_of_search(tmp_path: Path) -> None:
    merges = tmp_path / "merges.txt"
    tokdfa.default_dictionary().save(merges)
    ids = np.tile(tokdfa.default_tokenizer().encode("a single man\n"), 150_000).astype(np.uint16)
    for number in range(2):
        np.save(tmp_path / f"{number}.npy", ids)
    status, printed, shown = on_terminal("search", merges, "man", tmp_path, "--count")
    assert (status, printed) == (0, "300,000\n")
    assert re.search(r"\d of 2 files, \d+\.\d M ids/s", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown))


def test_no_bar_elsewhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with progress([tmp_path]) as (advance, finished):
        assert advance is None
        assert finished is None
    assert capsys.readouterr().err == ""
