"""Tests for `tokdfa.jobs.splices.tokens`: how a tokenizer rewrites spaces and characters without a token."""

from __future__ import annotations

from typing import Any

import pytest

import tokdfa
from tests.support.tokenizer_files import tokenizer_json
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.splices.tokens import Prefix, Rewrites, Symbols
from tokdfa.tokenizers.pretokenizers.steps import Splitting
from tokdfa.tokenizers.tokenizer import Tokenizer

SHOWN = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
PUT = {"type": "Prepend", "prepend": "\u2581"}
METASPACE = {"type": "Metaspace", "replacement": "\u2581", "split": False}


def _tokenizer(**changes: Any) -> Tokenizer:
    content = tokenizer_json([], added_tokens=[], pre_tokenizer=None, decoder={"type": "Fuse"})
    content["model"] |= {"vocab": {"a": 0, "\u2581": 1, "<unk>": 2}, "merges": []} | changes.pop("model", {})
    tokenizer = tokdfa.load(content | changes)
    assert isinstance(tokenizer, Tokenizer)
    return tokenizer


def _rewrites(tokenizer: Tokenizer) -> Rewrites:
    split = tokenizer.pretokenizer
    return Rewrites.of(tokenizer, Splitting("tokenizers") if split is None else split.splitting)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Rewrites()),
        ({"normalizer": SHOWN}, Rewrites("\u2581")),
        ({"normalizer": {"type": "Sequence", "normalizers": [PUT, SHOWN]}}, Rewrites("\u2581", Prefix(True, True))),
        ({"pre_tokenizer": METASPACE | {"prepend_scheme": "never"}}, Rewrites("\u2581")),
        ({"pre_tokenizer": METASPACE | {"prepend_scheme": "first"}}, Rewrites("\u2581", Prefix(False, False))),
        ({"pre_tokenizer": METASPACE | {"prepend_scheme": "always"}}, Rewrites("\u2581", Prefix(False, True))),
    ],
)
def test_what_becomes_of_spaces(changes: dict[str, Any], expected: Rewrites) -> None:
    assert _rewrites(_tokenizer(**changes)) == expected


def test_what_else_is_done_is_refused() -> None:
    with pytest.raises(UnsupportedFeatureError, match=r"^the normalizer does more than replace spaces: "):
        _rewrites(_tokenizer(normalizer={"type": "Lowercase"}))


def test_characters_without_a_token() -> None:
    refusing = _tokenizer()
    symbols = Symbols(refusing, _rewrites(refusing))
    assert symbols.unknown[ord("b")]
    assert symbols.refused[ord("b")]
    assert not symbols.unknown[ord("a")]
    unknown = _tokenizer(model={"unk_token": "<unk>", "fuse_unk": True}, normalizer=SHOWN)
    symbols = Symbols(unknown, _rewrites(unknown))
    assert symbols.unknown[ord("b")]
    assert not symbols.unknown[ord(" ")]
    assert not symbols.refused.any()
    assert symbols.fuses
