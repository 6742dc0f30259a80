"""`tokdfa check-prefix`: the answer of `check_prefix`, its status, and ids from arguments and files."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support import commands
from tests.support.tokenizer_files import as_bytes, tokenizer_json


@pytest.fixture
def tok(tmp_path: Path) -> Path:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json([(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")])))
    return path


def test_the_answer_is_that_of_python(tok: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokenizer, drawn = tokdfa.load(tok), random.Random(2)
    letters = [int(tokenizer.encode(letter)[0]) for letter in "abc"] + [256, 257, 258]
    kinds = set()
    for number in range(40):
        a, b = (drawn.choices(letters, k=drawn.randint(1, 3)) for _ in range(2))
        b = a + b if number % 4 == 0 else b
        np.save(tok.with_name("b.npy"), b)
        given = [",".join(map(str, a)), tok.with_name("b.npy") if number % 2 else " ".join(map(str, b))]
        status = commands.run("check-prefix", tok, *given, "--json")
        answer, expected = json.loads(capsys.readouterr().out), tokdfa.check_prefix(tokenizer, a, b)
        assert (status, answer["holds"]) == ((0, True) if b[: len(a)] == a else (1, False))
        assert (answer["kind"], answer["index"], answer["reason"]) == (expected.kind, expected.index, expected.reason)
        assert commands.run("check-prefix", tok, *given) == status
        assert capsys.readouterr().out == f"{expected.reason}\n"
        kinds.add(answer["kind"])
    assert kinds == {*tokdfa.jobs.rollouts.prefix.PrefixKind}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["1", "99999"], "99999, token 0: id out of range: 99999"),
        (["-", "-"], "cannot both be -"),
        (["1", "no.npy"], "no.npy"),
        (["1", "12345678901"], "'12345678901' is not an id"),
    ],
)
def test_ids_that_cannot_be_read_are_named(
    tok: Path, given: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert commands.run("check-prefix", tok, *given) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
