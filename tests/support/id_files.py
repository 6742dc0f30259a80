"""Files of ids: changes of them at random, and the right answer, by numpy, `int.from_bytes`, `int` and `json`."""

from __future__ import annotations

import io
import json
import random
import re
import warnings
from collections.abc import Callable

import numpy as np

__all__ = ["DTYPES", "ORACLES", "must_be_read", "mutated"]

DTYPES = ("uint8", "uint16", "int32", "uint32", "int64", "uint64", ">u2", ">i4")
WORDS = [
    *(
        b"'descr'",
        b"'<u2'",
        b"'<f8'",
        b"'|O'",
        b"(3,)",
        b"(1, 2)",
        b"()",
        b"True",
        b"L",
        b"{",
        b"}",
        b"(",
        b"\x93NUMPY",
    ),
    *(b"+", b"-", b"1e5", b".", b"0", b"00", b"99999999999999999999", b"NaN", b"null", b"true", b'"7"', b"_", b"0x1"),
    *(b"[", b"]", b",", b",,", b" ", b"\n", b"\t", b"\x0b", b"\x1c", b"\xa0", b"\xc2\xa0", b"\xef\xbb\xbf", b"\xff"),
    *(b"\0", b"PK\x03\x04", "１".encode(), b"1" * 70, b" " * 40),
]


def mutated(data: bytes, source: random.Random) -> bytes:
    """Return data with a few bytes flipped, cut out, put in or doubled, or cut short."""
    for _ in range(source.choice((0, 1, 1, 1, 2, 3, 6))):
        # Headers are where the words are, so that they are hit often.
        at = source.randrange(min(len(data), source.choice((140, len(data)))) + 1) if data else 0
        kind = source.randrange(6)
        if kind == 0 and at < len(data):
            data = data[:at] + bytes([data[at] ^ 1 << source.randrange(8)]) + data[at + 1 :]
        elif kind == 1 and at < len(data):
            data = data[:at] + bytes([source.randrange(256)]) + data[at + 1 :]
        elif kind == 2:
            data = data[:at] + source.choice(WORDS) + data[at + source.choice((0, 0, 1, 4)) :]
        elif kind == 3:
            data = data[:at] + data[at + source.choice((1, 2, 3, 8, 64)) :]
        elif kind == 4:
            end = at + source.randrange(12)
            data = data[:end] + data[at:end] + data[end:]
        elif source.random() < 0.5:
            data = data[:at]
    return data


# The right answers; None where no ids can be read.


def by_numpy(data: bytes, dtype: str) -> list[int] | None:
    stream = io.BytesIO(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            array = np.load(stream, allow_pickle=False)
        except Exception:  # Whatever it is.
            return None
    is_flat = isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in "iu"
    return array.tolist() if is_flat and not stream.read(1) else None


def by_bytes(data: bytes, dtype: str) -> list[int] | None:
    kind = np.dtype(dtype)
    if not data or len(data) % kind.itemsize:
        return None
    order = "big" if kind.byteorder == ">" else "little"
    parts = (data[at : at + kind.itemsize] for at in range(0, len(data), kind.itemsize))
    return [int.from_bytes(part, order, signed=kind.kind == "i") for part in parts]


def by_int(data: bytes, dtype: str) -> list[int] | None:
    words = [word for word in re.split(rb"[ \t\n\r\v\f]", data) if word]
    if not words or not all(re.fullmatch(rb"-?[0-9]+", word) and len(word) <= 64 for word in words):
        return None
    ids = [int(word) for word in words]
    return ids if all(-(2**63) <= id < 2**63 for id in ids) else None


def by_json(data: bytes, dtype: str) -> list[int] | None:
    try:
        ids = json.loads(data.decode("utf-8"))
    except ValueError:
        return None
    if not isinstance(ids, list) or not all(type(id) is int and -(2**63) <= id < 2**63 for id in ids):
        return None
    return ids


ORACLES: dict[str, Callable[[bytes, str], list[int] | None]] = {
    "npy": by_numpy,
    "bin": by_bytes,
    "txt": by_int,
    "json": by_json,
}


def must_be_read(kind: str, data: bytes) -> bool:
    """Return whether a file may not be refused: for .npy, if numpy writes it so; others unless they begin as one."""
    if kind != "npy":
        return not data.startswith(b"\x93NUMPY")
    array = np.load(io.BytesIO(data), allow_pickle=False)
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, (data[6], data[7]))
    return stream.getvalue() == data
