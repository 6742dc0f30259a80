"""The commands on WordPiece tokenizers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.commands import run

ENTRIES = ["[UNK]", "a", "abcd", "##b", "##bc", "##z", "[SEP]", "##", "[unused0]"]


@pytest.fixture
def tok(tmp_path: Path) -> Path:
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(ENTRIES) + "\n")
    return path


def _json(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    captured = capsys.readouterr()
    assert captured.err == ""
    fields = json.loads(captured.out)
    assert isinstance(fields, dict)
    return fields


def test_encode_and_decode(tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("encode", tok, "ABCZ [SEP] q") == 0
    assert capsys.readouterr().out == "1 4 5 6 0\n"
    ids = tmp_path / "ids.npy"
    np.save(ids, [1, 4, 5, 6])
    assert run("decode", tok, ids) == 0
    assert capsys.readouterr().out == "abcz [SEP]"
    assert run("encode", tok, "a", "--pretokenizer", "gpt2") == 2
    assert "WordPiece is modelled only with BERT's pre-tokenizer: 'gpt2'" in capsys.readouterr().err


def test_validate_judges_wordpiece_ids(tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids = tmp_path / "ids.npy"
    np.save(ids, [1, 4, 5, 6])
    assert run("validate", tok, ids) == 0
    assert capsys.readouterr() == ("canonical: 4 tokens\n", "")
    np.save(ids, [2, 1, 3, 5, 1, 4, 3])
    assert run("validate", tok, ids) == 0
    capsys.readouterr()
    np.save(ids, [1, 5, 7])
    assert run("validate", tok, ids, "--json") == 1
    assert _json(capsys)["violations"][0]["index"] == 2


def test_info_describes_wordpiece(tok: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("info", tok, "--json") == 0
    fields = _json(capsys)
    expected = {
        "format": "vocab.txt",
        "ids": 9,
        "tokens": 7,
        "semantics": "longest match",
        "pretokenizer": "BertPreTokenizer",
        "prefix": "##",
        "unknown": "[UNK]",
        "longest_word": 100,
        "dead_tokens": 2,
        "local_from": 2,
        "specials": 2,
        "ignored": [],
    }
    assert {name: fields[name] for name in expected} == expected
    assert [example["token"] for example in fields["dead_token_examples"]] == ["##", "[unused0]"]
    assert run("info", tok) == 0
    assert "longest match" in capsys.readouterr().out


def test_draw_writes_the_trie(tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "trie.dot"
    assert run("draw", tok, "-o", picture, "--word", "abcz", "--json") == 0
    assert _json(capsys) == {"states": 7, "transitions": 9, "path": str(picture)}
    assert 'label="##bc", style=dashed' in picture.read_text()
    assert run("draw", tok, "-o", picture, "--force") == 0
    assert run("draw", tok, "-o", picture, "--force", "--max-states", "3", "--word", "abcz") == 2
    assert "more than the limit of 3" in capsys.readouterr().err
    assert run("draw", tok, "-o", picture, "--force", "--max-states", "3") == 1
    assert "not drawn: the trie has" in capsys.readouterr().out
    assert run("draw", tok, "-o", picture, "--force", "--language", "a*") == 2
    assert "--language" in capsys.readouterr().err


def test_locality_is_that_of_the_trie(tok: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("locality", tok, "--json") == 0
    fields = _json(capsys)
    assert fields["local_from"] == 2
    assert run("locality", tok) == 0
    assert "two runs read ##b" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "the file is empty"), (b"a\n\xff", "not UTF-8"), (b"a\n", "there is no entry for unknown words: 'q'")],
)
def test_bad_files_are_one_line(
    tmp_path: Path, content: bytes, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes(content)
    assert run("encode", path, "q") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error.replace("and there is", "there is")


def test_duplicate_entries_lose_the_first_id(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("[UNK]\na\n##b\na\n")
    assert run("encode", path, "ab") == 0
    assert capsys.readouterr().out == "3 2\n"
    assert run("info", path, "--json") == 0
    assert _json(capsys)["lost_ids"] == 1


def test_words_of_a_million_letters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vocabulary, text, ids = tmp_path / "vocab.txt", tmp_path / "text.txt", tmp_path / "ids.npy"
    vocabulary.write_text("[UNK]\na\n##a\n")
    text.write_text("a" * 1_000_000)
    # Longer than the longest word that the original splits.
    assert run("encode", vocabulary, "--file", text) == 0
    assert capsys.readouterr().out == "0\n"
    np.save(ids, np.array([1, *[2] * 999_999], np.int32))
    assert run("decode", vocabulary, ids) == 0
    assert capsys.readouterr().out == "a" * 1_000_000
    assert run("validate", vocabulary, ids, "--json") == 1
    violation = _json(capsys)["violations"][0]
    assert (violation["index"], violation["canonical_ids"]) == (0, [0])


def test_a_vocabulary_of_nothing_but_the_unknown_token(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("[UNK]\n")
    assert run("encode", path, "a b") == 0
    assert capsys.readouterr().out == "0 0\n"
    for command in ("info", "locality"):
        assert run(command, path) == 0
    capsys.readouterr()
