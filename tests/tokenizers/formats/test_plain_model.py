"""Files that compiled code reads are read as those that Python's json reads, and refused with the same words."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from support import random_files
from support.seeds import seeds
from support.tokenizer_files import as_bytes, tokenizer_json

import tokdfa
from tokdfa.errors import FileFormatError
from tokdfa.tokenizers.formats.plain_model import read_plain


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
    return tokenizer.made_of, tokenizer.token_to_id.tolist(), tokenizer.specials


@pytest.mark.parametrize(
    "change",
    [
        {"merges": [["a", "a"], ["a", "a"]]},
        {"merges": ["a a", "a a"]},
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
def test_faults(change: dict[str, Any]) -> None:
    fields = tokenizer_json()
    fields["model"] |= change
    data = json.dumps(fields).encode()
    found = _answer(data)
    assert isinstance(found, tuple)
    assert found[0] in (FileFormatError, tokdfa.errors.UnsupportedFeatureError)
    assert found == _answer(slowly(data))


def test_equal_words_are_found() -> None:
    data = as_bytes(tokenizer_json()).replace(b'"a":', b'"b":', 1)
    assert read_plain(data, Path("x")) is None
    with pytest.raises(FileFormatError, match=r"^<bytes>, \$\.model\.vocab: a duplicate key in an object: 'b'$"):
        tokdfa.load(data)
