"""`tokdfa cuts`: the positions, the status, and messages about bad questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import commands
from tests.support.tokenizer_files import as_bytes, tokenizer_json


@pytest.fixture
def tok(tmp_path: Path) -> Path:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json()))
    return path


def test_the_places_of_cuts_are_printed(tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("cuts", tok, "--text", "one two three") == 0
    assert capsys.readouterr().out == "3 7\n"
    assert commands.run("cuts", tok, "--text", "one two three", "--up-to", "7") == 0
    assert commands.run("cuts", tok, "--text", "one two three", "--up-to", "6", "--json") == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "7"
    assert json.loads("".join(out[1:])) == {"unit": "characters", "places": [3], "count": 13, "before": 6}
    ids = tmp_path / "ids.json"
    ids.write_text("[64, 220, 65]")
    assert commands.run("cuts", tok, ids) == 0
    assert capsys.readouterr().out == "1\n"
    assert commands.run("cuts", tok, "--text", "one") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give either IDS or --text TEXT, and not both"),
        (["--text", "a", "--up-to", "9"], "--up-to: there are only 1 characters"),
        (["--text", "a", "--up-to", "-1"], "--up-to"),
    ],
)
def test_bad_questions(tok: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("cuts", tok, *options) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_each_kind_of_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "vocab.txt").write_text("[UNK]\none\ntwo\n", encoding="utf-8")
    assert commands.run("cuts", str(tmp_path / "vocab.txt"), "--text", "one two") == 0
    assert capsys.readouterr().out == "3\n"
    model = {"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["a", -1]]}
    (tmp_path / "tokenizer.json").write_text(
        json.dumps({"model": model, "decoder": {"type": "Fuse"}}), encoding="utf-8"
    )
    assert commands.run("cuts", str(tmp_path / "tokenizer.json"), "--text", "a a") == 2
    assert "safe cuts are not known: sums of scores go on across them: 'Unigram'" in capsys.readouterr().err
