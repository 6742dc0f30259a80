"""Exit status 1 is an answer: anything unexpected is status 2 with one line, and the traceback only on request."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tokdfa.stores
from tests.support import commands


def _fail_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def iter_ids(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(tokdfa.stores, "iter_ids", iter_ids)
    monkeypatch.setattr(tokdfa.stores, "open_store", iter_ids)


def _vocabulary(folder: Path) -> Path:
    path = folder / "vocab.txt"
    path.write_text("[UNK]\na\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("command", [["validate"], ["decode"], ["search", "a"]], ids=lambda parts: parts[0])
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ZeroDivisionError("division by zero"), "unexpected ZeroDivisionError: division by zero"),
        (AssertionError(), "unexpected AssertionError, in tokdfa/cli/"),
        (TypeError("two\nlines"), "unexpected TypeError: two lines"),
        (RecursionError("maximum recursion depth exceeded"), "nested too deeply"),
        (MemoryError(), "out of memory"),
        (MemoryError("Unable to allocate 7 TiB"), "out of memory: Unable to allocate 7 TiB"),
        (SystemExit(1), "unexpected SystemExit"),
        (EOFError("the end"), "unexpected EOFError: the end"),
        (OSError(5, "Input/output error", "ids.npy"), "ids.npy: Input/output error"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_whatever_is_unexpected_is_trouble(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    error: BaseException,
    said: str,
) -> None:
    monkeypatch.delenv("TOKDFA_DEBUG", raising=False)
    _fail_with(monkeypatch, error)
    name, *rest = command
    assert commands.run(name, _vocabulary(tmp_path), *rest, "ids.npy") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert line.startswith("tokdfa: error: ")
    assert said in line


def test_the_line_says_where_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TOKDFA_DEBUG", raising=False)
    _fail_with(monkeypatch, KeyError("cell"))
    assert commands.run("validate", _vocabulary(tmp_path), "ids.npy") == 2
    line = capsys.readouterr().err
    assert "KeyError: 'cell', in tokdfa/cli/ids.py, line " in line
    assert "TOKDFA_DEBUG=1" in line


def test_debugging_shows_the_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TOKDFA_DEBUG", "1")
    _fail_with(monkeypatch, KeyError("cell"))
    assert commands.run("validate", _vocabulary(tmp_path), "ids.npy") == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1].startswith("tokdfa: error: unexpected KeyError")


def test_an_interrupt_is_neither_yes_nor_no(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _fail_with(monkeypatch, KeyboardInterrupt())
    assert commands.run("validate", _vocabulary(tmp_path), "ids.npy") == 130
    assert capsys.readouterr().err.splitlines()[-1] == "tokdfa: interrupted"


def test_a_command_that_cannot_be_imported_is_trouble(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tokdfa.cli.about", None)
    assert commands.run("demo") == 2
    assert "ModuleNotFoundError" in capsys.readouterr().err


def _start(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tokdfa", *map(str, arguments)]
    return subprocess.run(command, check=False, text=True, stderr=subprocess.PIPE, **options)  # type: ignore[call-overload, no-any-return]


def test_the_package_runs_as_a_program() -> None:
    done = _start("--version", stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (0, f"tokdfa, version {tokdfa.__version__}\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
def test_an_answer_that_cannot_be_written_is_trouble(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        assert _start("--version", stdout=full).returncode == 2
        done = _start("encode", _vocabulary(tmp_path), "a", stdout=full)
    assert (done.returncode, done.stderr) == (2, "tokdfa: error: standard output: No space left on device\n")


def test_a_reader_that_has_gone_is_told_nothing(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as gone:
        for arguments in (["encode", _vocabulary(tmp_path), "a"], ["--help"]):
            done = _start(*arguments, stdout=gone)
            assert (done.returncode, done.stderr) == (2, "")


def test_shells_are_helped_to_complete() -> None:
    environment = {**os.environ, "_TOKDFA_COMPLETE": "bash_complete", "COMP_WORDS": "tokdfa val", "COMP_CWORD": "1"}
    done = _start(stdout=subprocess.PIPE, env=environment)
    assert (done.returncode, done.stdout) == (0, "plain,validate\n")


def test_ids_in_the_place_of_the_tokenizer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ids.bin").write_bytes(b"\1\0\2\0")
    assert commands.run("validate", tmp_path / "ids.bin", _vocabulary(tmp_path)) == 2
    assert "(this is a file of ids; a tokenizer is expected here)" in capsys.readouterr().err


def test_a_missing_file_is_answered_with_what_was_meant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ids.npy").write_bytes(b"")
    vocabulary = _vocabulary(tmp_path)
    for command, name, hint in (
        (["validate", vocabulary], "idz.npy", f"(did you mean {tmp_path / 'ids.npy'}?)"),
        (["search", vocabulary, "a"], "idz.npy", f"(did you mean {tmp_path / 'ids.npy'}?)"),
        (["encode", vocabulary, "--file"], "vocap.txt", f"(did you mean {vocabulary}?)"),
        (["validate", vocabulary], "else.npy", "else.npy: No such file or directory\n"),
        (["validate", vocabulary], "nothing/ids.npy", f"(there is no folder {tmp_path / 'nothing'})"),
        (["decode", vocabulary], "i*.npy", "(patterns are not expanded here: give the name of one file"),
    ):
        assert commands.run(*command, tmp_path / name) == 2
        said = capsys.readouterr().err
        assert f"{tmp_path / name}: No such file or directory" in said
        assert hint in said


def test_records_in_the_place_of_the_tokenizer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rollouts.jsonl").write_text('{"input_ids": [1]}\n', encoding="utf-8")
    assert commands.run("validate", tmp_path / "rollouts.jsonl", _vocabulary(tmp_path)) == 2
    assert "records, not of a tokenizer (for rollouts: tokdfa rollouts TOK FILE)" in capsys.readouterr().err
