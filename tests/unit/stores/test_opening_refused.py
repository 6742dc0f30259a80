"""Files without ids are refused with a hint what to do with them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tokdfa.base.errors import TokenStreamError
from tokdfa.stores import iter_ids


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("ids.txt.gz", "unpack it: zcat {} | tokdfa validate TOK -)"),
        ("ids.bin.zst", "unpack it: zstdcat {} | tokdfa validate TOK - --dtype uint16)"),
        ("ids.npy.gz", "use .npy, .bin, .json or .txt, another store, or - for standard input"),
        ("ids.pt", "numpy.save"),
        ("ids", "use .npy, .bin, .json or .txt, another store, or - for standard input"),
    ],
)
def test_other_files_are_refused_with_a_hint(tmp_path: Path, name: str, hint: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"1")
    with pytest.raises(TokenStreamError, match="no ids can be read from a file with this suffix") as caught:
        iter_ids(path)
    assert hint.format(path) in str(caught.value)


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        (["a.npy", "b.npy"], "tokdfa validate TOK {} checks all files in it"),
        (["a.bin"], "tokdfa validate TOK {} --dtype uint16 checks all files in it"),
        (["a.jsonl"], "tokdfa validate TOK {} checks all files in it"),
        (["a.py"], "no .npy, .bin, .json or .txt file is in it"),
        ([], "no .npy, .bin, .json or .txt file is in it"),
    ],
)
@pytest.mark.parametrize("folder", ["shards", "shards.npy"])
def test_other_folders_are_refused_with_a_hint(tmp_path: Path, folder: str, names: list[str], hint: str) -> None:
    path = tmp_path / folder
    path.mkdir()
    for name in names:
        (path / name).touch()
    with pytest.raises(TokenStreamError, match="this is a folder, and ids are read from one file") as caught:
        iter_ids(path)
    assert hint.format(path) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("r.jsonl", "it is not clear which field has the ids"),
        ("r.PARQUET", "the file is damaged or cut short, or not what its name says"),
        ("r.jsonl.gz", "it is not clear which field has the ids"),
    ],
)
def test_records_that_are_none(tmp_path: Path, name: str, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"1") if name.endswith("gz") else b"1")
    with pytest.raises(TokenStreamError, match=message):
        iter_ids(path)


@pytest.mark.parametrize("numbers", ["64 261", "64", "[64, 261]", "64,261"])
def test_numbers_are_refused_with_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, numbers: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TokenStreamError, match=r"echo 64( 261)? \| tokdfa validate TOK -"):
        iter_ids(numbers)


@pytest.mark.parametrize("name", ["nothing", "nothing.jsonl", "nothing.npy", "nothing.txt"])
def test_what_does_not_exist(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        iter_ids(tmp_path / name)
    assert caught.value.filename in (str(tmp_path / name), tmp_path / name)
