"""Commands that read and write, with the calls for each of their files failing: run with `failing_calls.c` preloaded.

It prints a row for each run as JSON; `tests/hostile/test_failing_calls.py` starts it, and judges.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
import tokdfa
from tokdfa.cli import main

TEXT = "a single man in possession of a good fortune, must be in want of a wife.\n" * 40


def write_inputs(folder: Path) -> None:
    """Write a tokenizer, a text, and stores of its ids."""
    tokdfa.default_dictionary().save(folder / "merges.txt")
    (folder / "text.txt").write_text(TEXT)
    ids = tokdfa.default_tokenizer().encode(TEXT)
    np.save(folder / "ids.npy", ids)
    (folder / "shards").mkdir()
    np.save(folder / "shards" / "1.npy", ids)
    (folder / "shards" / "2.jsonl").write_text(json.dumps({"input_ids": ids.tolist()}) + "\n")
    record = {"prompt_ids": ids[:20].tolist(), "completion_ids": ids[20:40].tolist()}
    (folder / "records.jsonl").write_text(json.dumps(record) + "\n")


def commands(folder: Path) -> dict[str, tuple[list[str], list[str], list[str]]]:
    """Return commands, each with the files that it reads and writes."""
    tok, out = ["--pretokenizer", "gpt2"], ["-o", "out"]
    tokenizer, replacing = "merges.txt", ["man", "woman"]
    rows = {
        "encode": (["encode", tokenizer, "--file", "text.txt", *out, *tok], [tokenizer, "text.txt"], ["out"]),
        "replace": (["replace", tokenizer, *replacing, "ids.npy", *out, *tok], [tokenizer, "ids.npy"], ["out"]),
        "replace in files": (
            ["replace", tokenizer, *replacing, "shards", *out, *tok],
            [tokenizer, "shards/1.npy", "shards/2.jsonl"],
            ["out/1.npy", "out/2.jsonl"],
        ),
        "train": (["train", "text.txt", "--merges", "20", "-o", "out.json"], ["text.txt"], ["out.json"]),
        "convert": (["convert", tokenizer, "--to", "tokenizer.json", *out, *tok], [tokenizer], ["out"]),
        "fingerprint": (["fingerprint", tokenizer, *out, *tok], [tokenizer], ["out"]),
        "draw": (["draw", tokenizer, "--rules", "5", "-o", "out.dot"], [tokenizer], ["out.dot"]),
    }
    return {
        name: ([str(folder / each) if (folder / each).exists() else each for each in line], reads, writes)
        for name, (line, reads, writes) in rows.items()
    }


def run(line: list[str]) -> tuple[Any, str]:
    """Return the status of a command and its messages."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            main(line)
        except SystemExit as leaving:
            return leaving.code, said.getvalue()
    return None, said.getvalue()


def clear(folder: Path) -> None:
    """Remove all output."""
    for path in folder.glob("out*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def failing(line: list[str], part: Path, first: int, *, writes: bool) -> tuple[Any, str, int, bool]:
    """Return the outcome of a command if calls for a file fail: status, messages, calls, whether the file is left."""
    shim = ctypes.CDLL(None)
    shim.fail_calls.argtypes = ctypes.c_char_p, ctypes.c_int, ctypes.c_long
    shim.count_calls.restype = ctypes.c_long
    shim.fail_calls(str(part).encode(), writes, first)
    status, said = run(line)
    calls = shim.count_calls()
    shim.fail_calls(b"", 0, 0)
    return status, said, calls, writes and part.exists()


def rows(folder: Path) -> list[dict[str, Any]]:
    """Return an outcome for each file of each command: all calls for it fail, or from a later one on."""
    found = []
    for name, (given, reads, writes) in commands(folder).items():
        line = [str(folder / each) if each.startswith("out") else each for each in given]
        for file in [*reads, *writes]:
            path = folder / file
            part = path.with_name(f".{path.name}.part") if file in writes else path

            status, said, calls, _ = failing(line, part, 1 << 40, writes=file in writes)
            clear(folder)
            assert status == 0, (name, said)
            for first in sorted({0, calls // 2, calls - 1}):
                status, said, _, is_left = failing(line, part, first, writes=file in writes)
                clear(folder)
                found.append(
                    {"command": name, "file": str(path), "first": first, "calls": calls}
                    | {"status": status, "said": said, "is_left": is_left}
                )
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        root = Path(made).resolve()
        write_inputs(root)
        print(json.dumps(rows(root)))
