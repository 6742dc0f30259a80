"""What is not a file of ids, and what is said to do with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokdfa.errors import TokenStreamError
from tokdfa.stores import iter_ids


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("r.jsonl", "this is a file of records: tokdfa rollouts TOK {} --ids FIELD"),
        ("r.PARQUET", "tokdfa rollouts TOK {} --ids FIELD"),
        ("r.jsonl.gz", "tokdfa rollouts TOK {} --ids FIELD"),
        ("ids.txt.gz", "unpack it: zcat {} | tokdfa validate TOK -)"),
        ("ids.bin.zst", "unpack it: zstdcat {} | tokdfa validate TOK - --dtype uint16)"),
        ("ids.npy.gz", "use .npy, .bin, .json or .txt, or - for standard input"),
        ("ids.pt", "numpy.save"),
        ("ids.idx", "with --dtype"),
        ("ids", "use .npy, .bin, .json or .txt, or - for standard input"),
    ],
)
def test_files(tmp_path: Path, name: str, hint: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"1")
    with pytest.raises(TokenStreamError, match="no ids can be read from a file with this suffix") as caught:
        iter_ids(path)
    assert hint.format(path) in str(caught.value)


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        (["a.npy", "b.npy"], 'for f in {}/*.npy; do tokdfa validate TOK "$f" || echo "$f"; done'),
        (["a.bin"], 'for f in {}/*.bin; do tokdfa validate TOK "$f" --dtype uint16 || echo "$f"; done'),
        (["a.jsonl"], "tokdfa rollouts TOK {}/*.jsonl --ids FIELD"),
        (["a.py"], "no .npy, .bin, .json or .txt file is in it"),
        ([], "no .npy, .bin, .json or .txt file is in it"),
    ],
)
@pytest.mark.parametrize("folder", ["shards", "shards.npy"])
def test_folders(tmp_path: Path, folder: str, names: list[str], hint: str) -> None:
    path = tmp_path / folder
    path.mkdir()
    for name in names:
        (path / name).touch()
    with pytest.raises(TokenStreamError, match="this is a folder, and ids are read from one file") as caught:
        iter_ids(path)
    assert hint.format(path) in str(caught.value)


@pytest.mark.parametrize("numbers", ["64 261", "64", "[64, 261]", "64,261"])
def test_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, numbers: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TokenStreamError, match=r"echo 64( 261)? \| tokdfa validate TOK -"):
        iter_ids(numbers)


@pytest.mark.parametrize("name", ["nothing", "nothing.jsonl", "nothing.npy", "nothing.txt"])
def test_what_does_not_exist(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        iter_ids(tmp_path / name)
    assert caught.value.filename in (str(tmp_path / name), tmp_path / name)
