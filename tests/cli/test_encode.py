"""``tokdfa encode``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support import commands

MERGES = Path(__file__).parents[2] / "tokdfa" / "data" / "default.merges.txt"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = commands.run("encode", *arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture
def tok(tmp_path: Path) -> str:
    path = tmp_path / "merges.txt"
    path.write_bytes(MERGES.read_bytes())
    return str(path)


def test_ids_of_a_text(capsys: pytest.CaptureFixture[str], tok: str, tmp_path: Path) -> None:
    status, out, _ = run(capsys, tok, "hello there", "--pretokenizer", "gpt2")
    ids = [int(number) for number in out.split()]
    assert (status, len(ids) > 0) == (0, True)
    _, out, _ = run(capsys, tok, "hello there", "--pretokenizer", "gpt2", "--json")
    assert json.loads(out) == {"ids": ids}
    text = tmp_path / "text.txt"
    text.write_text("hello there", encoding="utf-8")
    _, out, _ = run(capsys, tok, "--file", str(text), "--pretokenizer", "gpt2", "-o", str(tmp_path / "ids.npy"))
    assert out == ""
    assert np.load(tmp_path / "ids.npy").tolist() == ids


def test_trouble_is_one_line(capsys: pytest.CaptureFixture[str], tok: str, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_bytes(b"abc\xff")
    status, _, error = run(capsys, tok, "--file", str(text))
    assert status == 2
    assert "byte 3: not UTF-8" in error
    assert error.count("\n") == 1
    # What is no UTF-8 on the command line comes as half of a surrogate pair.
    status, _, error = run(capsys, tok, "ab\udcff")
    assert (status, "character 2: half of a surrogate pair" in error) == (2, True)
    assert run(capsys, tok)[0] == 2
    assert run(capsys, tok, "a", "--file", str(text))[0] == 2
