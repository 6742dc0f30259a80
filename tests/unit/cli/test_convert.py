"""tokdfa convert."""

from __future__ import annotations

import json
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import tiktoken

import tokdfa
from tests.support.commands import run
from tests.support.tokenizer_files import TEXTS, as_bytes, tokenizer_json


@pytest.fixture
def tok(tmp_path: Path) -> Path:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json()))
    return path


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_command_and_the_snippet_that_are_printed_load_the_file(tok: Path, tmp_path: Path, capsys) -> None:
    assert run("convert", tok, "--to", "tiktoken", "-o", tmp_path / "r.tiktoken", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["files"] == [str(tmp_path / name) for name in ("r.tiktoken", "r.specials.json")]
    program, *arguments = shlex.split(found["command"])
    assert program == "tokdfa"
    assert run(*arguments) == 0
    names: dict[str, tiktoken.Encoding] = {}
    exec(found["snippet"], names)
    tokenizer = tokdfa.load(tok)
    for text in TEXTS:
        assert names["encoding"].encode(text, allowed_special="all") == tokenizer.encode(text).tolist()


def test_a_text_and_the_lost_part_are_shown_with_status_1(tok: Path, tmp_path: Path, capsys) -> None:
    assert run("convert", tok, "--to", "merges", "-o", tmp_path / "merges.txt") == 1
    shown = capsys.readouterr().out
    assert "not written    '<|end|>' has different ids as merges" in shown
    assert "no word for    which texts are special tokens: '<|end|>'" in shown
    assert left(tmp_path) == ["tokenizer.json"]


def test_the_certificate_is_checked_without_tokdfa(tok: Path, tmp_path: Path) -> None:
    out, proof = tmp_path / "r.tiktoken", tmp_path / "proof.json"
    assert run("convert", tok, "--to", "tiktoken", "-o", out, "--certificate", proof) == 0
    checker = [sys.executable, "-m", "tokdfa.check", proof, tok, out]
    assert subprocess.run(checker, check=True, capture_output=True).stdout.startswith(b"valid")
    # There is no file to be certified if the format has other ids.
    assert run("convert", tok, "--to", "merges", "-o", tmp_path / "m", "--certificate", tmp_path / "p") == 1
    assert not (tmp_path / "p").exists()


def test_files_next_to_the_output_are_replaced_only_by_force(tok: Path, tmp_path: Path, capsys) -> None:
    old = tmp_path / "r.specials.json"
    old.write_text("old")
    arguments = ("convert", tok, "--to", "tiktoken", "-o", tmp_path / "r.tiktoken")
    assert run(*arguments) == 2
    assert "r.specials.json: the file exists; --force replaces it" in capsys.readouterr().err
    assert left(tmp_path) == ["r.specials.json", "tokenizer.json"]
    assert old.read_text() == "old"
    assert run(*arguments, "--force") == 0
    assert json.loads(old.read_text()) == {"<|end|>": len(tokenizer_json()["model"]["vocab"])}


@pytest.mark.parametrize("source", ["tokenizer.json", ".", "vocab.json"])
def test_the_tokenizer_itself_is_never_replaced(source: str, tok: Path, tmp_path: Path, capsys) -> None:
    if source == "vocab.json":
        assert run("convert", tok, "--to", "merges", "--special-tokens", "plain", "-o", tmp_path / "merges.txt") == 0
        tok.unlink()
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    target = "merges" if source == "vocab.json" else "tokenizer.json"
    name = "other.txt" if source == "vocab.json" else "tokenizer.json"
    assert run("convert", tmp_path / source, "--to", target, "-o", tmp_path / name, "--force") == 2
    assert "TOK is read from this file" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_folders_and_places_that_cannot_be_written_are_refused(tok: Path, tmp_path: Path, capsys) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    assert run("convert", tok, "--to", "tiktoken", "-o", folder) == 2
    assert "Is a directory" in capsys.readouterr().err
    assert run("convert", tok, "--to", "tiktoken", "-o", tmp_path / "none" / "r") == 2
    assert "there is no folder" in capsys.readouterr().err
    assert run("convert", tok, "--to", "tiktoken", "-o", "/dev/full", "--force") == 2
    assert left(tmp_path) == ["folder", "tokenizer.json"]
    assert stat.S_ISDIR(folder.stat().st_mode)


def test_what_cannot_be_read_or_held_gives_status_2(tok: Path, tmp_path: Path, capsys) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"model": {')
    assert run("convert", broken, "--to", "tiktoken", "-o", tmp_path / "r") == 2
    entries = tmp_path / "vocab.txt"
    entries.write_text("[UNK]\na\n##b\n")
    assert run("convert", entries, "--to", "tiktoken", "-o", tmp_path / "r") == 2
    assert "is written for byte pairs only: 'WordPiece'" in capsys.readouterr().err
    assert left(tmp_path) == ["broken.json", "tokenizer.json", "vocab.txt"]
