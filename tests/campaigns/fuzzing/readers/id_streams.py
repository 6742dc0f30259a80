"""Files of ids: the ids are those that numpy, `int` and `json` read.

The first byte of an input chooses the kind of file, the second the type of raw integers, the third how much is read at
a time.
"""

from __future__ import annotations

import io
import random
import sys
from types import SimpleNamespace

from tests.campaigns.fuzzing.readers.target import Target, folder
from tests.support.id_files import DTYPES, ORACLES, must_be_read, mutated
from tokdfa.base.errors import TokdfaError
from tokdfa.stores import iter_ids

KINDS = (*ORACLES, "-", "-bin")
SIZES = (1, 2, 3, 7, 64, 1 << 18)


def check(data: bytes) -> bool:
    if len(data) < 3:
        return False
    kind, dtype, size = KINDS[data[0] % len(KINDS)], DTYPES[data[1] % len(DTYPES)], SIZES[data[2] % len(SIZES)]
    data = data[3:]
    path = folder() / f"ids.{kind}"
    stdin = sys.stdin
    if kind.startswith("-"):
        sys.stdin = SimpleNamespace(buffer=io.BytesIO(data))  # type: ignore[assignment]
    else:
        path.write_bytes(data)
    try:
        chunks = iter_ids(
            "-" if kind.startswith("-") else path, dtype=dtype if kind in ("bin", "-bin") else None, size=size
        )
        found = [id for chunk in chunks for id in chunk.tolist()]
    except TokdfaError:
        found = None
    finally:
        sys.stdin = stdin
    if kind == "-":
        kind = "json" if data.lstrip(b" \t\n\r\v\f").startswith(b"[") else "txt"
        if kind == "json" and found is not None:
            data = data.lstrip(b" \t\n\r\v\f")
    kind = kind.removeprefix("-")
    right = ORACLES[kind](data, dtype)
    if found is None:
        assert right is None or not must_be_read(kind, data), right
        return False
    assert found == right, (found, right)
    return True


def change(data: bytes, drawn: random.Random) -> bytes:
    if len(data) < 3 or drawn.random() < 0.1:
        return bytes(drawn.randrange(256) for _ in range(3)) + data[3:]
    return data[:3] + mutated(data[3:], drawn)


TARGET = Target(check, change, longest=1 << 12)
