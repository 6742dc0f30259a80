"""The text that a command reads."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from tests.support import commands
from tests.support.tokenizer_files import as_bytes, tokenizer_json
from tokdfa.base.errors import AlphabetError, PatternError
from tokdfa.cli.ids import check_one_text, given_parts, given_text, read_text
from tokdfa.jobs.splices.parts import Slot


def test_a_text_a_file_or_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes("é\r\n".encode())
    assert [read_text("x", None), read_text(None, str(path))] == ["x", "é\r\n"]
    for text, file in ("-", None), (None, "-"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n")))
        assert read_text(text, file) == "a\n"
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\xc3")))
        with pytest.raises(AlphabetError, match="standard input, byte 1: not UTF-8"):
            read_text(text, file)
    path.write_bytes(b"a\xc3")
    with pytest.raises(AlphabetError, match="byte 1: not UTF-8"):
        read_text(None, str(path))


def test_exactly_one_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text, path in ((None, None), ("a", "b")):
        with pytest.raises(click.UsageError, match="not both"):
            check_one_text(text, path, "encodes")
    check_one_text("a\0", None, "encodes")
    assert capsys.readouterr().err == ""
    path = tmp_path / "a"
    path.write_text("")
    check_one_text(str(path), None, "encodes")
    assert "is taken as a text, and there is a file of this name" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (r"a\nb", "a\nb"),
        (r"\\n\t\r", "\\n\t\r"),
        (r"\u00e9\U0001F600", "é\U0001f600"),
        ("no escape", "no escape"),
    ],
)
def test_escapes_are_read_only_where_they_are_asked_for(given: str, text: str) -> None:
    assert given_text(given, escapes=False) == given
    assert given_text(given, escapes=True) == text


@pytest.mark.parametrize("text", [r"\d", "a\\", r"\x41", r"\u12", r"\U00110000"])
def test_an_unknown_escape_is_an_error(text: str) -> None:
    with pytest.raises(PatternError, match=r"an unknown escape.*known are \\n"):
        given_text(text, escapes=True)


@pytest.mark.parametrize(("text", "hint"), [(r"a\nb", r"\n is taken literally, as 2"), (r"a\\nb", ""), (r"\d", "")])
def test_an_escape_that_is_taken_literally_is_remarked(
    text: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given_text(text, escapes=False)
    said = capsys.readouterr().err
    assert hint in said
    assert bool(hint) == bool(said)


@pytest.mark.parametrize(("options", "sign"), [([], r"\n"), (["--escapes"], "\n")])
def test_every_command_reads_the_same_text(
    options: list[str], sign: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Two line ends are one token, so they join; a backslash and an "n" never do.
    tok = tmp_path / "tokenizer.json"
    tok.write_bytes(as_bytes(tokenizer_json([(b"\n", b"\n")])))

    def answer(name: str, *arguments: str) -> dict[str, Any]:
        commands.run(name, tok, *arguments, *options, "--json")
        return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]

    joins = sign == "\n"
    assert len(answer("encode", r"\n\n")["ids"]) == (1 if joins else 4)
    assert answer("split", r"\na")["text"] == f"{sign}a"
    assert answer("cuts", "--text", r"\na")["count"] == len(f"{sign}a")
    assert answer("splice", "--before", r"\n", "--after", r"\n", "--as-start")["splices"] is not joins
    assert answer("turns", r"<|end|>\n", r"\n<|end|>")["kept"] is not joins
    assert answer("injection", r"\n{a}")["any_text"]["attack"]["text"].startswith(sign)


def test_the_pattern_of_a_slot_has_escapes_of_its_own() -> None:
    assert given_parts(r"\n{a:\d\n}", escapes=True) == ("\n", Slot("a", r"\d\n"))
    assert given_parts(r"\n{a:\d\n}", escapes=False) == ("\\n", Slot("a", r"\d\n"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["splice", "TOK", "--regex", "--before", r"\n"],
        ["encode", "TOK", "--file", "TOK"],
        ["encode", "TOK", "-"],
        ["cuts", "TOK", "TOK"],
        ["search", "TOK", "a", "TOK"],
    ],
)
def test_escapes_without_a_text_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(*arguments, "--escapes") == 2
    assert "--escapes is for" in capsys.readouterr().err


def test_a_dash_is_standard_input_for_texts_as_for_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tok = tmp_path / "tokenizer.json"
    tok.write_bytes(as_bytes(tokenizer_json([(b"a", b"b")])))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").write_text("a file of this name is not meant")
    for name in ("encode", "split"):
        assert commands.run(name, tok, "ab\n") == 0
        expected = capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"ab\n")))
        assert commands.run(name, tok, "-") == 0
        assert capsys.readouterr() == expected
