"""Files of ids with something broken in them: the right ids or a clear error, never a crash and never other ids.

The right ids are given by numpy for .npy, by `int.from_bytes` for .bin, by `int` for .txt and by `json` for .json.
"""

from __future__ import annotations

import io
import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support import commands
from tests.support.id_files import DTYPES, ORACLES, must_be_read, mutated
from tests.support.seeds import seeds
from tests.support.tokenizer_files import as_bytes, tokenizer_json
from tokdfa.base.errors import TokenStreamError
from tokdfa.stores import iter_ids


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


def read(path: Path, dtype: str | None, size: int) -> tuple[list[int] | None, str]:
    """Return the ids of a file; or None and why it is refused."""
    try:
        return [id for chunk in iter_ids(path, dtype=dtype, size=size) for id in chunk.tolist()], ""
    except TokenStreamError as error:
        return None, str(error)


def check(kind: str, seed: int, folder: Path) -> tuple[str, list[int] | None, Path, str]:
    """Fail if a mutated file has other ids; return the result, the right ids, where it is, and its type."""
    source = random.Random(f"{kind} {seed}")
    dtype = source.choice(DTYPES)
    ids = [source.choice((83, 256, 257, 258, source.randrange(256))) for _ in range(source.choice((1, 2, 5, 30, 200)))]
    if dtype == "uint8":
        ids = [id % 256 for id in ids]
    original = written(kind, ids, dtype, source)
    data = mutated(original, source)
    path = folder / f"ids.{kind}"
    path.write_bytes(data)
    n_bytes, n_ids = source.choice((1, 2, 3, 7, 30, 1 << 20)), source.choice((1, 2, 3, 50, 1 << 18))
    size = n_bytes if kind in ("txt", "json") else n_ids
    right = ORACLES[kind](data, dtype)
    if data == original:
        assert right == ids
    where = f"seed {seed} of {kind}"
    found, message = read(path, dtype if kind == "bin" else None, size)
    if found is None:
        assert len(message.splitlines()) == 1, where
        assert str(path) in message, where
        assert right is None or not must_be_read(kind, data), (where, data, message)
        return "refused", right, path, dtype
    assert found == right, (where, data)
    return "changed" if found != ids else "read", right, path, dtype


def assert_files_right_or_refused(kind: str, chosen: range, folder: Path) -> Counter[str]:
    return Counter(check(kind, seed, folder)[0] for seed in chosen)


@pytest.mark.parametrize("kind", ORACLES)
def test_mutated_files(kind: str, tmp_path: Path) -> None:
    outcomes = assert_files_right_or_refused(kind, range(400), tmp_path)
    # Each of these has to be met for the test to mean anything.
    assert min(outcomes[name] for name in ("read", "changed", "refused")) >= 10, outcomes


@pytest.mark.slow
@pytest.mark.parametrize("kind", ORACLES)
def test_many_mutated_files(kind: str, tmp_path: Path, tally: Tally) -> None:
    chosen = seeds(5_000)
    print(kind, dict(assert_files_right_or_refused(kind, chosen, tmp_path)), "of", len(chosen), "files")
    tally("crashes", "spoiled inputs", len(chosen))


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
        if outcome == "refused":
            assert (status, captured.out) == (2, ""), seed
            assert captured.err.startswith("tokdfa: error: "), seed
            assert captured.err.count("\n") == 1, seed
        else:
            assert right is not None
            known = all(0 <= id < tokenizer.n_ids for id in right)
            assert status == (0 if known and tokenizer.validate(right) else 1), seed
            assert json.loads(captured.out)["tokens"] == len(right), seed
    assert min(statuses[status] for status in (0, 1, 2)) >= 3, statuses
