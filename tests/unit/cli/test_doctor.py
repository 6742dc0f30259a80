"""tokdfa doctor exits with the worst of its findings, and --known accepts those of an earlier run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import run
from tests.support.model_folders import N, edited, write_sound


def test_the_status_is_that_of_the_worst_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_sound(tmp_path / "a")
    assert run("doctor", tmp_path / "a") == 0
    assert "0 faults" in capsys.readouterr().out
    edited("config.json", vocab_size=1)(tmp_path / "a")
    assert run("doctor", tmp_path / "a") == 1
    shown = capsys.readouterr().out
    assert "vocab_size is 1" in shown
    assert "→ set vocab_size" in shown
    (tmp_path / "b").mkdir()
    assert run("doctor", tmp_path / "b") == 2
    assert run("doctor", tmp_path / "c") == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_known_findings_are_accepted_until_there_is_a_new_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, known = write_sound(tmp_path / "a"), tmp_path / "known.json"
    edited("config.json", vocab_size=1)(folder)
    assert run("doctor", folder, "--json") == 1
    known.write_text(capsys.readouterr().out, encoding="utf-8")
    assert run("doctor", folder, "--known", known) == 0
    assert "(known)" in capsys.readouterr().out
    edited("config.json", vocab_size=2)(folder)
    assert run("doctor", folder, "--known", known) == 1
    edited("config.json", vocab_size=1)(folder)
    edited("generation_config.json", bos_token_id=N + 1)(folder)
    assert run("doctor", folder, "--known", known) == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"findings": [1]}', "[" * 100_000, '{"findings": {}}'])
def test_a_file_that_is_not_an_earlier_answer_is_refused(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = tmp_path / "known.json"
    known.write_text(text, encoding="utf-8")
    assert run("doctor", write_sound(tmp_path / "a"), "--known", known) == 2
    assert "not the output of doctor --json" in capsys.readouterr().err
