"""The fingerprint of the relation from texts to ids: that of what is done, not of how it is written."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from support.dictionaries import proper_dictionaries
from support.tokenizer_files import RULES, as_bytes, merges_txt, tiktoken_lines, tokenizer_json

import tokdfa
from tokdfa import Dictionary, Tokenizer
from tokdfa.comparison.findings import Outcome, Part
from tokdfa.splitting.named import NAMED
from tokdfa.splitting.steps import Split, Splitting
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.relation import relation_fingerprint, splitting_form


def over_characters(dictionary: Dictionary) -> Tokenizer:
    """A tokenizer whose ids are given by the spelling of the tokens."""
    ids = [sum(3**i * (1 + "abc".index(symbol)) for i, symbol in enumerate(word)) for word in dictionary.alphabet]
    import numpy as np

    return Tokenizer(Contents(format="", dictionary=dictionary, ids=np.array(ids, dtype=np.int32)))


@settings(max_examples=60)
@given(proper_dictionaries("ab", 4), proper_dictionaries("ab", 4))
def test_it_is_that_of_the_correct_tokenizations(a: Dictionary, b: Dictionary) -> None:
    a, b = Dictionary(a, "ab"), Dictionary(b, "ab")
    same = relation_fingerprint(over_characters(a)) == relation_fingerprint(over_characters(b))
    found = tokdfa.compare(a, b)
    if all(tokdfa.compare(d, d).checked[Part.SEMANTICS] is Outcome.SAME for d in (a, b)):
        assert same == bool(found)


SPELLINGS = [
    {"a|b|[^ab]", "[ab]|[^ab]", "(?s:.)", "a|(?s:.)", "b(?!a)|(?s:.)"},
    {"a+|[^a]", "aa*|[^a]", "a+(?!a)|[^a]", "a{1,}|[^a]"},
    {"a+|[^a]+", "[^a]+|a+"},
    {"a{1,2}|[^a]", "aa?|[^a]"},
    {"'(?i:s)|(?s:.)", "'[sSſ]|(?s:.)"},
    {"'[sS]|(?s:.)", "'s|'S|(?s:.)"},
]


def test_patterns_that_split_alike() -> None:
    forms = [{splitting_form(Splitting("tiktoken", (Split(p),))) for p in alike} for alike in SPELLINGS]
    assert all(len(form) == 1 for form in forms)
    assert len(set().union(*forms)) == len(SPELLINGS)


def test_patterns_in_use() -> None:
    forms = {name: splitting_form(splitting) for name, splitting in NAMED.items()}
    alike = {(one, other) for one, other in combinations(sorted(forms), 2) if forms[one] == forms[other]}
    assert alike == {("gpt2", "gpt2_tiktoken")}


def test_formats_and_settings(tmp_path: Path) -> None:
    files = {
        "merges.txt": merges_txt().encode(),
        "tokenizer.json": as_bytes(tokenizer_json(added_tokens=[])),
        "special.json": as_bytes(tokenizer_json()),
        "ranks.tiktoken": tiktoken_lines(),
    }
    found = {}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        pretokenizer = None if name.endswith(".json") else "gpt2_tiktoken"
        found[name] = tokdfa.load(tmp_path / name, pretokenizer=pretokenizer).fingerprint
    assert found["merges.txt"] == found["tokenizer.json"]
    # The bytes of the rank file have other ids.
    assert len(set(found.values())) == 3
    assert RULES


@pytest.mark.parametrize("words", [[b"abc", b"ab"], [b"ab", b"abc"]])
def test_improper_ones_are_taken_as_they_are_written(tmp_path: Path, words: list[bytes]) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {word: 256 + i for i, word in enumerate(words)}
    fingerprints = set()
    for i in range(2):
        path = tmp_path / f"{i}.tiktoken"
        path.write_bytes(tiktoken_lines(dict(reversed(ranks.items())) if i else ranks))
        fingerprints.add(tokdfa.load(path, pretokenizer="gpt2").fingerprint)
    assert len(fingerprints) == 1
