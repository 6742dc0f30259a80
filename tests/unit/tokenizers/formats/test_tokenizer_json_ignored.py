"""Fields that tokenizers ignores are ignored, wherever it ignores them; where it does not, they are refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.tokenizer_files import TEXTS, as_bytes, tokenizer_json
from tokdfa.base.errors import FileFormatError
from tokdfa.tokenizers.formats.tokenizer_json import read_tokenizer_json
from tokdfa.tokenizers.loading import tokenizer_of

HERE = Path("tokenizer.json")
SPLIT = {"type": "Split", "pattern": {"Regex": "x+"}, "behavior": "Isolated", "invert": False}
STEPS: list[dict[str, Any]] = [
    SPLIT,
    {"type": "Digits", "individual_digits": True},
    {"type": "Punctuation", "behavior": "Isolated"},
    {"type": "Whitespace"},
    {"type": "WhitespaceSplit"},
    {"type": "BertPreTokenizer"},
    {"type": "CharDelimiterSplit", "delimiter": "x"},
    {"type": "FixedLength", "length": 3},
]
NORMALIZERS: list[dict[str, Any]] = [
    {"type": "NFC"},
    {"type": "Lowercase"},
    {"type": "StripAccents"},
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "Prepend", "prepend": "x"},
    {"type": "Replace", "pattern": {"String": "x"}, "content": "y"},
]
BYTES = tokenizer_json()["pre_tokenizer"]
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<x>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<x>": {"id": "<x>", "ids": [7], "tokens": ["<x>"]}},
}
FIELDS = tokenizer_json(
    truncation={"max_length": 99, "strategy": "LongestFirst", "stride": 0},
    normalizer={"type": "Sequence", "normalizers": NORMALIZERS},
    pre_tokenizer={"type": "Sequence", "pretokenizers": [*STEPS, BYTES]},
    post_processor={"type": "Sequence", "processors": [BYTES, TEMPLATE]},
    decoder={"type": "Sequence", "decoders": [BYTES, {"type": "Fuse"}]},
)


def objects(value: Any, where: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all objects except the vocabulary."""
    if isinstance(value, dict) and where != ("model", "vocab"):
        yield where
        for key in value:
            yield from objects(value[key], (*where, key))
    elif isinstance(value, list) and where != ("model", "merges"):
        for index, item in enumerate(value):
            yield from objects(item, (*where, index))


def with_field(where: tuple[Any, ...], value: Any) -> dict[str, Any]:
    fields = copy.deepcopy(FIELDS)
    inner: Any = fields
    for key in where:
        inner = inner[key]
    inner["zz"] = value
    return fields


@pytest.mark.parametrize("where", [*objects(FIELDS)], ids=str)
@pytest.mark.parametrize("value", [None, 1, {"type": "NFC"}], ids=str)
def test_an_unknown_field_anywhere(where: tuple[Any, ...], value: Any) -> None:
    library = pytest.importorskip("tokenizers").Tokenizer
    fields = with_field(where, value)
    try:
        peer = library.from_str(json.dumps(fields))
    except Exception:
        with pytest.raises(FileFormatError):
            read_tokenizer_json(as_bytes(fields), HERE)
        return
    tokenizer = tokenizer_of(read_tokenizer_json(as_bytes(fields), HERE))
    for text in TEXTS:
        assert tokenizer.encode(text).tolist() == peer.encode(text, add_special_tokens=False).ids


def test_both_outcomes_are_met() -> None:
    paths = [*objects(FIELDS)]
    assert ("post_processor", "processors", 1, "single", 0) in paths
    assert () in paths
    assert ("added_tokens", 0) in paths
    assert len(paths) > 30


def test_without_a_decoder_bytes_are_known() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    fields = tokenizer_json(decoder=None)
    tokenizer = tokenizer_of(read_tokenizer_json(as_bytes(fields), HERE))
    library = tokenizers.Tokenizer.from_str(json.dumps(fields))
    # Its own decode puts spaces between the letters of tokens; with the decoder that belongs to ByteLevel it is a text.
    library.decoder = tokenizers.decoders.ByteLevel()
    for text in TEXTS:
        ids = library.encode(text).ids
        assert tokenizer.encode(text).tolist() == ids
        assert tokenizer.decode(ids) == library.decode(ids, skip_special_tokens=False)
        assert bool(tokenizer.validate(ids))
