"""``tokdfa encode``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support import commands

MERGES = Path(__file__).parents[3] / "tokdfa" / "tokenizers" / "data" / "default.merges.txt"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = commands.run("encode", *arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture
def tok(tmp_path: Path) -> str:
    path = tmp_path / "merges.txt"
    path.write_bytes(MERGES.read_bytes())
    return str(path)


def test_ids_of_a_text(capsys: pytest.CaptureFixture[str], tok: str, tmp_path: Path) -> None:
    status, out, _ = run(capsys, tok, "hello there", "--pretokenizer", "gpt2")
    ids = [int(number) for number in out.split()]
    assert (status, len(ids) > 0) == (0, True)
    _, out, _ = run(capsys, tok, "hello there", "--pretokenizer", "gpt2", "--json")
    assert json.loads(out) == {"ids": ids}
    text = tmp_path / "text.txt"
    text.write_text("hello there", encoding="utf-8")
    _, out, _ = run(capsys, tok, "--file", str(text), "--pretokenizer", "gpt2", "-o", str(tmp_path / "ids.npy"))
    assert out == ""
    assert np.load(tmp_path / "ids.npy").tolist() == ids


def test_trouble_is_one_line(capsys: pytest.CaptureFixture[str], tok: str, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_bytes(b"abc\xff")
    status, _, error = run(capsys, tok, "--file", str(text))
    assert status == 2
    assert "byte 3: not UTF-8" in error
    assert error.count("\n") == 1
    # A byte that is not UTF-8 on the command line arrives as half of a surrogate pair.
    status, _, error = run(capsys, tok, "ab\udcff")
    assert (status, "TEXT, byte 2: not UTF-8" in error) == (2, True)
    assert run(capsys, tok)[0] == 2
    assert run(capsys, tok, "a", "--file", str(text))[0] == 2


@pytest.mark.parametrize("name", ["out1", "ids.npy", "ids.data", "é漢"])
def test_the_file_that_is_named_is_written(
    capsys: pytest.CaptureFixture[str], tok: str, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    assert run(capsys, tok, "hello there", "-o", str(folder / name), "--json")[0] == 0
    assert [path.name for path in folder.iterdir()] == [name]
    with (folder / name).open("rb") as stream:
        ids = np.load(stream)
    assert [str(number) for number in ids] == run(capsys, tok, "hello there")[1].split()


def test_a_full_disk_leaves_nothing(capsys: pytest.CaptureFixture[str], tok: str, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    folder = tmp_path / "out"
    folder.mkdir()
    path = folder / "ids.npy"
    text = "hello there " * 1000
    assert run(capsys, tok, "hello", "-o", str(path))[0] == 0
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, hard))
    try:
        outcomes = [run(capsys, tok, text, "-o", str(folder / name), "--force") for name in ("ids.npy", "new.npy")]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    for (status, out, error), name in zip(outcomes, ("ids.npy", "new.npy"), strict=True):
        assert (status, out) == (2, "")
        assert error == f"tokdfa: error: {folder / name}: File too large\n"
    assert [path.name for path in folder.iterdir()] == ["ids.npy"]
    assert path.read_bytes() == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
def test_a_full_device_is_trouble(capsys: pytest.CaptureFixture[str], tok: str) -> None:
    status, out, error = run(capsys, tok, "hello", "-o", "/dev/full")
    assert (status, out, error) == (2, "", "tokdfa: error: /dev/full: No space left on device\n")


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="standard output is no file here")
def test_a_pipe_is_written_to_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("[UNK]\na\n", encoding="utf-8")
    command = [sys.executable, "-m", "tokdfa", "encode", str(tmp_path / "vocab.txt"), "a", "-o", "/dev/stdout"]
    done = subprocess.run(command, capture_output=True, check=True)
    (tmp_path / "ids.npy").write_bytes(done.stdout)
    assert np.load(tmp_path / "ids.npy").tolist() == [1]


@pytest.mark.parametrize(("place", "said"), [("", "Is a directory"), ("none/ids.npy", "No such file or directory")])
def test_a_place_that_cannot_be_written_is_said_before_the_work(
    capsys: pytest.CaptureFixture[str], tok: str, tmp_path: Path, place: str, said: str
) -> None:
    status, out, error = run(capsys, str(tmp_path / "no such file"), "hello", "-o", str(tmp_path / place))
    assert (status, out) == (2, "")
    assert said in error


def test_a_file_is_meant(capsys: pytest.CaptureFixture[str], tok: str, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("a", encoding="utf-8")
    assert commands.run("encode", tok, tmp_path / "text.txt") == 0
    assert f"(--file {tmp_path / 'text.txt'} encodes the file)" in capsys.readouterr().err
    for text in ("a" * 5000, "a\0b"):
        assert commands.run("encode", tok, text, "--pretokenizer", "none") == 0
        assert capsys.readouterr().err == ""


NOT_NPY = ["ids.txt", "ids.TXT", "ids.json", "ids.jsonl", "ids.jsonl.gz", "ids.jsonl.zst", "ids.ndjson", "ids.bin"]
NOT_NPY += [
    "ids.parquet",
    "ids.arrow",
    "ids.feather",
    "ids.mds",
    "ids.ds",
    "ids.npz",
    "ids.tar",
    "ids.npy.gz",
    "ids.pt",
]


@pytest.mark.parametrize("name", NOT_NPY)
def test_ids_are_not_written_under_the_name_of_another_format(
    capsys: pytest.CaptureFixture[str], tok: str, tmp_path: Path, name: str
) -> None:
    np.save(tmp_path / "given.npy", [64, 261])
    replaced = ("replace", tok, "a", "b", tmp_path / "given.npy")
    path = tmp_path / name
    for arguments, option in (
        (("encode", tok, "a", "-o", path), "-o"),
        ((*replaced, "-o", path), "-o"),
        ((*replaced, "-o", tmp_path / "new.npy", "--starts", path), "--starts"),
    ):
        assert commands.run(*arguments) == 2
        message = f"{option}: {path}: ids are written as .npy only; give a name that ends in .npy"
        assert message in capsys.readouterr().err
    assert {each.name for each in tmp_path.iterdir()} == {"given.npy", "merges.txt"}
