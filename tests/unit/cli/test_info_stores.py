"""tokdfa stores describes files of ids; and the commands that take them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support import commands
from tests.support import written_stores as written


def test_one_store_is_described(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written.datatrove(tmp_path)
    assert commands.run("stores", path) == 0
    shown = capsys.readouterr().out
    for line in ("format     datatrove", "dtype      uint16", "ids        12", "documents  6", "loss mask  yes"):
        assert line in shown
    assert commands.run("stores", path, "--json") == 0
    (store,) = json.loads(capsys.readouterr().out)["stores"]
    assert store == {
        "path": str(path),
        "format": "datatrove",
        "dtype": "uint16",
        "dtype_is_recorded": True,
        "ids": 12,
        "documents": 6,
        "mask": True,
        "files": [str(path), *(f"{path}.{end}" for end in ("index", "loss", "metadata"))],
        "problems": [],
    }


def test_what_is_not_recorded_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for write in (written.jsonl, written.arrow, written.tar, written.mds):
        folder = tmp_path / write.__name__
        folder.mkdir()
        write(folder)
    assert commands.run("stores", tmp_path, "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["consistent"]
    counts = [(Path(store["path"]).name, store["ids"], store["documents"]) for store in answer["stores"]]
    assert counts == [
        ("x.arrow", 12, 6),
        ("x.jsonl", 12, 6),
        ("shard.00000.mds", 9, 4),
        ("shard.00001.mds", 3, 2),
        ("x.tar", 12, 6),
    ]


def test_what_is_inconsistent_or_not_readable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written.datatrove(tmp_path)
    (tmp_path / f"{path.name}.loss").write_bytes(b"1")
    assert commands.run("stores", path) == 1
    assert "it has 1 bytes for 12 ids" in capsys.readouterr().out
    (tmp_path / "x.npz").write_bytes(b"PK\3\4")
    assert commands.run("stores", tmp_path, "--json") == 2
    answer = json.loads(capsys.readouterr().out)
    assert not answer["consistent"]
    assert [bool(store["problems"]) for store in answer["stores"]] == [True, True]
    assert commands.run("stores", tmp_path / "x.npz") == 2
    assert "the archive is damaged or cut short" in capsys.readouterr().err
    (tmp_path / "x.jsonl").write_text('{"ids": [1]}\n{"ids": 7}\n')
    assert commands.run("stores", tmp_path / "x.jsonl") == 1
    assert "line 2: the ids must be a list of integers" in capsys.readouterr().out


def test_commands_take_stores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokenizer = tokdfa.default_tokenizer()
    merges = tmp_path / "merges.txt"
    tokdfa.default_dictionary().save(merges)
    documents = [tokenizer.encode(text).tolist() for text in ("a sin", "gle man", " in")]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps({"input_ids": ids}) + "\n" for ids in documents))
    # Each line is a document of its own, and together they may be encoded otherwise.
    assert commands.run("validate", merges, "--pretokenizer", "gpt2", path) == 0
    assert commands.run("validate", merges, "--pretokenizer", "gpt2", path, "--documents", "none") == 1
    capsys.readouterr()
    assert commands.run("decode", merges, path) == 0
    assert capsys.readouterr().out.endswith("a single man in")
    assert commands.run("search", merges, "[a-z]+", path, "--count") == 0
    assert capsys.readouterr().out == "4\n"
    path.write_text(json.dumps({"a": {"b": [64, 261, 1193]}}) + "\n")
    assert commands.run("validate", merges, "--pretokenizer", "gpt2", path, "--field", "a.b", "--json") == 1
    assert json.loads(capsys.readouterr().out)["violations"][0]["canonical_ids"] == [2513]
    np.array([64, 2513], dtype="<u2").tofile(tmp_path / "raw.npy")
    assert commands.run("validate", merges, "--pretokenizer", "gpt2", tmp_path / "raw.npy", "--dtype", "uint16") == 0


def test_a_folder_is_one_table_of_formats_and_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(1000):
        np.save(tmp_path / f"{number:04d}.npy", np.arange(7, dtype=np.uint16))
    (tmp_path / "x.jsonl").write_text('{"input_ids": [1, 2]}\n{"input_ids": [3]}\n')
    assert commands.run("stores", tmp_path) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[1:] == [
        [".npy", "uint16", "1,000", "7,000", "0", str(tmp_path / "0000.npy")],
        ["JSONL", "1", "3", "2", "0", str(tmp_path / "x.jsonl")],
        ["all", "1,001", "7,003", "2", "0", str(tmp_path / "0000.npy")],
    ]
    (tmp_path / "y.npy").write_bytes(b"12")
    assert commands.run("stores", tmp_path) == 2
    out = capsys.readouterr().out.splitlines()
    assert out[-2].split()[:5] == ["all", "1,002", "7,003", "2", "1"]
    assert out[-1].startswith(f"inconsistent: {tmp_path / 'y.npy'}: ")
