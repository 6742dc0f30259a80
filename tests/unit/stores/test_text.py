"""Ids out of texts and JSON, block by block, and refusals."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.stores import IDS, Stdin, collect, sizes
from tokdfa.base.errors import TokenStreamError
from tokdfa.stores import text


@sizes
@pytest.mark.parametrize("separator", [" ", "\n", "\r\n", "\t\t\n "])
def test_text_gives_its_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, separator: str, size: int) -> None:
    written = separator.join(map(str, IDS))
    for around in ("{}", " {}\n"):
        (tmp_path / "ids.txt").write_text(around.format(written), newline="")
        assert collect(tmp_path / "ids.txt", size=size) == IDS
        monkeypatch.setattr(sys, "stdin", Stdin(around.format(written).encode()))
        assert collect("-", size=size) == IDS


@sizes
@pytest.mark.parametrize("options", [{}, {"indent": 1}, {"separators": (",", ":")}])
def test_json_gives_its_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, object], size: int
) -> None:
    for ids in (IDS, [7], [], [-3, 9]):
        written = json.dumps(ids, **options)  # type: ignore[arg-type]
        for around in ("{}", " \n{}\n"):
            (tmp_path / "ids.json").write_text(around.format(written))
            assert collect(tmp_path / "ids.json", size=size) == ids
            monkeypatch.setattr(sys, "stdin", Stdin(around.format(written).encode()))
            assert collect("-", size=size) == ids


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


@sizes
@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("ids.txt", b"", "ids.txt: no ids: it holds nothing but white space"),
        ("ids.txt", b" \n ", "ids.txt: no ids: it holds nothing but white space"),
        ("ids.txt", b"1 2\n3 x4 5", r"ids.txt, line 2: not an integer: 'x4'"),
        ("ids.txt", b"1\n\n2.0", r"ids.txt, line 3: ids must be integers, not floats: '2.0'"),
        ("ids.txt", b"1 1e3", r"ids.txt, line 1: ids must be integers, not floats: '1e3'"),
        ("ids.txt", b"1 +1", r"ids.txt, line 1: an integer must not have a plus sign: '\+1'"),
        ("ids.txt", b"1 +1.5", r"ids.txt, line 1: ids must be integers, not floats: '\+1.5'"),
        ("ids.txt", b"1, 2", r"ids.txt, line 1: not an integer: '1,'"),
        ("ids.txt", b"99999999999999999999", "ids.txt, line 1: an integer of more than 64 bits"),
        ("ids.txt", b"1" * 100, "ids.txt, line 1: an integer of more than 64 bits"),
        ("ids.txt", b"0" * 64 + b"1 2", "ids.txt, line 1: an integer of more than 64 bits"),
        ("ids.txt", b"-" + b"0" * 64, "ids.txt, line 1: an integer of more than 64 bits"),
        ("ids.txt", b"1\n\xff\xfe", r"ids.txt, line 2: not an integer: '\\\\xff\\\\xfe'"),
        ("ids.txt", "１".encode(), r"ids.txt, line 1: not an integer"),
        ("ids.json", b"", "ids.json: no ids: the input is empty"),
        ("ids.json", b"{}", "ids.json, byte 0: expected an array of integers"),
        ("ids.json", b"[1, 2", "ids.json, byte 5: the array is not closed"),
        ("ids.json", b"[1, 2,]", "ids.json, byte 6: a comma with nothing before or after it"),
        ("ids.json", b"[, 2]", "ids.json, byte 1: a comma with nothing before or after it"),
        ("ids.json", b"[1, [2], 3]", "ids.json, byte 4: expected one flat array of integers"),
        ("ids.json", b'[1, "2"]', "ids.json, byte 4: not an integer"),
        ("ids.json", b"[1, 2.5]", "ids.json, byte 4: ids must be integers, not floats: '2.5'"),
        ("ids.json", b"[1, 02]", "ids.json, byte 4: an integer with leading zeros"),
        ("ids.json", b"[1, null]", "ids.json, byte 4: not an integer: 'null'"),
        ("ids.json", b"[1]  [2]", "ids.json, byte 5: there is data after the array"),
        ("ids.json", b"[" + b"1" * 100 + b"]", "ids.json, byte 1: an integer of more than 64 bits"),
    ],
)
def test_bad_text_is_named(tmp_path: Path, name: str, data: bytes, message: str, size: int) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(TokenStreamError, match=message):
        collect(tmp_path / name, size=size)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("ids.json", '{"input_ids": [1]}'),
        ("ids.json", "[[1], [2]]"),
        ("ids.json", "[1]\n[2]\n"),
        ("ids.txt", '{"input_ids": [1]}'),
    ],
)
def test_many_streams_are_another_job(tmp_path: Path, name: str, data: str) -> None:
    (tmp_path / name).write_text(data)
    with pytest.raises(TokenStreamError, match="tokdfa rollouts reads many, one object in each line"):
        collect(tmp_path / name)
