"""Checkpoints of a training: each is read as it was saved, or refused."""

from __future__ import annotations

import io
import json
import random
import zipfile

import numpy as np

from tests.campaigns.fuzzing.readers.target import Target, folder
from tokdfa.base.errors import TokdfaError
from tokdfa.training.counting import Checkpoint

REQUEST = {"corpus": [["a", 1, 2]], "merges": 3}
NAMES = ("request.npy", "text.npy", "ends.npy", "counts.npy", "place.npy")
WORDS = [
    *(b"(1,)", b"(0,)", b"()", b"(2, 2)", b"(99999999999999,)", b"'<i8'", b"'|O'", b"'<f8'", b"'>i8'", b"'|V8'"),
    *(b"True", b"False", b"{", b"}", b"\x93NUMPY", b"\x02\x00", b"[", b"]" * 9, b"(" * 300, b"\0", b"\xff", b"{}"),
    *(b"null", b'"version"', b"1e999", b"9" * 5000),
]


def check(data: bytes) -> bool:
    path = folder() / "checkpoint"
    path.write_bytes(data)
    try:
        loaded = Checkpoint(path, REQUEST).load()
    except TokdfaError:
        return False
    assert loaded is not None
    pieces, file, offset = loaded
    assert file >= 0
    assert offset >= 0
    ends, counts = pieces.ends.tolist(), pieces.counts.tolist()
    assert ends == sorted(set(ends))
    assert (ends[-1:] or [0]) == [len(pieces.text)]
    assert 0 not in ends
    assert len(counts) == len(ends)
    assert all(count > 0 for count in counts)
    # numpy, which has written it, reads the same.
    with np.load(path) as archive:
        assert json.loads(archive["request"].tobytes())["corpus"] == REQUEST["corpus"]
        for name, found in (("text", pieces.text), ("ends", pieces.ends), ("counts", pieces.counts)):
            assert archive[name].dtype == found.dtype
            assert archive[name].tolist() == found.tolist()
        assert archive["place"].tolist() == [file, offset]
    return True


def change(data: bytes, drawn: random.Random) -> bytes:
    """Change what is in the archive, so that its sums are right again, or the archive itself."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            inner = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # Whatever the module makes of it.
        return data
    for _ in range(drawn.choice((1, 1, 2, 4))):
        name = drawn.choice(NAMES)
        value = inner.get(name, b"")
        at = drawn.randrange(len(value) + 1)
        kind = drawn.randrange(8)
        if kind == 0:
            value = value[:at] + drawn.choice(WORDS) + value[at + drawn.choice((0, 1, 4)) :]
        elif kind == 1:
            value = value[:at] + bytes([drawn.randrange(256)]) + value[at + 1 :]
        elif kind == 2:
            value = value[:at]
        elif kind == 3:
            value = inner.get(drawn.choice(NAMES), b"")
        elif kind == 4:
            number = drawn.choice((0, 1, -1, 2**62, -(2**63), 2**31))
            value = value[: len(value) - 8] + number.to_bytes(8, "little", signed=True)
        elif kind >= 6:
            value = _with_other_number(value, drawn)
        inner[name] = value
        if kind == 5:
            del inner[name]
    written = io.BytesIO()
    packing = zipfile.ZIP_DEFLATED if drawn.random() < 0.3 else zipfile.ZIP_STORED
    with zipfile.ZipFile(written, "w", packing) as archive:
        for name, value in inner.items():
            archive.writestr(name, value)
    made = written.getvalue()
    if drawn.random() < 0.1:
        at = drawn.randrange(len(made))
        made = made[:at] + bytes([drawn.randrange(256)]) + made[at + 1 :]
    return made


def _with_other_number(value: bytes, drawn: random.Random) -> bytes:
    """Return an array with one of its numbers, of eight bytes, replaced by another one or by its neighbour."""
    header = 10 + int.from_bytes(value[8:10], "little")
    n = (len(value) - header) // 8
    if n <= 0:
        return value
    at, other = (header + 8 * drawn.randrange(n) for _ in range(2))
    number = int.from_bytes(value[other : other + 8], "little", signed=True) + drawn.choice((0, 0, 1, -1))
    return value[:at] + (number % 2**64).to_bytes(8, "little") + value[at + 8 :]


TARGET = Target(check, change)
