"""tokdfa replace: its output, the files that it writes, and its refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support import commands

TOKENIZER = tokdfa.default_tokenizer()


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A dictionary and ids: the text "a single man, a man"."""
    TOKENIZER.dictionary.save(tmp_path / "merges.txt")
    np.save(tmp_path / "ids.npy", TOKENIZER.encode("a single man, a man"))
    return tmp_path / "merges.txt", tmp_path / "ids.npy"


def run(files: tuple[Path, Path], *arguments: object) -> int:
    tok, ids = files
    return commands.run("replace", tok, *arguments, ids, "--pretokenizer", "gpt2")


def test_changes_are_shown(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files, "(m)an", r"\1en") == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("tokens 2-3, new tokens 2-")
    assert shown[0].endswith(": ' man' → ' men'")
    assert shown[-1].startswith("2 matches replaced, 6 tokens became ")
    assert run(files, "x", "y", "--limit", "1") == 0
    assert capsys.readouterr().out == "0 matches replaced, 6 tokens became 6\n"


def test_ids_are_written(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    output = files[1].with_name("new.npy")
    assert run(files, "man", "house", "-o", output, "--json") == 0
    new = np.load(output)
    assert new.dtype == np.int32
    assert new.tolist() == TOKENIZER.encode("a single house, a house").tolist()
    told = json.loads(capsys.readouterr().out)
    assert told == {"count": 2, "tokens": 6, "new_tokens": len(new), "path": str(output)}


def test_nothing_is_overwritten_silently(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    output = files[1].with_name("new.npy")
    output.write_bytes(b"mine")
    assert run(files, "man", "house", "-o", output) == 2
    assert output.read_bytes() == b"mine"
    assert "new.npy: the file exists; --force replaces it" in capsys.readouterr().err
    assert run(files, "man", "house", "-o", output, "--force") == 0
    assert np.load(output).tolist() == TOKENIZER.encode("a single house, a house").tolist()


def test_a_failure_leaves_no_file(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    np.save(files[1], np.array([64, 261, 1193]))
    output = files[1].with_name("new.npy")
    assert run(files, "man", "house", "-o", output, "--check") == 2
    assert "token 1: the ids are not canonical: " in capsys.readouterr().err
    assert sorted(path.name for path in output.parent.iterdir()) == ["ids.npy", "merges.txt"]


def test_words_of_a_file_are_replaced(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    words = files[1].with_name("words.txt")
    words.write_text("man\nsingle\n")
    assert run(files, "x", "--words", words, "--json", "--limit", "2") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["count"] == 2
    assert [change["start"] for change in told["changes"]] == [1, 2]
    assert {TOKENIZER.decode(change["new_ids"]) for change in told["changes"]} == {" x"}


def test_documents_are_replaced_one_by_one(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    index, output, starts = (files[1].with_name(name) for name in ("index.npy", "new.npy", "starts.npy"))
    np.save(index, [0, 3])
    arguments = ("man$", "men", "-o", output, "--documents", index, "--starts", starts)
    assert run(files, *arguments) == 0
    parts = [TOKENIZER.encode("a single men"), TOKENIZER.encode(", a men")]
    assert np.load(output).tolist() == np.concatenate(parts).tolist()
    assert np.load(starts).tolist() == [0, len(parts[0])]
    assert run(files, "a", "b", "--starts", files[1].with_name("other.npy")) == 2
    assert "--starts is for IDS whose documents are given by their first tokens" in capsys.readouterr().err


def test_documents_that_become_one_stream_are_told(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path, output, starts = (files[1].with_name(name) for name in ("ids.jsonl", "new.npy", "starts.npy"))
    path.write_text('{"input_ids": [64, 261]}\n{"input_ids": [64]}\n', encoding="utf-8")
    assert commands.run("replace", files[0], "a", "b", path, "-o", output) == 0
    assert f"{output} is one stream of 2 documents; --starts FILE writes where each begins" in capsys.readouterr().err
    assert commands.run("replace", files[0], "a", "b", path, "-o", output, "--starts", starts, "--force") == 0
    assert "is one stream" not in capsys.readouterr().err
    assert np.load(starts).tolist() == [0, len(np.load(output)) - 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("man",), "give TOK, PATTERN, REPLACEMENT and IDS, in this order; or TOK, REPLACEMENT, IDS and --words FILE"),
        (("(man)", r"\2"), r"the replacement is not a template for this pattern: no such group: '\\2'"),
        ((r"(m)\1", "x"), "pattern, offset 3: a back-reference is not regular"),
        (("m", "x", "-o", "missing/new.npy"), "missing/new.npy"),
        (("m", "x", "-o", "new.npy", "--starts", "./new.npy"), "-o and --starts name the same file"),
    ],
)
def test_bad_input_is_named(
    arguments: tuple[str, ...], message: str, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(files, *arguments) == 2
    assert message in capsys.readouterr().err
