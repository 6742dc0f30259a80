"""The remark that a text is not split comes once, with the answer, and never with an error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import commands
from tests.support.tokenizer_files import merges_txt, tiktoken_lines, tokenizer_json


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "merges.txt").write_text(merges_txt(), encoding="utf-8")
    (tmp_path / "cl100k_base.tiktoken").write_bytes(tiktoken_lines())
    whole = tokenizer_json()
    (tmp_path / "split.json").write_text(json.dumps(whole), encoding="utf-8")
    (tmp_path / "ids.txt").write_text("64 65", encoding="utf-8")
    (tmp_path / "r.jsonl").write_text('{"ids": [64, 65]}', encoding="utf-8")
    return tmp_path


OF_TEXT = {
    "validate": ["{}", "ids.txt"],
    "rollouts": ["{}", "r.jsonl", "--ids", "ids"],
    "encode": ["{}", "a"],
    "split": ["{}", "a"],
    "cuts": ["{}", "ids.txt"],
    "splice": ["{}", "--before", "a", "--after", "b"],
    "turns": ["{}", "{q}", "b{a}"],
    "audit": ["{}", "--scheme", "text-prefix"],
    "injection": ["{}", "x{content}y"],
    "check-prefix": ["{}", "64", "64,65"],
    "ban": ["{}", "ab"],
    "forced": ["{}", "--language", "ab"],
    "bytes": ["{}", "bytes"],
    "bounds": ["{}"],
    "replace": ["{}", "a", "b", "ids.txt"],
    "fingerprint": ["{}"],
}


@pytest.mark.parametrize("command", OF_TEXT)
def test_an_answer_about_an_unsplit_text_says_so(files: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    def run(tok: Path, *options: str) -> tuple[int, str]:
        arguments = [str(files / part) if (files / part).exists() else part for part in OF_TEXT[command]]
        status = commands.run(command, *(str(tok) if part == "{}" else part for part in arguments), *options)
        return status, capsys.readouterr().err

    status, said = run(files / "merges.txt")
    assert status in (0, 1)
    assert said.endswith(
        f"tokdfa: no pre-tokenizer in {files / 'merges.txt'}: the whole text is one piece "
        "(choose one, such as --pretokenizer gpt2)\n"
    )
    assert "no pre-tokenizer" not in run(files / "merges.txt", "--pretokenizer", "none")[1]
    # Ranks are never of a dictionary alone.
    status, said = run(files / "cl100k_base.tiktoken")
    assert status == 2
    assert f"{files / 'cl100k_base.tiktoken'}: a file of ranks does not say how text is split" in said
    assert "gpt2, gpt2_tiktoken, cl100k, o200k, llama3, qwen2, tekken, kimi, deepseek, a pattern, or none" in said
    assert run(files / "cl100k_base.tiktoken", "--pretokenizer", "none")[0] in (0, 1)


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


@pytest.mark.parametrize("name", ["r50k.tiktoken", "tiktoken.model", "ranks"])
def test_info_about_ranks_that_are_not_known_names_the_choices_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(tiktoken_lines())
    assert commands.run("info", path) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"tokdfa: error: {path}: a file of ranks does not say how text is split")
    assert commands.run("info", path, "--pretokenizer", "none") == 0
