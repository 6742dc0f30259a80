"""Ids out of files of integers and of streams of them, chunk by chunk, and refusals."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.stores import IDS, Stdin, collect, sizes
from tokdfa.base.errors import TokenStreamError
from tokdfa.stores import iter_ids


@sizes
@pytest.mark.parametrize("dtype", ["uint16", "int32", "uint32", "int64", "uint64", ">u2", "<i8"])
def test_binary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dtype: str, size: int) -> None:
    array = np.array(IDS, dtype=dtype)
    array.tofile(tmp_path / "ids.bin")
    assert collect(tmp_path / "ids.bin", dtype, size=size) == IDS
    np.save(tmp_path / "ids.npy", array)
    assert collect(tmp_path / "ids.npy", size=size) == IDS
    monkeypatch.setattr(sys, "stdin", Stdin(array.tobytes()))
    assert collect("-", dtype, size=size) == IDS


def test_empty_arrays_have_no_chunks(tmp_path: Path) -> None:
    np.save(tmp_path / "ids.npy", np.zeros(0, np.uint16))
    assert collect(tmp_path / "ids.npy") == []


@pytest.mark.parametrize(("name", "dtype"), [("ids.bin", "uint16"), ("ids.npy", None)])
def test_a_file_cut_short_while_it_is_read_is_refused(tmp_path: Path, name: str, dtype: str | None) -> None:
    ids = np.arange(1 << 15, dtype=np.uint16)
    path = tmp_path / name
    ids.tofile(path) if dtype else np.save(path, ids)
    chunks = iter_ids(path, dtype=dtype, size=1 << 12)
    assert next(chunks).tolist() == list(range(1 << 12))
    with path.open("r+b") as stream:
        stream.truncate(path.stat().st_size // 2)
    with pytest.raises(TokenStreamError, match=rf"{name}, token \d+: the file was cut short while it was read"):
        list(chunks)


def test_bad_binary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(name: str, data: bytes, message: str, dtype: str | None = None) -> None:
        (tmp_path / name).write_bytes(data)
        with pytest.raises(TokenStreamError, match=message):
            collect(tmp_path / name, dtype)

    def saved(array: np.ndarray) -> bytes:
        stream = io.BytesIO()
        np.save(stream, array, allow_pickle=True)
        return stream.getvalue()

    refused("ids.bin", b"abc", "ends in the middle of a uint16: '3 bytes'", "uint16")
    refused("ids.bin", b"", "ids.bin: no ids: the file is empty", "uint16")
    refused("ids.bin", b"ab", "does not record the type of its integers .give --dtype")
    refused("ids.bin", b"ab", "not an integer type: 'float32'", "float32")
    refused("ids.bin", b"ab", "not an integer type: 'nonsense'", "nonsense")
    refused("ids.bin", b"ab", "not an integer type: 'bool'", "bool")
    refused("ids.npy", b"", "ids.npy: no ids: the file is empty")
    refused("ids.npy", b"abc", "not a complete .npy file")
    refused("ids.npy", saved(np.arange(100))[:-1], "not a complete .npy file")
    refused("ids.npy", saved(np.arange(100))[:20], "not a complete .npy file")
    refused("ids.npy", saved(np.arange(3.0)), "ids.npy: ids must be integers: 'float64'")
    refused("ids.npy", saved(np.array([True])), "ids.npy: ids must be integers: 'bool'")
    refused("ids.npy", saved(np.zeros((2, 2), int)), r"ids.npy: ids must be in one dimension: \(2, 2\)")
    refused("ids.npy", saved(np.array([{}])), "ids.npy: ids must be integers: 'object'")
    refused("ids.npy", saved(np.arange(3)) + b"\0", "there is data after its array: '153 bytes instead of 152'")
    refused("ids.npy", saved(np.array(3)), r"ids must be in one dimension: \(\)")
    for dtype in ("nonsense", "i4,i4", "(2,)i4", "", "é", "u3", "uint16 ", "i" + "9" * 99):
        refused("ids.bin", b"ab", "not an integer type", dtype)
    refused("ids.npy", saved(np.arange(3)), "a dtype can be given only for raw integers", "uint16")
    refused("ids.csv", b"1,2", "no ids can be read from a file with this suffix: '.csv'")
    stream = io.BytesIO()
    np.savez(stream, a=np.arange(3))
    refused("ids.npy", stream.getvalue(), "an archive of arrays")
    for data, message in ((b"abc", "standard input, token 1: the stream ends in the middle"), (b"", "input is empty")):
        monkeypatch.setattr(sys, "stdin", Stdin(data))
        with pytest.raises(TokenStreamError, match=message):
            collect("-", "uint16")
    monkeypatch.setattr(sys, "stdin", Stdin(b" \n"))
    with pytest.raises(TokenStreamError, match="nothing but white space"):
        collect("-")
    with pytest.raises(FileNotFoundError):
        collect(tmp_path / "none.npy")
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(TokenStreamError, match="this is a folder"):
        collect(tmp_path / "folder.txt")
