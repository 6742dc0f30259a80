"""The text that a command reads."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import click
import pytest

from tokdfa.cli.text import check_one_text, read_text
from tokdfa.errors import AlphabetError


def test_a_text_a_file_or_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes("é\r\n".encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n")))
    assert [read_text("x", None), read_text(None, str(path)), read_text(None, "-")] == ["x", "é\r\n", "a\n"]
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
