"""The remark that a text is not split: once, with the answer, and never beside an error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import commands
from support.tokenizer_files import merges_txt, tiktoken_lines, tokenizer_json


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "merges.txt").write_text(merges_txt(), encoding="utf-8")
    (tmp_path / "cl100k_base.tiktoken").write_bytes(tiktoken_lines())
    whole = tokenizer_json()
    (tmp_path / "split.json").write_text(json.dumps(whole), encoding="utf-8")
    (tmp_path / "ids.txt").write_text("64 65", encoding="utf-8")
    (tmp_path / "r.jsonl").write_text('{"ids": [64, 65]}', encoding="utf-8")
    return tmp_path


def test_which_one_is_meant(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["validate", "{}", files / "ids.txt"], ["rollouts", "{}", files / "r.jsonl", "--ids", "ids"]):
        for name, hint in (
            ("merges.txt", "choose one, such as --pretokenizer gpt2"),
            ("cl100k_base.tiktoken", "--pretokenizer cl100k is that of the encoding cl100k_base"),
        ):
            tok = files / name
            assert commands.run(*(tok if part == "{}" else part for part in command)) == 0
            assert capsys.readouterr().err == (
                f"tokdfa: no pre-tokenizer in {tok}: the whole text is one piece ({hint})\n"
            )


def test_the_second_of_two(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("compare", files / "split.json", files / "merges.txt") in (0, 1)
    assert capsys.readouterr().err == (
        f"tokdfa: no pre-tokenizer in {files / 'merges.txt'}: the whole text is one piece "
        "(choose one, such as --pretokenizer-b gpt2)\n"
    )


def test_none_by_choice_of_the_file(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("validate", files / "split.json", files / "ids.txt") == 0
    assert capsys.readouterr().err == ""


def test_not_beside_an_error(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("validate", files / "merges.txt", files / "nothing.npy") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("tokdfa: error: ")
