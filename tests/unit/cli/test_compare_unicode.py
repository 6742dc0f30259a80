"""``--unicode`` on every command that loads a tokenizer whole."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support import commands

MERGES = str(Path(__file__).parents[3] / "tokdfa" / "tokenizers" / "data" / "default.merges.txt")
OLD = ("--pretokenizer", "gpt2", "--unicode", "tokenizers==0.20.3")
NEW = ("--pretokenizer", "gpt2", "--unicode", "tokenizers==0.23.3")
# U+1C89 is a letter since Unicode 16.
TEXT = "\u1c89's"


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, object]]:
    status = commands.run(*arguments, "--json")
    return status, json.loads(capsys.readouterr().out)


def test_an_upgrade_that_changes_something(capsys: pytest.CaptureFixture[str]) -> None:
    status, found = answer(capsys, "compare", MERGES, MERGES, *OLD, "--unicode-b", "tokenizers==0.23.3")
    assert status == 1
    (old, new) = (answer(capsys, "encode", MERGES, TEXT, *version)[1]["ids"] for version in (OLD, NEW))
    rest = [r"\xe1", r"\xb2", r"\x89"]
    tokens = {"tokens_a": [*rest, "'", "s"], "tokens_b": [*rest, "'s"]}
    assert found["witness"] == {"text": TEXT, "ids_a": old, "ids_b": new, **tokens}
    assert found["checked"]["pretokenizer"] == "different"  # type: ignore[index]
    assert found["checked"]["shortest"] == "proven"  # type: ignore[index]


def test_an_upgrade_that_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    status, found = answer(capsys, "compare", MERGES, MERGES, *OLD, "--unicode-b", "tokenizers==0.21.1")
    assert (status, found["equivalent"], found["witness"]) == (0, True, None)
    status, found = answer(capsys, "compare", MERGES, MERGES, *OLD)
    assert (status, found["equivalent"]) == (0, True)


def test_other_commands(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert answer(capsys, "info", MERGES, *OLD)[1]["unicode"] == "tokenizers 0.20.1 to 0.21.0"
    assert answer(capsys, "info", MERGES)[1]["unicode"] is None
    old, same, new = (
        answer(capsys, "fingerprint", MERGES, *version)[1]["fingerprint"]
        for version in (OLD, (*OLD[:3], "tokenizers==0.13.3"), NEW)
    )
    assert old == same != new
    ids = tmp_path / "ids.npy"
    np.save(ids, np.array(answer(capsys, "encode", MERGES, TEXT, *OLD)[1]["ids"]))
    assert [answer(capsys, "validate", MERGES, str(ids), *version)[0] for version in (OLD, NEW)] == [0, 1]
    pieces = answer(capsys, "split", MERGES, TEXT, *NEW)[1]["pieces"]
    assert [piece["text"] for piece in pieces] == ["\u1c89", "'s"]  # type: ignore[attr-defined]


def test_a_version_that_is_not_known_is_answered_with_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("encode", MERGES, "a", *OLD[:3], "tokenizers==0.1") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "0.20.1 to 0.21.0" in captured.err
    assert commands.run("encode", MERGES, "a", *OLD[:3], "tiktoken==0.7.0") == 2
    assert "follows tokenizers" in capsys.readouterr().err
