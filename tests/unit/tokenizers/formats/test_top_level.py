"""Truncation, padding and post-processors are checked as tokenizers does, named, and not applied."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.support.tokenizer_files import TEXTS, as_bytes, tokenizer_json
from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.tokenizers.formats.tokenizer_json import read_tokenizer_json
from tokdfa.tokenizers.loading import tokenizer_of

HERE = Path("tokenizer.json")
TRUNCATION = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
PADDING = {
    "strategy": {"Fixed": 7},
    "direction": "Left",
    "pad_to_multiple_of": None,
    "pad_id": 3,
    "pad_type_id": 0,
    "pad_token": "x",
}
TEMPLATE: dict[str, Any] = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<|end|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<|end|>": {"id": "<|end|>", "ids": [263], "tokens": ["<|end|>"]}},
}


def theirs(fields: dict[str, Any]) -> Any:
    return pytest.importorskip("tokenizers").Tokenizer.from_str(json.dumps(fields))


def test_ids_are_neither_cut_off_nor_filled_up() -> None:
    fields = tokenizer_json(truncation=TRUNCATION, padding=PADDING, post_processor=TEMPLATE)
    tokenizer, library = tokenizer_of(read_tokenizer_json(as_bytes(fields), HERE)), theirs(fields)
    assert tokenizer.ignored == ("truncation", "padding", "TemplateProcessing")
    assert len(library.encode("the then the").ids) == 7
    library.no_truncation()
    library.no_padding()
    for text in TEXTS:
        ids = library.encode(text, add_special_tokens=False).ids
        assert tokenizer.encode(text).tolist() == ids
        assert bool(tokenizer.validate(ids))


@pytest.mark.parametrize(
    "changes",
    [
        {"truncation": {key: value for key, value in TRUNCATION.items() if key != "direction"}},
        {"truncation": {**TRUNCATION, "stride": 9, "max_length": 0, "strategy": "OnlySecond", "zz": 1}},
        {"padding": {**PADDING, "strategy": "BatchLongest", "pad_to_multiple_of": 8}},
        {"padding": {**PADDING, "strategy": {"BatchLongest": None}, "zz": None}},
        {"padding": {key: value for key, value in PADDING.items() if key != "pad_to_multiple_of"}},
        {"post_processor": {"type": "RobertaProcessing", "sep": ["a", 1], "cls": ["b", 2]}},
        {"post_processor": {**TEMPLATE, "add_prefix_space": True, "trim_offsets": False, "use_regex": True}},
    ],
)
def test_what_is_read_is_read_by_the_library(changes: dict[str, Any]) -> None:
    fields = tokenizer_json(**changes)
    theirs(fields)
    assert read_tokenizer_json(as_bytes(fields), HERE).ignored


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"truncation": 5}, "$.truncation: an object is expected: 5"),
        ({"truncation": {"max_length": 5}}, "$.truncation: the field 'strategy' is missing"),
        ({"truncation": {**TRUNCATION, "max_length": -1}}, "$.truncation.max_length: a number must be from 0 to"),
        ({"truncation": {**TRUNCATION, "max_length": 1.5}}, "$.truncation.max_length: an integer is expected: 1.5"),
        ({"truncation": {**TRUNCATION, "strategy": "longest_first"}}, "$.truncation.strategy: it must be one of Long"),
        ({"truncation": {**TRUNCATION, "direction": "Up"}}, "$.truncation.direction: it must be one of Left, Right"),
        ({"padding": {**PADDING, "strategy": {"Fixed": -1}}}, "$.padding.strategy: a strategy must be"),
        ({"padding": {**PADDING, "strategy": "Fixed"}}, "$.padding.strategy: a strategy must be"),
        ({"padding": {**PADDING, "strategy": {"Fixed": 1, "x": 1}}}, "$.padding.strategy: a strategy must be"),
        ({"padding": {**PADDING, "pad_id": 1 << 32}}, "$.padding.pad_id: a number must be from 0 to 4294967295"),
        ({"padding": {**PADDING, "pad_token": None}}, "$.padding.pad_token: a string is expected: None"),
        ({"post_processor": {"type": "Shuffle"}}, "$.post_processor.type: an unknown post-processor: 'Shuffle'"),
        ({"post_processor": {**TEMPLATE, "pair": None}}, "$.post_processor.pair: an array is expected: None"),
        (
            {"post_processor": {"type": "BertProcessing", "sep": ["a"], "cls": ["b", 2]}},
            "$.post_processor.sep: a token and its id are expected",
        ),
    ],
)
def test_what_is_wrong(changes: dict[str, Any], message: str) -> None:
    fields = tokenizer_json(**changes)
    with pytest.raises((FileFormatError, UnsupportedFeatureError)) as caught:
        read_tokenizer_json(as_bytes(fields), HERE)
    assert str(caught.value).startswith(f"tokenizer.json, {message}")
    with pytest.raises(Exception, match=r"."):
        theirs(fields)


ITEMS = {
    "A": {"Sequence": {"id": "A", "type_id": 0}},
    "B": {"Sequence": {"id": "B", "type_id": 0}},
    "x": {"SpecialToken": {"id": "<|end|>", "type_id": 0}},
}
PAIR_PROCESSORS = {
    "bert": {"type": "BertProcessing", "sep": ["<|end|>", 263], "cls": ["<|end|>", 263]},
    "roberta": {"type": "RobertaProcessing", "sep": ["<|end|>", 263], "cls": ["<|end|>", 263]},
    "bytes": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True},
}
SINGLES = ["".join(items) for n in range(4) for items in product("ABx", repeat=n)]


def processor_of(name: str) -> dict[str, Any]:
    """Return the post-processor of a name: of a pair, or the template of one text by its items."""
    return PAIR_PROCESSORS.get(name) or {**TEMPLATE, "single": [ITEMS[item] for item in name]}


@pytest.mark.parametrize(
    "names",
    [
        *([name] for name in [*SINGLES, *PAIR_PROCESSORS]),
        *([one, other] for one in PAIR_PROCESSORS for other in ("xA", "AA", "", "roberta")),
        *([one, other] for one in ("A", "xAx", "AA", "x") for other in ("Ax", "AA", "B", "bert")),
    ],
    ids="+".join,
)
@pytest.mark.parametrize("nests", [False, True])
def test_a_post_processor_changes_no_ids_or_is_refused(names: list[str], nests: bool) -> None:
    root: dict[str, Any] = {"type": "Sequence", "processors": [processor_of(name) for name in names]}
    fields = tokenizer_json(post_processor={"type": "Sequence", "processors": [root]} if nests else root)
    library, plain = theirs(fields), theirs(tokenizer_json())
    try:
        changes = any(
            library.encode(text, add_special_tokens=False).ids != plain.encode(text, add_special_tokens=False).ids
            for text in TEXTS
        )
    except BaseException as error:
        # A panic, as the library calls it.
        assert type(error).__name__ == "PanicException"  # noqa: PT017
        changes = True
    if not changes:
        tokenizer = tokenizer_of(read_tokenizer_json(as_bytes(fields), HERE))
        assert [tokenizer.encode(text).tolist() for text in TEXTS] == [plain.encode(text).ids for text in TEXTS]
        return
    with pytest.raises(UnsupportedFeatureError, match="exactly once") as caught:
        read_tokenizer_json(as_bytes(fields), HERE)
    at = next(index for index, name in enumerate(names) if name in SINGLES and (name.count("A"), "B" in name) != (1, 0))
    inner = ".processors[0]" if nests else ""
    assert caught.value.where == f"tokenizer.json, $.post_processor{inner}.processors[{at}].single"
    assert caught.value.value == processor_of(names[at])["single"]
