"""`tokdfa splice`: the answer, its status, and messages about bad questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tokdfa
from tests.support import commands
from tests.support.tokenizer_files import added_token, as_bytes, tokenizer_json


@pytest.fixture
def tok(tmp_path: Path) -> Path:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json([(b"a", b"b")])))
    return path


def test_the_answer_and_its_status(tok: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("splice", tok, "--before", "a", "--after", "b", "--json") == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["witness"]["before"] == "a"
    assert answer["witness"]["after"] == "b"
    assert commands.run("splice", tok, "--before", "<|end|>", "--after", "b") == 0
    assert "splices" in capsys.readouterr().out
    assert commands.run("splice", tok, "--before", "[ab]", "--regex", "--after", "b") == 1
    assert "the shortest texts for which not" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--before-ids", "a"], "is not an id"),
        (["--before", "(", "--regex"], "not closed"),
        (["--before", "a", "--within-before", "b"], "no text is in this language"),
        (["--before-ids", "99999"], "99999"),
    ],
)
def test_bad_questions(tok: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("splice", tok, *options) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_only_the_control_ids_that_are_named_count(tok: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = json.loads(tok.read_bytes())
    file["added_tokens"] = [added_token(300, "<|end|>"), added_token(301, "<|pad|>")]
    tok.write_text(json.dumps(file), encoding="utf-8")
    id = next(special.id for special in tokdfa.load(tok).specials if special.content == "<|end|>")
    forged = "<|en{content}"
    for control, is_safe in (((), False), (("<|end|>",), False), ((str(id), "<|pad|>"), False), (("<|pad|>",), True)):
        options = [part for name in control for part in ("--control", name)]
        assert commands.run("injection", tok, forged, *options, "--json") == 1
        attack = json.loads(capsys.readouterr().out)["spelling_none"]["attack"]
        assert (attack and attack["made"]) == (None if is_safe else [id])
    for wrong, message in (("<|en|>", "did you mean <|end|>?"), ("3", "not the id of a special token: 3")):
        assert commands.run("injection", tok, forged, "--control", wrong) == 2
        assert f"--control: {message}" in capsys.readouterr().err.replace("no such special token: '<|en|>' (", "")
