"""tokdfa decode."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.commands import run
from tests.support.tokenizer_files import merges_txt

TEXT = "the é\n\n\taa 中 <|end|>"


@pytest.fixture
def merges(tmp_path: Path) -> Path:
    path = tmp_path / "merges.txt"
    path.write_text(merges_txt(), encoding="utf-8")
    return path


def test_text_and_nothing_behind_it(merges: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    ids = tokdfa.load(merges).encode(TEXT)
    np.save(tmp_path / "ids.npy", ids)
    (tmp_path / "ids.txt").write_text(" ".join(map(str, ids.tolist())))
    ids.astype(np.uint16).tofile(tmp_path / "ids.bin")
    for arguments in (["ids.npy"], ["ids.txt"], ["ids.bin", "--dtype", "uint16"]):
        for raw in ([], ["--raw"]):
            assert run("decode", merges, tmp_path / arguments[0], *arguments[1:], *raw) == 0
            assert capfdbinary.readouterr().out == TEXT.encode()


def test_json_has_the_text(merges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ids.json"
    path.write_text(str(tokdfa.load(merges).encode(TEXT).tolist()))
    assert run("decode", merges, path, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"text": TEXT, "cut": None, "stop": None}


def test_bytes_that_are_not_utf8(merges: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "ids.json"
    path.write_text(str([64, *tokdfa.load(merges).encode_piece(b"\xff").tolist()]))
    assert run("decode", merges, path) == 2
    error = capfdbinary.readouterr().err.decode()
    assert error.startswith(f"tokdfa: error: {path}, token 1, byte 1: the bytes of the ids are not UTF-8: b'\\xff'")
    assert error.count("\n") == 1
    assert run("decode", merges, path, "--raw") == 0
    assert capfdbinary.readouterr().out == b"a\xff"


@pytest.mark.parametrize(
    ("content", "message"),
    [("[1, 9999]", "token 1: id out of range: 9999"), ("[-1]", "negative id"), ("[1.5]", "1.5"), ("", "ids.json")],
)
def test_trouble_is_one_line(
    content: str, message: str, merges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ids.json"
    path.write_text(content)
    assert run("decode", merges, path, "--json") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_raw_and_json_exclude_each_other(merges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("decode", merges, "-", "--raw", "--json") == 2
    assert "cannot be combined" in capsys.readouterr().err


@pytest.mark.parametrize("errors", ["replace", "ignore", "backslashreplace"])
def test_a_stream_cut_within_a_character_says_where(
    errors: str, merges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ids.json"
    path.write_text(str([64, *tokdfa.load(merges).encode_piece("中".encode()[:2]).tolist()]))
    expected = b"a\xe4\xb8".decode(errors=errors)
    assert run("decode", merges, path, "--errors", errors) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == (
        expected,
        f"tokdfa: {path}, token 1, byte 1: the ids end within a character\n",
    )
    assert run("decode", merges, path, "--errors", errors, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "text": expected,
        "cut": {"token": 1, "byte": 1},
        "stop": None,
    }
    # The text up to there is printed before the error.
    assert run("decode", merges, path) == 2
    printed = capsys.readouterr()
    assert printed.out == "a"
    assert f"{path}, token 1, byte 1: the ids end within a character" in printed.err


def test_text_is_printed_up_to_the_first_stop(merges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ids.txt"
    path.write_text(" ".join(map(str, tokdfa.load(merges).encode("the ab the é\n").tolist())))
    at = {"token": len(tokdfa.load(merges).encode("the ")), "byte": 0}
    assert run("decode", merges, path, "--stop", "zz", "--stop", "ab ") == 0
    printed = capsys.readouterr()
    assert printed.out == "the "
    assert printed.err == f"tokdfa: {path}, token {at['token']}, byte 0 of it: the stop string 'ab ' begins\n"
    assert run("decode", merges, path, "--stop", "zz", "--stop", "ab ", "--json") == 0
    found = {"text": "ab ", "index": 1} | at
    assert json.loads(capsys.readouterr().out) == {"text": "the ", "cut": None, "stop": found}
    assert run("decode", merges, path, "--stop", "é\n\n") == 0
    assert capsys.readouterr() == ("the ab the é\n", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--stop", ""], "a stop string is a text that is not empty"),
        (["--stop", "a", "--raw"], "--stop and --raw cannot be combined"),
        (["--stop", "a", "--errors", "ignore"], "--stop and --errors ignore cannot be combined"),
    ],
)
def test_stops_that_cannot_be_looked_for_are_refused(
    options: list[str], message: str, merges: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("decode", merges, "-", *options) == 2
    assert message in capsys.readouterr().err
