"""The commands on Unigram tokenizers, from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support import commands, unigrams

METASPACE = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
VOCAB = [["<unk>", 0], ["\u2581", -2], ["\u2581the", -1.5], ["t", -3], ["he", -2.5], ["cat", -2], ["c", -3], ["at", -2]]


def write(path: Path, vocab: list[list[Any]] = VOCAB, **changes: Any) -> Path:
    fields = {"version": "1.0", "added_tokens": [], "pre_tokenizer": METASPACE, "decoder": METASPACE}
    fields["model"] = {"type": "Unigram", "unk_id": 0, "vocab": vocab}
    path.write_text(json.dumps(fields | changes), encoding="utf-8")
    return path


@pytest.fixture(params=["tokenizer.json", "model"])
def tok(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "tokenizer.json":
        return write(tmp_path / "tokenizer.json")
    path = tmp_path / "some.model"
    path.write_bytes(unigrams.trained_by_sentencepiece("identity", False, 0))
    return path


def test_encode_decode_search_and_documents(tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = commands.run
    tokenizer = tokdfa.load(tok)
    ids = tokenizer.encode("the cat")
    assert run("encode", tok, "the cat", "-o", tmp_path / "ids.npy") == 0
    assert np.load(tmp_path / "ids.npy").tolist() == ids.tolist()
    capsys.readouterr()
    assert run("decode", tok, tmp_path / "ids.npy") == 0
    assert capsys.readouterr().out.rstrip("\n") == "the cat"
    assert run("search", tok, "c[a-z]t", tmp_path / "ids.npy", "--json") == 0
    assert json.loads(capsys.readouterr().out)["count"] == 1
    assert run("search", tok, "dog", tmp_path / "ids.npy") == 1
    capsys.readouterr()
    # The second of two documents is wrong: its first piece is written with other tokens.
    pieces = {piece: id for id, piece in enumerate(tokenizer.token_strings)}
    wrong = [pieces["\u2581"], pieces["t"], pieces["he"] if "he" in pieces else pieces["h"]]
    assert not tokenizer.validate(wrong)
    np.save(tmp_path / "both.npy", [*ids.tolist(), *wrong])
    np.save(tmp_path / "starts.npy", [0, len(ids)])
    assert run("validate", tok, tmp_path / "both.npy", "--documents", tmp_path / "starts.npy", "--json") == 1
    (violation,) = json.loads(capsys.readouterr().out)["violations"]
    assert violation["index"] == len(ids)
    assert run("info", tok, "--json") == 0
    assert json.loads(capsys.readouterr().out)["semantics"].startswith("best sum in ")


def test_a_tokenizer_judged_as_a_whole_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tok = write(tmp_path / "tokenizer.json", pre_tokenizer=None)
    assert commands.run("info", tok, "--json") == 0
    assert "not Metaspace" in json.loads(capsys.readouterr().out)["rewriting"]["judged_as_a_whole"]


def test_compare_finds_another_score(tmp_path: Path) -> None:
    a = write(tmp_path / "a.json")
    assert commands.run("compare", a, write(tmp_path / "same.json")) == 0
    other = [[piece, -9.0 if piece == "cat" else score] for piece, score in VOCAB]
    assert commands.run("compare", a, write(tmp_path / "other.json", other)) == 1


@pytest.mark.slow
def test_what_neither_parts_nor_texts_decide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # All scores are twice as large: no text tells the two apart, and nothing proves it.
    twice = write(tmp_path / "twice.json", [[piece, 2.0 * score] for piece, score in VOCAB])
    status = commands.run("compare", write(tmp_path / "a.json"), twice)
    captured = capsys.readouterr()
    assert (status, captured.out) == (2, "")
    assert "no text" in captured.err
