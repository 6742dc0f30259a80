"""Every command runs to its end on a stdout of any encoding; characters outside of the encoding are escaped."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import commands
from tests.support.tokenizer_files import tokenizer_json
from tokdfa.cli.group import COMMANDS
from tokdfa.cli.output import print_fields

ENCODINGS = ("cp1252", "latin-1", "ascii")
# "h", "é" and a Chinese character, byte by byte in GPT-2's order, then "t" and "he", which are one token.
TEXT = "hé漢the"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rules = tokenizer_json()
    (tmp_path / "tokenizer.json").write_text(json.dumps(rules), encoding="utf-8")
    other = json.loads(json.dumps(rules))
    other["model"]["merges"].pop()
    (tmp_path / "other.json").write_text(json.dumps(other), encoding="utf-8")
    (tmp_path / "merges.txt").write_text("#version: 0.2\nÃ ©\nh Ã©\n", encoding="utf-8")
    (tmp_path / "vocab.txt").write_text("[UNK]\né\n##漢\n", encoding="utf-8")
    (tmp_path / "corpus.txt").write_text("hé hé hé", encoding="utf-8")
    ids = [71, *(_id(byte) for byte in "é漢".encode()), 83, 257]
    (tmp_path / "ids.txt").write_text(" ".join(map(str, ids)))
    (tmp_path / "é.jinja").write_text("é{{ messages[0].content }}", encoding="utf-8")
    (tmp_path / "é.jsonl").write_text(json.dumps({"漢": ids}), encoding="utf-8")
    return tmp_path


def _id(byte: int) -> int:
    from tokdfa.regex.unicode.utf8 import GPT2_ORDER

    return list(GPT2_ORDER).index(byte)


def _arguments(folder: Path) -> dict[str, tuple[int, list[object]]]:
    tok, ids = folder / "tokenizer.json", folder / "ids.txt"
    return {
        "validate": (1, [tok, ids]),
        "compare": (1, [tok, folder / "other.json"]),
        "search": (0, [tok, "é.", ids]),
        "replace": (0, [tok, "é", "漢", ids]),
        "rollouts": (0, [tok, folder / "é.jsonl", "--ids", "漢"]),
        "splice": (1, [tok, "--before", "é ", "--after", "té", "--plain-specials"]),
        "turns": (1, [tok, "é{q}", "té{a}"]),
        "audit": (1, [tok, "--scheme", "turns=é"]),
        "template": (1, [tok, folder / "é.jinja"]),
        "injection": (1, [tok, "é{té}"]),
        "check-prefix": (1, [tok, str(_id("é".encode()[0])), str(_id("漢".encode()[0]))]),
        "ban": (0, [tok, "é漢", "--after", "é"]),
        "cuts": (0, [tok, "--text", "é té"]),
        "forced": (0, [tok, "--language", "é(漢|b)"]),
        "bytes": (0, [tok, "bytes"]),
        "align": (0, [tok, ids, tok, ids]),
        "bounds": (0, [tok, "--language", "é+漢"]),
        "fingerprint": (0, [tok]),
        "info": (0, [folder / "merges.txt"]),
        "info --language": (0, [folder / "merges.txt", "--language", "hé|漢"]),
        "info of WordPiece": (0, [folder / "vocab.txt"]),
        "encode": (0, [tok, TEXT]),
        "decode": (0, [tok, ids]),
        "locality": (0, [folder / "merges.txt", "--language", "(hé)*"]),
        "draw": (0, [folder / "merges.txt", "-o", folder / "é漢.dot", "--language", "é", "--force"]),
        "train": (0, [folder / "corpus.txt", "--merges", "2", "-o", folder / "漢.merges.txt", "--force"]),
        "demo": (0, ["-o", folder / "漢", "--force"]),
        "formats": (0, []),
        "split": (0, [tok, TEXT, "--explain"]),
        "stores": (0, [ids]),
        "guess": (1, [tok, ids]),
        "convert": (0, [tok, "--to", "tokenizer.json", "-o", folder / "漢.json", "--force"]),
        "doctor": (0, [tok]),
        "schema": (0, ["info"]),
    }


def _printed(monkeypatch: pytest.MonkeyPatch, encoding: str, *arguments: object) -> tuple[int, bytes]:
    """Run a command with a stdout of that encoding, strict as Python makes it."""
    buffer = io.BytesIO()
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", stdout := io.TextIOWrapper(buffer, encoding=encoding, errors="strict"))
        status = commands.run(*arguments)
        stdout.flush()
        return status, buffer.getvalue()


def test_every_command_is_tried(tmp_path: Path) -> None:
    assert {name.split()[0] for name in _arguments(tmp_path)} == set(COMMANDS)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", _arguments(Path()))
def test_text_is_shown_as_far_as_it_can_be(
    files: Path, monkeypatch: pytest.MonkeyPatch, encoding: str, name: str
) -> None:
    expected, arguments = _arguments(files)[name]
    status, printed = _printed(monkeypatch, encoding, name.split()[0], *arguments)
    assert status == expected
    assert printed
    text = printed.decode(encoding)
    # Nothing is lost: the output is the same as in UTF-8, with escapes.
    _, plain = _printed(monkeypatch, "utf-8", name.split()[0], *arguments)
    if name not in ("demo", "info", "info of WordPiece", "train"):  # These print how long they took.
        assert text == plain.decode().encode(encoding, "backslashreplace").decode(encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", [name for name in _arguments(Path()) if name not in ("demo", "schema")])
def test_json_is_ascii_unless_stdout_is_utf8(
    files: Path, monkeypatch: pytest.MonkeyPatch, encoding: str, name: str
) -> None:
    expected, arguments = _arguments(files)[name]
    status, printed = _printed(monkeypatch, encoding, name.split()[0], *arguments, "--json")
    assert status == expected
    assert printed.isascii()
    assert isinstance(json.loads(printed), dict)


def test_json_of_the_same_words(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {}
    for encoding in ("utf-8", "ascii"):
        _, found[encoding] = _printed(
            monkeypatch, encoding, "decode", files / "tokenizer.json", files / "ids.txt", "--json"
        )
    assert found["utf-8"].decode("utf-8") == f'{{"text": "{TEXT}", "cut": null, "stop": null}}\n'
    assert json.loads(found["ascii"]) == {"text": TEXT, "cut": None, "stop": None}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=str)
def test_help_is_shown_as_far_as_it_can_be(
    monkeypatch: pytest.MonkeyPatch, encoding: str, command: tuple[str, ...]
) -> None:
    status, printed = _printed(monkeypatch, encoding, *command, "--help")
    assert status == 0
    assert "Usage: tokdfa" in printed.decode(encoding)


def test_raw_bytes_are_the_same_everywhere(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding in ("utf-8", *ENCODINGS):
        printed = _printed(monkeypatch, encoding, "decode", files / "tokenizer.json", files / "ids.txt", "--raw")
        assert printed == (0, TEXT.encode())


def test_a_process_of_its_own(files: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(
        [sys.executable, "-m", "tokdfa", "decode", files / "tokenizer.json", files / "ids.txt"],
        env=environment,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "hé\\u6f22the".encode("cp1252"), b"")


def test_what_the_user_asks_for_is_done(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(buffer, encoding="cp1252", errors="replace"))
    assert commands.run("decode", files / "tokenizer.json", files / "ids.txt") == 0
    assert buffer.getvalue().decode("cp1252") == "hé?the"


def test_lines_are_not_wrapped_for_a_program(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    print_fields([("name", "a" * 300), ("other", "b c " * 100 + "d")])
    assert capsys.readouterr().out == f"name   {'a' * 300}\nother  {'b c ' * 100}d\n"
