"""Files of ids with something broken in them: the right ids or a clear error, never a crash and never other ids.

What is right is said by numpy for .npy, by `int.from_bytes` for .bin, by `int` for .txt and by `json` for .json.
"""

from __future__ import annotations

import io
import json
import random
import re
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support import commands
from support.seeds import seeds
from support.tokenizer_files import as_bytes, tokenizer_json

import tokdfa
from tokdfa.errors import TokenStreamError
from tokdfa.stores import iter_ids
from tokdfa.stores.tuning import Tuning

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


def written(kind: str, ids: list[int], dtype: str, source: random.Random) -> bytes:
    if kind == "npy":
        stream = io.BytesIO()
        np.lib.format.write_array(stream, np.array(ids, dtype), source.choice(((1, 0), (1, 0), (2, 0))))
        return stream.getvalue()
    if kind == "bin":
        return np.array(ids, dtype).tobytes()
    if kind == "txt":
        return "".join(f"{id}{source.choice((' ', chr(10), '  ', chr(9)))}" for id in ids).encode()
    return json.dumps(ids, indent=source.choice((None, None, 1))).encode()


# What is right; None where there are no ids to be had.


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
    if not words or not all(re.fullmatch(rb"-?[0-9]{1,64}", word) for word in words):
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
    """Tell whether a file may not be refused: for .npy, whether numpy writes it so, and else always."""
    if kind != "npy":
        return True
    array = np.load(io.BytesIO(data), allow_pickle=False)
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, (data[6], data[7]))
    return stream.getvalue() == data


def read(path: Path, dtype: str | None, tuning: Tuning) -> tuple[list[int] | None, str]:
    """Return the ids of a file; or None and why it is refused."""
    try:
        return [id for chunk in iter_ids(path, dtype=dtype, tuning=tuning) for id in chunk.tolist()], ""
    except TokenStreamError as error:
        return None, str(error)


def check(kind: str, seed: int, folder: Path) -> tuple[str, list[int] | None, Path, str]:
    """Fail if a mutated file has other ids; return what became of it, the right ids, where it is, and its type."""
    source = random.Random(f"{kind} {seed}")
    dtype = source.choice(DTYPES)
    ids = [source.choice((83, 256, 257, 258, source.randrange(256))) for _ in range(source.choice((1, 2, 5, 30, 200)))]
    if dtype == "uint8":
        ids = [id % 256 for id in ids]
    original = written(kind, ids, dtype, source)
    data = mutated(original, source)
    path = folder / f"ids.{kind}"
    path.write_bytes(data)
    tuning = Tuning(source.choice((1, 2, 3, 7, 30, 1 << 20)), source.choice((1, 2, 3, 50, 1 << 18)))
    right = ORACLES[kind](data, dtype)
    if data == original:
        assert right == ids
    where = f"seed {seed} of {kind}"
    found, message = read(path, dtype if kind == "bin" else None, tuning)
    if found is None:
        assert len(message.splitlines()) == 1, where
        assert str(path) in message, where
        assert right is None or not must_be_read(kind, data), (where, data, message)
        return "refused", right, path, dtype
    assert found == right, (where, data)
    return "changed" if found != ids else "read", right, path, dtype


def check_all(kind: str, chosen: range, folder: Path) -> Counter[str]:
    return Counter(check(kind, seed, folder)[0] for seed in chosen)


@pytest.mark.parametrize("kind", ORACLES)
def test_mutated_files(kind: str, tmp_path: Path) -> None:
    outcomes = check_all(kind, range(400), tmp_path)
    # Each of these has to be met for the test to mean anything.
    assert min(outcomes[name] for name in ("read", "changed", "refused")) >= 10, outcomes


@pytest.mark.slow
@pytest.mark.parametrize("kind", ORACLES)
def test_many_mutated_files(kind: str, tmp_path: Path) -> None:
    chosen = seeds(5_000)
    print(kind, dict(check_all(kind, chosen, tmp_path)), "of", len(chosen), "files")


@pytest.mark.parametrize("kind", ORACLES)
def test_the_command_leaves_with_what_is_right(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tokenizer.json").write_bytes(as_bytes(tokenizer_json()))
    tokenizer = tokdfa.load(tmp_path)
    statuses: Counter[int] = Counter()
    for seed in range(60):
        outcome, right, path, dtype = check(kind, seed, tmp_path)
        status = commands.run("validate", tmp_path, path, "--json", *(["--dtype", dtype] if kind == "bin" else []))
        captured = capsys.readouterr()
        statuses[status] += 1
        if outcome == "refused" or not all(0 <= id < tokenizer.n_ids for id in right or ()):
            assert (status, captured.out) == (2, ""), seed
            assert captured.err.startswith("tokdfa: error: "), seed
            assert captured.err.count("\n") == 1, seed
        else:
            assert right is not None
            assert status == (0 if tokenizer.validate(right) else 1), seed
            assert json.loads(captured.out)["tokens"] == len(right), seed
    assert min(statuses[status] for status in (0, 1, 2)) >= 3, statuses
