"""Ids out of files: every format, every chunk size, and what is refused."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.errors import TokenStreamError
from tokdfa.stores import iter_ids, text
from tokdfa.stores.tuning import DEFAULT, Tuning

IDS = [0, 1, 50256, 17, 4, 4, 65535]


def collect(source: str | Path, dtype: str | None = None, tuning: Tuning = DEFAULT) -> list[int]:
    return [id for chunk in iter_ids(source, dtype=dtype, tuning=tuning) for id in chunk.tolist()]


@pytest.fixture(params=[1, 2, 3, 5, 1 << 20])
def tuning(request: pytest.FixtureRequest) -> Tuning:
    return Tuning(block=request.param, chunk=request.param)


class _Stdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


@pytest.mark.parametrize("dtype", ["uint16", "int32", "uint32", "int64", "uint64", ">u2", "<i8"])
def test_binary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dtype: str, tuning: Tuning) -> None:
    array = np.array(IDS, dtype=dtype)
    array.tofile(tmp_path / "ids.bin")
    assert collect(tmp_path / "ids.bin", dtype, tuning=tuning) == IDS
    np.save(tmp_path / "ids.npy", array)
    assert collect(tmp_path / "ids.npy", tuning=tuning) == IDS
    monkeypatch.setattr(sys, "stdin", _Stdin(array.tobytes()))
    assert collect("-", dtype, tuning=tuning) == IDS


@pytest.mark.parametrize("separator", [" ", "\n", "\r\n", "\t\t\n "])
def test_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, separator: str, tuning: Tuning) -> None:
    written = separator.join(map(str, IDS))
    for around in ("{}", " {}\n"):
        (tmp_path / "ids.txt").write_text(around.format(written), newline="")
        assert collect(tmp_path / "ids.txt", tuning=tuning) == IDS
        monkeypatch.setattr(sys, "stdin", _Stdin(around.format(written).encode()))
        assert collect("-", tuning=tuning) == IDS


@pytest.mark.parametrize("options", [{}, {"indent": 1}, {"separators": (",", ":")}])
def test_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, object], tuning: Tuning) -> None:
    for ids in (IDS, [7], [], [-3, 9]):
        written = json.dumps(ids, **options)  # type: ignore[arg-type]
        for around in ("{}", " \n{}\n"):
            (tmp_path / "ids.json").write_text(around.format(written))
            assert collect(tmp_path / "ids.json", tuning=tuning) == ids
            monkeypatch.setattr(sys, "stdin", _Stdin(around.format(written).encode()))
            assert collect("-", tuning=tuning) == ids


@given(st.text(alphabet='[], 019-.e\n{}"', max_size=12), st.integers(1, 4))
def test_json_is_read_as_the_standard_library_reads_it(written: str, size: int) -> None:
    array = text._JsonArray("file")
    data = written.encode()
    read: list[int] | None = []
    try:
        for begin in range(0, len(data), size):
            read += array.read(data[begin : begin + size]).tolist()
        array.finish()
    except TokenStreamError:
        read = None
    try:
        expected = json.loads(written)
    except ValueError:
        expected = None
    is_flat = isinstance(expected, list) and all(type(item) is int for item in expected)
    assert read == (expected if is_flat else None)


def test_empty_arrays_have_no_chunks(tmp_path: Path) -> None:
    np.save(tmp_path / "ids.npy", np.zeros(0, np.uint16))
    assert collect(tmp_path / "ids.npy") == []


@pytest.mark.parametrize(("name", "dtype"), [("ids.bin", "uint16"), ("ids.npy", None)])
def test_a_file_cut_short_while_it_is_read_is_refused(tmp_path: Path, name: str, dtype: str | None) -> None:
    ids = np.arange(1 << 15, dtype=np.uint16)
    path = tmp_path / name
    ids.tofile(path) if dtype else np.save(path, ids)
    chunks = iter_ids(path, dtype=dtype, tuning=Tuning(chunk=1 << 12))
    assert next(chunks).tolist() == list(range(1 << 12))
    with path.open("r+b") as stream:
        stream.truncate(path.stat().st_size // 2)
    with pytest.raises(TokenStreamError, match=rf"{name}, token \d+: the file was cut short while it was read"):
        list(chunks)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("ids.txt", b"", "ids.txt: no ids: there is nothing but white space"),
        ("ids.txt", b" \n ", "ids.txt: no ids: there is nothing but white space"),
        ("ids.txt", b"1 2\n3 x4 5", r"ids.txt, line 2: not an integer: 'x4'"),
        ("ids.txt", b"1\n\n2.0", r"ids.txt, line 3: ids are integers, not floats: '2.0'"),
        ("ids.txt", b"1 1e3", r"ids.txt, line 1: ids are integers, not floats: '1e3'"),
        ("ids.txt", b"1 +1", r"ids.txt, line 1: an integer with a plus sign: '\+1'"),
        ("ids.txt", b"1 +1.5", r"ids.txt, line 1: ids are integers, not floats: '\+1.5'"),
        ("ids.txt", b"1, 2", r"ids.txt, line 1: not an integer: '1,'"),
        ("ids.txt", b"99999999999999999999", "ids.txt, line 1: an integer of more than 64 bits"),
        ("ids.txt", b"1" * 100, "ids.txt, line 1: an integer of more than 64 bits"),
        ("ids.txt", b"1\n\xff\xfe", r"ids.txt, line 2: not an integer: '\\\\xff\\\\xfe'"),
        ("ids.txt", "１".encode(), r"ids.txt, line 1: not an integer"),
        ("ids.json", b"", "ids.json: no ids: it is empty"),
        ("ids.json", b"{}", "ids.json, byte 0: an array of integers is wanted"),
        ("ids.json", b"[1, 2", "ids.json, byte 5: the array has no end"),
        ("ids.json", b"[1, 2,]", "ids.json, byte 6: a comma with nothing before or behind it"),
        ("ids.json", b"[, 2]", "ids.json, byte 1: a comma with nothing before or behind it"),
        ("ids.json", b"[1, [2], 3]", "ids.json, byte 4: one flat array of integers is wanted"),
        ("ids.json", b'[1, "2"]', "ids.json, byte 4: not an integer"),
        ("ids.json", b"[1, 2.5]", "ids.json, byte 4: ids are integers, not floats: '2.5'"),
        ("ids.json", b"[1, 02]", "ids.json, byte 4: an integer with leading zeros"),
        ("ids.json", b"[1, null]", "ids.json, byte 4: not an integer: 'null'"),
        ("ids.json", b"[1]  [2]", "ids.json, byte 5: something behind the array"),
        ("ids.json", b"[" + b"1" * 100 + b"]", "ids.json, byte 1: an integer of more than 64 bits"),
    ],
)
def test_bad_text(tmp_path: Path, name: str, data: bytes, message: str, tuning: Tuning) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(TokenStreamError, match=message):
        collect(tmp_path / name, tuning=tuning)


def _npy(header: str, version: bytes = b"\1\0") -> bytes:
    data = header.encode("latin-1")
    return b"\x93NUMPY" + version + len(data).to_bytes(2 if version[0] == 1 else 4, "little") + data + b"\7\0" * 3


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }      \n",
        "{'shape':(3,),'descr':'<u2','fortran_order':True}",
        '{"descr": "<u2", "fortran_order": False, "shape": (3L, )}',
        "  { 'descr' : '<u2' , 'fortran_order' : False , 'shape' : ( 3 , ) , }",
    ],
)
@pytest.mark.parametrize("version", [b"\1\0", b"\2\0", b"\3\0"])
def test_headers_as_programs_write_them(tmp_path: Path, header: str, version: bytes) -> None:
    (tmp_path / "ids.npy").write_bytes(_npy(header, version))
    assert collect(tmp_path / "ids.npy") == [7, 7, 7]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (3", "its header is"),  # tokenize.TokenError in numpy
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (3,), 'more': (1,)}", "its header is"),
        ("{'descr': '<u2', 'fortran_order': False, 'descr': '<u2'}", "its header is"),
        ("{'descr': '<u2', 'fortran_order': False}", "its header is"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (3,)} + {}", "its header is"),
        ("{['descr']: '<u2', 'fortran_order': False, 'shape': (3,)}", "its header is"),  # TypeError in numpy
        ("(" * 9_000, "its header is"),
        (" " * 9_999, "its header is"),
        (" " * 10_001, "its header has 10,001 bytes"),
        ("{'descr': '<u2', 'fortran_order': (0,), 'shape': (3,)}", "fortran_order is"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (3)}", "ids come in one dimension"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': ()}", "ids come in one dimension"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (1, 3)}", r"ids come in one dimension: \(1, 3\)"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (True,)}", "its shape is no tuple"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (-3,)}", "its shape is no tuple"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (03,)}", "its shape is no tuple"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (4,)}", "cut short"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (2,)}", "goes on after its array"),
        # OverflowError in numpy
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (9999999999999999999,)}", "cut short"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (99999999999999999999,)}", "its shape is no tuple"),
        ("{'descr': '<U2', 'fortran_order': False, 'shape': (3,)}", "ids are integers: 'str64'"),
        ("{'descr': '<u3', 'fortran_order': False, 'shape': (3,)}", "ids are integers"),
        ("{'descr': '<u99999999999999999999', 'fortran_order': False, 'shape': (3,)}", "ids are integers"),
        ("{'descr': [('a', '<u2')], 'fortran_order': False, 'shape': (3,)}", "ids are integers"),
        # SyntaxError in numpy
        ("{'descr': ',', 'fortran_order': False, 'shape': (3,)}", "ids are integers"),
        ("{'descr': (1,), 'fortran_order': False, 'shape': (3,)}", "ids are integers"),
    ],
)
def test_headers_that_are_refused(tmp_path: Path, header: str, message: str) -> None:
    (tmp_path / "ids.npy").write_bytes(_npy(header))
    with pytest.raises(TokenStreamError, match=rf"ids\.npy: .*{message}"):
        collect(tmp_path / "ids.npy")


@pytest.mark.parametrize("version", [b"\0\0", b"\1\1", b"\4\0", b"\xff\xff"])
def test_versions_that_are_refused(tmp_path: Path, version: bytes) -> None:
    header = "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }"
    (tmp_path / "ids.npy").write_bytes(_npy(header, version))
    with pytest.raises(TokenStreamError, match="there is no version"):
        collect(tmp_path / "ids.npy")


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
    refused("ids.bin", b"ab", "no name .give --dtype")
    refused("ids.bin", b"ab", "not a type of integers: 'float32'", "float32")
    refused("ids.bin", b"ab", "not a type of integers: 'nonsense'", "nonsense")
    refused("ids.bin", b"ab", "not a type of integers: 'bool'", "bool")
    refused("ids.npy", b"", "ids.npy: no ids: the file is empty")
    refused("ids.npy", b"abc", "not a whole .npy file")
    refused("ids.npy", saved(np.arange(100))[:-1], "not a whole .npy file")
    refused("ids.npy", saved(np.arange(100))[:20], "not a whole .npy file")
    refused("ids.npy", saved(np.arange(3.0)), "ids.npy: ids are integers: 'float64'")
    refused("ids.npy", saved(np.array([True])), "ids.npy: ids are integers: 'bool'")
    refused("ids.npy", saved(np.zeros((2, 2), int)), r"ids.npy: ids come in one dimension: \(2, 2\)")
    refused("ids.npy", saved(np.array([{}])), "ids.npy: ids are integers: 'object'")
    refused("ids.npy", saved(np.arange(3)) + b"\0", "goes on after its array: '153 bytes instead of 152'")
    refused("ids.npy", saved(np.array(3)), r"ids come in one dimension: \(\)")
    for dtype in ("nonsense", "i4,i4", "(2,)i4", "", "é", "u3", "uint16 ", "i" + "9" * 99):
        refused("ids.bin", b"ab", "not a type of integers", dtype)
    refused("ids.npy", saved(np.arange(3)), "a dtype is for .bin files", "uint16")
    refused("ids.csv", b"1,2", "ids come in .npy, .bin, .json and .txt files: '.csv'")
    stream = io.BytesIO()
    np.savez(stream, a=np.arange(3))
    refused("ids.npy", stream.getvalue(), "an archive of arrays")
    for data, message in ((b"abc", "standard input, token 1: the stream ends in the middle"), (b"", "it is empty")):
        monkeypatch.setattr(sys, "stdin", _Stdin(data))
        with pytest.raises(TokenStreamError, match=message):
            collect("-", "uint16")
    monkeypatch.setattr(sys, "stdin", _Stdin(b" \n"))
    with pytest.raises(TokenStreamError, match="nothing but white space"):
        collect("-")
    with pytest.raises(FileNotFoundError):
        collect(tmp_path / "none.npy")
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(IsADirectoryError):
        collect(tmp_path / "folder.txt")
