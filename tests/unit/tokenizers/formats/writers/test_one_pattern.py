"""Splittings as one pattern of tiktoken."""

from __future__ import annotations

import pytest

from tests.support.cut_differences import first_text_cut_differently
from tokdfa.tokenizers.formats.writers.one_pattern import is_one_pattern, one_pattern, pretokenizer_option
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting

DIGITS_FIRST = Splitting("tokenizers", (Split(r"\p{N}"), *NAMED["gpt2"].steps))


@pytest.mark.parametrize("splitting", [*NAMED.values(), DIGITS_FIRST], ids=[*NAMED, "digits first"])
def test_one_pattern_cuts_every_text_alike(splitting: Splitting) -> None:
    pattern = one_pattern(splitting)
    assert pattern is not None
    assert first_text_cut_differently(splitting, Splitting("tiktoken", (Split(pattern),))) is None


def test_names_are_those_of_patterns_of_tiktoken() -> None:
    options = {name: pretokenizer_option(splitting) for name, splitting in NAMED.items()}
    own = {name for name in NAMED if NAMED[name].library == "tiktoken"}
    assert {name for name in options if options[name] == name} == own
    assert options["llama3"] == NAMED["llama3"].steps[0].pattern
    assert pretokenizer_option(Splitting("tokenizers")) == "none"
    assert not is_one_pattern(NAMED["deepseek"])
    assert is_one_pattern(NAMED["gpt2"])
