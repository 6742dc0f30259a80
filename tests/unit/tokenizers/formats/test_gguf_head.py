"""The container of GGUF: only the head is read, and spoiled heads are refused with the byte."""

from __future__ import annotations

import random
import re
import struct
import time
import tracemalloc
from pathlib import Path

import pytest

import tokdfa
from tests.support.gguf_files import Typed, byte_level, gguf, sentencepiece, wordpiece
from tokdfa.base.errors import FileFormatError, LimitExceededError, TokdfaError, UnsupportedFeatureError
from tokdfa.tokenizers.formats.gguf_head import GGUFHead

PATH = Path("model.gguf")


def head(fields: dict[str, Typed], **changes: int | str) -> GGUFHead:
    return GGUFHead(gguf(fields, **changes), PATH)  # type: ignore[arg-type]


def test_values_of_every_type() -> None:
    fields = {
        "a": Typed("string", "é"),
        "b": Typed("bool", True),
        "c": Typed("u32", 7),
        "d": Typed("string", ["x", "", "yz"]),
        "e": Typed("f32", [0.5, -1.0]),
        **{f"of {type}": Typed(type, 1) for type in ("u8", "i8", "u16", "i16", "i32", "f32", "u64", "i64", "f64")},
    }
    for version in (2, 3):
        found = head(fields, version=version)
        assert found.keys == tuple(fields)
        assert (found.string("a"), found.boolean("b", False), found.number("c")) == ("é", True, 7)
        assert found.strings("d") == ["x", "", "yz"]
        assert found.numbers("e", ("f32",)).tolist() == [0.5, -1.0]
        assert (found.string("z", "default"), found.boolean("z", True), found.number("z", 3)) == ("default", True, 3)
        assert found.end == len(gguf(fields))


def test_only_the_head_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.gguf"
    head = gguf(byte_level(), n_tensors=1)
    with path.open("wb") as file:
        file.write(head)
        file.truncate(10 << 30)  # a sparse file
    tracemalloc.start()
    began = time.process_time()
    try:
        tokenizer = tokdfa.load(path)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert tokenizer.format == "gguf"
    assert most < 50 << 20
    assert time.process_time() - began < 10


def test_a_head_of_several_parts(tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    fields = {"general.description": Typed("string", "x" * (5 << 20)), **byte_level()}
    path.write_bytes(gguf(fields) + b"\0" * 1000)
    assert tokdfa.load(path).encode("the").tolist() == tokdfa.load(gguf(byte_level())).encode("the").tolist()


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (b"GGUX" + bytes(20), FileFormatError, "byte 0: not a GGUF file"),
        (b"GGUF\x03", FileFormatError, "byte 4: the file ends within the version"),
        (gguf({}, version=1), UnsupportedFeatureError, "byte 4: an unknown version of GGUF: 1"),
        (gguf({}, version=4), UnsupportedFeatureError, "byte 4: an unknown version of GGUF: 4"),
        (gguf({}, order=">"), UnsupportedFeatureError, "byte 4: a file for big-endian machines"),
        (gguf({}, n_tensors=1 << 60), FileFormatError, "byte 8: more tensors than the 24 bytes"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60), FileFormatError, "byte 16: more keys than the 24 bytes"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 0, 1 << 60)[:-8], None, ""),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 60) + bytes(20), FileFormatError, "byte 24: the length of a key"),
        (gguf({"a": Typed("u32", 1)})[:-1], FileFormatError, "byte 37: the file ends within a"),
        (
            gguf({"a": Typed("u32", 1)})[:33] + struct.pack("<II", 13, 1),
            FileFormatError,
            "byte 33: an unknown type of a",
        ),
        (
            gguf({"a": Typed("u32", [1])})[:37] + struct.pack("<IQI", 9, 1, 1),
            FileFormatError,
            "byte 37: an unknown type",
        ),
        (gguf({"a": Typed("u32", [1])})[:41] + struct.pack("<QI", 1 << 60, 1), FileFormatError, "byte 41: a has more"),
        (gguf({"a": Typed("string", "x")})[:37] + struct.pack("<QB", 1 << 60, 1), FileFormatError, "byte 37: a string"),
    ],
)
def test_damaged_heads(data: bytes, error: type[TokdfaError] | None, message: str) -> None:
    if error is None:
        assert GGUFHead(data, PATH).keys == ()
        return
    with pytest.raises(error, match=f"model.gguf, {re.escape(message)}"):
        GGUFHead(data, PATH)


