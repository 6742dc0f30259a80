"""Files that compiled code reads are read as those that Python's json reads, and refused with the same words."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.support import random_files
from tests.support.seeds import seeds
from tests.support.tokenizer_files import as_bytes, tokenizer_json
from tests.support.unigrams import any_tokenizers, changed_tokenizers
from tokdfa.base.errors import FileFormatError
from tokdfa.tokenizers.formats.written import read_plain


def slowly(data: bytes) -> bytes:
    """The same file, written so that compiled code does not read it."""
    return data.replace(b'"vocab"', b'"\\u0076ocab"', 1)


@pytest.mark.parametrize("make", [random_files.byte_file, random_files.character_file])
def test_random_files(make: Any, tmp_path: Path) -> None:
    n_plain = 0
    for seed in seeds(20):
        data = as_bytes(make(random.Random(seed)))
        n_plain += read_plain(data, tmp_path) is not None
        assert read_plain(slowly(data), tmp_path) is None
        assert _answer(data) == _answer(slowly(data))
    assert n_plain > 10


def _answer(data: bytes) -> object:
    try:
        tokenizer = tokdfa.load(data)
    except FileFormatError as error:
        return type(error), str(error)
    numbers = tokenizer.token_to_id.tolist() if tokenizer.why_not("rules") is None else tokenizer.n_ids
    return tokenizer.made_of, numbers, tokenizer.specials


@pytest.mark.parametrize(
    "change",
    [
        {"merges": ["#version", "a a", "b zz"]},
        {"merges": ["a a", "b zz"]},
        {"merges": ["a a", "b"]},
        {"merges": ["a a", "a  a"]},
        {"merges": [["a", "a"], ["", "a"]]},
        {"merges": [["a", "a"], "a a"]},
        {"merges": [["a", "a"], ["a"]]},
        {"merges": None},
        {"vocab": {}},
        {"vocab": {"a": 0, "b": 0}},
        {"vocab": {"a": 0, "": 1}},
        {"vocab": {"a": -1}},
        {"vocab": {"a": 1 << 24}},
        {"vocab": {"a": True}},
        {"vocab": {"a": 0, "\ud800": 1}},
        {"type": "WordPiece"},
    ],
)
def test_faults_are_named_as_by_json(change: dict[str, Any]) -> None:
    fields = tokenizer_json()
    fields["model"] |= change
    data = json.dumps(fields).encode()
    found = _answer(data)
    assert isinstance(found, tuple)
    assert found[0] in (FileFormatError, tokdfa.base.errors.UnsupportedFeatureError)
    assert found == _answer(slowly(data))


def test_equal_words_are_found() -> None:
    data = as_bytes(tokenizer_json()).replace(b'"a":', b'"b":', 1)
    assert read_plain(data, Path("x")) is None
    with pytest.raises(FileFormatError, match=r"^<bytes>, \$\.model\.vocab: a duplicate key in an object: 'b'$"):
        tokdfa.load(data)


@pytest.mark.parametrize(
    ("make", "scored"),
    [(random_files.wordpiece_file, False), (changed_tokenizers, True), (any_tokenizers, True)],
)
def test_random_files_without_rules(make: Any, scored: bool, tmp_path: Path) -> None:
    n_plain = n_loaded = 0
    for seed in seeds(30):
        data = as_bytes(make(random.Random(seed)))
        n_plain += read_plain(data, tmp_path, "Unigram" if scored else "WordPiece") is not None
        assert read_plain(slowly(data), tmp_path, "Unigram" if scored else "WordPiece") is None
        assert _answer(data) == _answer(slowly(data))
        n_loaded += not isinstance(_answer(data)[0], type)  # type: ignore[index]
    assert n_plain > 10
    assert n_loaded > 5


WORDS = {"type": "WordPiece", "unk_token": "?", "continuing_subword_prefix": "##", "max_input_chars_per_word": 9}
BERT = {
    "normalizer": {
        "type": "BertNormalizer",
        **dict.fromkeys(("clean_text", "handle_chinese_chars", "lowercase"), True),
        "strip_accents": None,
    },
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
}


@pytest.mark.parametrize(
    "vocab",
    [
        {"?": 0, "a": 1},
        {"?": 7, "a": 1, "##a": 3},
        {"?": 0, "a": 0},
        {"?": 0, "": 1},
        {"?": 0, "\0": 1},
        {"?": 0, "\ud800": 1},
        {"?": 0, "a": -1},
        {"?": 0, "a": True},
        {"?": 0, "a": 1.5},
        {"?": 0, "a": 1 << 28},
        {},
        None,
        [],
    ],
)
@pytest.mark.parametrize("more", [{}, {"merges": []}, {"max_input_chars_per_word": -1}, {"unk_token": "none"}])
def test_word_pieces(vocab: Any, more: dict[str, Any]) -> None:
    data = json.dumps({"version": "1.0", **BERT, "model": {"vocab": vocab, **WORDS, **more}}).encode()
    assert _answer(data) == _answer(slowly(data))


@pytest.mark.parametrize(
    "row",
    [["a", -1], ["?", -1], ["", -1], ["\0", 0], ["a"], ["a", "1"], ["a", None], ["a", 1e300], ["a", -1e999], "a", {}],
)
@pytest.mark.parametrize("more", [{}, {"unk_id": 5}, {"byte_fallback": True}, {"merges": None}])
def test_scored_pieces(row: Any, more: dict[str, Any]) -> None:
    model = {"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], row, ["b", -1.5]], **more}
    data = json.dumps({"version": "1.0", "decoder": {"type": "Fuse"}, "model": model}).encode()
    assert _answer(data) == _answer(slowly(data))
