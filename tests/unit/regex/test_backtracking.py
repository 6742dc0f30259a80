"""Patterns of the backtracking engine: their size is checked before they are compiled."""

from __future__ import annotations

import json

import pytest

import tokdfa
from tests.support.tokenizer_files import tokenizer_json
from tokdfa.base.errors import LimitExceededError
from tokdfa.regex.backtracking import compile_backtracking
from tokdfa.regex.syntax import parse

# Written out, this takes half a gigabyte and a second; a thousand times more is as short.
TOO_LARGE = "(?:(?:a{1000}){1000}){2}"


@pytest.mark.parametrize("field", ["normalizer", "pre_tokenizer"])
def test_a_pattern_of_a_file_that_repeats_two_million_times_is_refused(field: str) -> None:
    step = {"type": "Replace", "content": "b"} if field == "normalizer" else {"type": "Split", "behavior": "Isolated"}
    fields = tokenizer_json([], added_tokens=[])
    fields[field] = step | {"pattern": {"Regex": TOO_LARGE}, "invert": False}
    with pytest.raises(LimitExceededError, match="takes more than 500000 instructions"):
        tokdfa.load(json.dumps(fields).encode()).encode("aaa")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("(?:a{100}){100}", "a" * 10_000), ("(?:a{0,100000}){0,1000}b", "aab"), ("(?:(?:a{1,1000}){1,9}){1,99}", "aaa")],
)
def test_optional_repetitions_cost_nothing_and_others_match(pattern: str, text: str) -> None:
    assert compile_backtracking(parse(pattern)).fullmatch(text)
