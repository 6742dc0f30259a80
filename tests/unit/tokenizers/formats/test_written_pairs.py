"""Rules in one text, with separators that no part contains."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tokdfa
from tests.support.tokenizer_files import tokenizer_json
from tokdfa.base.errors import FileFormatError
from tokdfa.tokenizers.formats.written import joined


def test_the_separator_is_in_no_string() -> None:
    assert joined(["a", "é", ""]) == ("a\0é\0".encode(), 0)
    assert joined(["a", "\0", "中"]) == (b"a\xff\0\xff" + "中".encode(), 0xFF)
    assert joined([]) == (b"\xff"[:0], 0xFF)
    with pytest.raises(TypeError):
        joined(["a", 1])  # type: ignore[list-item]


def over_characters(merges: list[object]) -> dict[str, object]:
    fields = tokenizer_json()
    vocab = {token: id for id, token in enumerate(["a", "b", "\0", " ", "ab", "a\0", "\0b", "a b", " b", "a "])}
    fields["model"] |= {"vocab": vocab, "merges": merges}
    return fields | {"pre_tokenizer": None, "decoder": {"type": "Fuse"}, "added_tokens": []}


@pytest.mark.parametrize(
    ("merges", "text", "ids"),
    [
        (["a b", "a \0"], "aba\0", [4, 5]),
        ([["a", "\0"], ["\0", "b"], ["a", "b"]], "aba\0", [4, 5]),
        ([[" ", "b"], ["a", " b"]], "a ba ", [7, 0, 3]),
    ],
)
def test_parts_with_spaces_and_nulls(merges: list[object], text: str, ids: list[int], tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(over_characters(merges)), encoding="utf-8")
    tokenizer = tokdfa.load(path)
    assert tokenizer.encode(text).tolist() == ids
    parts = [row.split(" ") if isinstance(row, str) else row for row in merges]
    assert [list(rule) for rule in tokenizer.dictionary] == parts


@pytest.mark.parametrize(
    ("merges", "what", "where"),
    [
        (["a b", "ab"], "one space", r"\[1\]"),
        (["a b", "a  b"], "one space", r"\[1\]"),
        (["b a", "a  b"], "one space", r"\[1\]"),
        (["a b", "b a"], "not in the vocabulary", r"\[1\]"),
        (["a b", ["a", "b"]], "mixed", r"\[1\]"),
        ([["a", "b"], "a b"], "mixed", r"\[1\]"),
        ([["a", "b"], ["a"]], "pair of strings", r"\[1\]"),
        ([["a", "b"], ["a", 1]], "pair of strings", r"\[1\]"),
        ([["a", "b"], {"a": 1, "b": 2}], "pair of strings", r"\[1\]"),
        ([["a", "b"], ["a", ""]], "not in the vocabulary", r"\[1\]"),
        ([None], "pair of strings", r"\[0\]"),
        (["a b", "#version", "b a"], "not in the vocabulary", r"\[2\]"),
        ([["a", "b"], "#version: 0.2"], "mixed", r"\[1\]"),
    ],
)
def test_faults_are_named(merges: list[object], what: str, where: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(over_characters(merges)), encoding="utf-8")
    with pytest.raises(FileFormatError, match=f"{what}.*merges{where}|merges{where}.*{what}"):
        tokdfa.load(path)
