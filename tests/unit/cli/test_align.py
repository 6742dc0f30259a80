"""The command align."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from tests.support import commands
from tests.support.command_files import Files
from tests.support.families import FAMILIES

A, B = 64, 65
# Decoders that change the text of an id by its neighbours.
REFUSED = ("CLIP", "prefix", "WordPiece, any steps")


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def run_json(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, object]:
    assert commands.run("align", *arguments, "--json") == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_documents_are_those_of_the_stores(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    tok = files.json()
    lines = files.write("a.jsonl", b'{"ids": [256]}\n{"ids": [64]}\n')
    other = files.write("b.jsonl", b'{"tokens": [64, 65]}\n{"tokens": [64]}\n')
    found = run_json(capsys, tok, lines, tok, other, "--field-b", "tokens")
    assert (found["documents"], found["units"], found["tokens_b"], found["spelled_by_one_b"]) == (2, 2, 3, 2)
    assert found["shapes"] == [{"a": 1, "b": 1, "units": 1}, {"a": 1, "b": 2, "units": 1}]
    other.write_bytes(b'{"tokens": [64, 65]}\n{"tokens": [65]}\n')
    assert commands.run("align", tok, lines, tok, other, "--field-b", "tokens") == 2
    assert "document 1, byte 0, tokens 1 and 2: the streams are of different texts" in capsys.readouterr().err
    assert commands.run("align", tok, lines, tok, files.ids(A, B, A)) == 2
    assert "2 and 1 documents" in capsys.readouterr().err


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_of_all_families_fit_their_schema(
    family: str, files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = random.Random(f"align {family}")
    member = FAMILIES[family](drawn)
    streams = (member.stream(drawn) for _ in range(50))
    ids = next(ids for ids in streams if len(ids) > 4 and "\ufffd" not in member.decode(ids))
    tok = files.write("tokenizer", member.load.args[0])
    format = member.load.keywords.get("format")
    options = ("--special", "keep", "--documents", "none", *(() if format is None else ("--format", format)))
    # The answer is checked against the schema where the command runs.
    status = commands.run("align", tok, files.ids(*ids), tok, files.ids(*ids), *options, "--json")
    captured = capsys.readouterr()
    if status == 2:
        assert family in REFUSED, captured.err
    else:
        answer = json.loads(captured.out)
        assert (answer["tokens_a"], answer["bytes"]) == (len(ids), len(member.decode(ids).encode()))


def test_documents_end_with_a_separator(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    tok = files.json()
    ids = files.ids(256, 70, A, 70)
    assert run_json(capsys, tok, ids, tok, ids, "--documents", "70")["documents"] == 2
    assert run_json(capsys, tok, ids, tok, ids, "--documents", "none")["documents"] == 1


def test_units_are_written_to_a_file(files: Files, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tok, ids = files.json(), files.ids(256, A)
    assert commands.run("align", tok, ids, tok, ids, "-o", tmp_path / "units.npz") == 0
    assert "2 of 2 and 2 ids" in capsys.readouterr().out
    assert np.load(tmp_path / "units.npz")["offsets"].tolist() == [0, 2, 3]
    assert commands.run("align", tok, ids, tok, ids, "-o", tmp_path / "units.csv") == 2
    assert "units are written as .npz or .jsonl" in capsys.readouterr().err
    assert commands.run("align", tok, "-", tok, "-") == 2
    assert "standard input is one stream" in capsys.readouterr().err


def test_without_ids_the_answer_is_about_all_texts(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = files.json([(b"a", b"a")]), files.json([(b"b", b"a"), (b"a", b"a")])
    assert commands.run("align", a, a) == 0
    assert "a unit has at most 2 bytes" in capsys.readouterr().out
    assert commands.run("align", a, b) == 1
    assert "units can be as long as wanted: 'aa' can be repeated in" in capsys.readouterr().out
    assert commands.run("align", a, b, "--max-seconds", "0.000001") == 2
    assert "seconds" in capsys.readouterr().err
    assert commands.run("align", a, b, "--field", "ids") == 2
    assert "options about units and ids are for IDS_A and IDS_B" in capsys.readouterr().err
    for option in ("--documents", "none"), ("--special", "keep"):
        assert commands.run("align", a, b, *option) == 2
        assert "options about units and ids are for IDS_A and IDS_B" in capsys.readouterr().err
    assert commands.run("align", a, files.ids(A), b) == 2
    assert "give A, IDS_A, B and IDS_B" in capsys.readouterr().err
    assert commands.run("align", a, files.ids(A), b, files.ids(A), "--max-seconds", 9) == 2
    assert "--max-seconds is for all texts" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("tok", "a", "tok", "b"), "control tokens add nothing; --special keep spells them"),
        (("tok", "", "tok", "b"), "the path of the ids is empty: ''"),
        (("", "a", "tok", "b"), "no path of a tokenizer: ''"),
    ],
)
def test_errors_speak_of_options_and_not_of_keywords(
    names: tuple[str, ...], said: str, files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = {"tok": files.json(), "a": files.ids(A), "b": files.ids(B)}
    assert commands.run("align", *(paths.get(name, name) for name in names)) == 2
    assert said in capsys.readouterr().err
