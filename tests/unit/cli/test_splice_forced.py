"""`tokdfa forced`: the answer, its status, and messages about bad questions."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.support import commands
from tests.support.tokenizer_files import as_bytes, tokenizer_json


@pytest.fixture
def tok(tmp_path: Path) -> Path:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json([(b"a", b"b")])))
    return path


def test_the_answer_and_its_status(tok: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("forced", tok, "--language", "xa(b|c)", "--json") == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["witness"]["text"] == "xab"
    assert answer["witness"]["forced"] == "xa"
    assert answer["lengths"] == [{"bytes": 3, "texts": 2, "differing": 1}]
    assert commands.run("forced", tok, "--language", "xab|c") == 0
    assert "after every prefix" in capsys.readouterr().out
    assert commands.run("forced", tok, "--language", "xa(b|c)", "--max-bytes", "2") == 1
    assert "the texts of up to 2 bytes" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give the texts by --language REGEX or by --json-schema FILE, one of them"),
        (["--language", "a", "--json-schema", "b"], "one of them"),
        (["--language", "(a"], "the group is not closed"),
        (["--json-schema", "nothing.json"], "nothing.json: no such file"),
        (["--language", "a", "--max-bytes", "-1"], "--max-bytes"),
    ],
)
def test_bad_questions(tok: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("forced", tok, *options) == 2
    assert message in capsys.readouterr().err


def test_without_the_library(
    tok: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "outlines_core.json_schema", None)
    path = tmp_path / "schema.json"
    path.write_text("{}", encoding="utf-8")
    assert commands.run("forced", tok, "--json-schema", path) == 2
    assert "outlines-core, which is not installed (pip install outlines-core)" in capsys.readouterr().err


def test_a_json_schema(tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("outlines_core", reason="outlines-core makes expressions of JSON schemas")
    path = tmp_path / "schema.json"
    path.write_text('{"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}', encoding="utf-8")
    assert commands.run("forced", tok, "--json-schema", path, "--json") == 0
    assert json.loads(capsys.readouterr().out)["forced_states"] > 3
    for text, message in [("{", ": the schema is no JSON, "), ("[]", ", $: a schema is an object: []")]:
        path.write_text(text, encoding="utf-8")
        assert commands.run("forced", tok, "--json-schema", path) == 2
        assert f"{path}{message}" in capsys.readouterr().err