def test_duplicate_keys_text_that_is_not_utf8_and_wrong_types() -> None:
    twice = gguf({"ab": Typed("u32", 1), "ac": Typed("u32", 1)}).replace(b"ac", b"ab")
    with pytest.raises(FileFormatError, match="byte 42: a duplicate key: 'ab'"):
        GGUFHead(twice, PATH)
    with pytest.raises(FileFormatError, match="byte 32: not UTF-8"):
        GGUFHead(gguf({"ab": Typed("u32", 1)}).replace(b"ab", b"\xff\xff"), PATH)
    found = head({"a": Typed("u32", 1), "b": Typed("string", b"\xff"), "c": Typed("string", ["x", b"\xff"])})  # type: ignore[list-item]
    with pytest.raises(FileFormatError, match=r"model.gguf, a, byte 37: the value must be string: 'u32'"):
        found.string("a")
    with pytest.raises(FileFormatError, match="an array of string: 'u32'"):
        found.strings("a")
    with pytest.raises(FileFormatError, match="byte 62: not UTF-8"):
        found.string("b")
    with pytest.raises(FileFormatError, match="not UTF-8"):
        found.strings("c")
    with pytest.raises(FileFormatError, match=r"model\.gguf, z, byte \d+: the key is missing"):
        found.string("z")


def test_limits_of_the_head_are_kept() -> None:
    many = b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 17)
    with pytest.raises(LimitExceededError, match="byte 16: more than 65536 keys"):
        GGUFHead(many, PATH, size=1 << 30)
    array = gguf({"a": Typed("u8", [])})[:-8] + struct.pack("<Q", 1 << 25)
    with pytest.raises(LimitExceededError, match="more than 16777216 elements"):
        GGUFHead(array, PATH, size=1 << 30)


NUMBERS = (0, 1, 2, 9, 13, 255, 1 << 16, (1 << 24) + 1, 1 << 31, (1 << 32) - 1, 1 << 60, (1 << 64) - 1)


def spoiled(data: bytes, drawn: random.Random) -> bytes:
    """Return a file with a length, count or type that lies, cut off, or with other bytes."""
    kind, at = drawn.randrange(4), drawn.randrange(len(data))
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + struct.pack("<Q", drawn.choice(NUMBERS)) + data[at + 8 :]
    if kind == 2:
        return data[:at] + struct.pack("<I", drawn.choice(NUMBERS) % (1 << 32)) + data[at + 4 :]
    return data[:at] + drawn.randbytes(drawn.randrange(1, 9)) + data[at:]


# Limits for a small file, with all memory traced, and for a head of the largest size.
MOST_SECONDS, MOST_BYTES, MOST_BYTES_OF_A_HEAD = 2, 4 << 20, 200 << 20


def refusal(path: Path) -> str | None:
    """Return why a file is refused; None if it is read."""
    try:
        tokdfa.load(path, format="gguf")
    except (FileFormatError, LimitExceededError) as error:
        return str(error)
    return None


def test_a_thousand_spoiled_files(tmp_path: Path) -> None:
    drawn = random.Random(25)
    whole = [gguf(byte_level()), gguf(byte_level(pre=None), version=2), gguf(sentencepiece()), gguf(wordpiece())]
    # Few tokens, so that the keys and counts are hit as often as the texts.
    whole += [gguf({**byte_level(), "tokenizer.ggml.tokens": Typed("string", ["a", "b"])})]
    path = tmp_path / "model.gguf"
    reasons = []
    tracemalloc.start()
    try:
        for number in range(1000):
            data = spoiled(whole[number % len(whole)], drawn)
            if number % 50 == 0:
                data = gguf(byte_level(), order=">")
            path.write_bytes(data)
            began, before = time.process_time(), tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            message = refusal(path)
            assert time.process_time() - began < MOST_SECONDS
            assert tracemalloc.get_traced_memory()[1] - before < MOST_BYTES
            if message is not None:
                assert message.startswith(str(path))
                assert "\n" not in message
                assert len(message) < 600
                assert re.search(r", byte \d+|: the file is empty$", message), message
                # Without the place and the value.
                reasons.append(re.sub(r".*byte \d+(, element \d+)?: |: .*|\d+", "", message))
    finally:
        tracemalloc.stop()
    assert len(reasons) > 700
    assert len(set(reasons)) > 20


@pytest.mark.parametrize("layout", ["a string", "numbers", pytest.param("strings", marks=pytest.mark.slow)])
def test_lengths_that_lie_in_a_sparse_file_of_10_gb(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "large.gguf"
    kind = "u64" if layout == "numbers" else "string"
    head = gguf({"a": Typed(kind, "x" if layout == "a string" else [])})
    # As large as the limits permit, with zeros after it.
    length = {"a string": 1 << 26, "strings": 1 << 22, "numbers": (1 << 24) - 4}[layout]
    with path.open("wb") as file:
        file.write(head[:16] + struct.pack("<Q", 2) + head[24:])
        file.truncate(10 << 30)
    with path.open("r+b") as file:
        file.seek(head.rindex(struct.pack("<Q", layout == "a string")))
        file.write(struct.pack("<Q", length))
    tracemalloc.start()
    began = time.process_time()
    try:
        with pytest.raises((FileFormatError, LimitExceededError), match=r"byte \d+: "):
            tokdfa.load(path)
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES_OF_A_HEAD
    finally:
        tracemalloc.stop()
    assert time.process_time() - began < (120 if layout == "strings" else 5)
