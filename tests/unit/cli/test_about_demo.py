"""tokdfa demo."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.commands import run


def test_writes_what_it_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo", "--output", tmp_path / "here") == 0
    shown = capsys.readouterr().out
    assert shown.count("NOT canonical") == 1
    tokenizer = tokdfa.load(tmp_path / "here" / "merges.txt", pretokenizer="gpt2")
    assert tokenizer.dictionary == tokdfa.default_dictionary()
    good, spoiled = (np.load(tmp_path / "here" / f"{name}.npy") for name in ("good", "spoiled"))
    assert tokenizer.decode(good) == tokenizer.decode(spoiled)
    assert tokenizer.encode(tokenizer.decode(good)).tolist() == good.tolist()
    first = next(index for index, (a, b) in enumerate(zip(good, spoiled, strict=False)) if a != b)
    assert f"token {first} " in shown
    assert "<h1>Not canonical</h1>" in (tmp_path / "here" / "spoiled.html").read_text(encoding="utf-8")
    assert (tmp_path / "here" / "toy.dot").read_text(encoding="utf-8").startswith("digraph")


def test_a_file_in_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "here").write_text("")
    assert run("demo", "--output", tmp_path / "here") == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
