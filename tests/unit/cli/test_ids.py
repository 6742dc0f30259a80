"""The argument IDS: one file, and what to do with several or with numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import commands


def test_one_file_of_ids_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = "decode"
    (tmp_path / "vocab.txt").write_text("[UNK]\na\n", encoding="utf-8")
    (tmp_path / "ids.txt").write_text("1", encoding="utf-8")
    tok, ids = tmp_path / "vocab.txt", tmp_path / "ids.txt"
    assert commands.run(command, tok, ids) == 0
    capsys.readouterr()
    for given, said in (
        ((), "Missing argument 'IDS'"),
        (
            (ids, ids),
            f"IDS is one file, and here are 2: {ids} {ids}; take one after the other: "
            f'for f in …; do tokdfa {command} TOK "$f" || echo "$f"; done',
        ),
        ((ids, ids, ids, ids), f"here are 4: {ids} {ids} {ids} …; take"),
        (("64", "261"), f"ids are read from a file, or from standard input: echo 64 261 | tokdfa {command} TOK -"),
    ):
        assert commands.run(command, tok, *given) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        (line,) = captured.err.splitlines()
        assert said in line
        assert f"usage: tokdfa {command} [OPTIONS] TOK IDS;" in line


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "Missing argument 'IDS...'"),
        (["64", "261"], "ids are read from a file, or from standard input: echo 64 261 | tokdfa validate TOK -"),
        (["-", "ids.txt"], "standard input is one stream, and cannot be given together with files"),
        (["no*.npy", "ids.txt"], "no*.npy: no files of ids"),
    ],
)
def test_many_files_are_refused_with_a_hint(
    given: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "vocab.txt").write_text("[UNK]\na\n", encoding="utf-8")
    assert commands.run("validate", tmp_path / "vocab.txt", *given) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert said in line
