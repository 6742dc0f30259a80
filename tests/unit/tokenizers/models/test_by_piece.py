"""Models that encode each piece by itself, and SentencePiece's CHAR, next to their own libraries."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import tokenizers

import tokdfa
from tests.campaigns.standing.laws import decoding, streams, verdicts
from tests.support import sentencepieces
from tests.support.families import Member, of_model, of_tokenizer_json
from tests.support.family_files import OF_JSON
from tests.support.seeds import seeds
from tokdfa.base.errors import AlphabetError, UnsupportedFeatureError
from tokdfa.tokenizers.models.by_piece import ByPiece


def _of_model(kind: str, drawn: random.Random) -> Member | None:
    return of_model(kind, sentencepieces.changed(drawn, ("identity",), kind))


MAKERS: dict[str, Callable[[random.Random], Member | None]] = {
    "tokenizer.json": lambda drawn: of_tokenizer_json("any steps", OF_JSON["WordPiece, any steps"](drawn)),
    "WORD": partial(_of_model, "word"),
    "CHAR": partial(_of_model, "char"),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_texts_and_streams_are_as_in_the_library(kind: str) -> None:
    met: Counter[str] = Counter()
    for seed in seeds(20):
        drawn = random.Random(f"{kind}-{seed}")
        member = MAKERS[kind](drawn)
        if member is None or (kind == "tokenizer.json" and not isinstance(member.tokenizer.model, ByPiece)):
            continue
        met[member.tokenizer.algorithm] += 1
        for law in (streams, verdicts, decoding):
            met += law.check(member, drawn)
    wanted = {"tokenizer.json": {"WordLevel", "WordPiece by piece"}, "WORD": {"WordLevel"}, "CHAR": {"byte pair"}}[kind]
    assert wanted | {"canonical", "spoiled", "repaired"} <= met.keys()


def _tutorial(model: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """The file of the tutorial of Hugging Face's library, with some other parts."""
    normalizers = [{"type": "NFD"}, {"type": "Lowercase"}, {"type": "StripAccents"}]
    fields = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": normalizers},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": model,
    }
    return fields | parts


VOCAB = {
    "[UNK]": 0,
    "hel": 1,
    "##lo": 2,
    "hello": 3,
    "world": 4,
    "!": 5,
    "##3": 6,
    "1": 7,
    "##2": 8,
    "\u0120world": 9,
    "\u0120\u00c3\u00a9": 10,
}
WORDPIECE = {
    "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
    "vocab": VOCAB,
}  # fmt: skip
WORDLEVEL = {"type": "WordLevel", "unk_token": "[UNK]", "vocab": VOCAB}
BYTES = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
DIGITS = {"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}, {"type": "Digits", "individual_digits": True}]}


@pytest.mark.parametrize("model", [WORDPIECE, WORDLEVEL])
@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"pre_tokenizer": DIGITS},
        {"pre_tokenizer": None},
        {"normalizer": None},
        {"normalizer": None, "pre_tokenizer": BYTES, "decoder": BYTES},
    ],
)
def test_files_of_the_tutorial_are_read(model: dict[str, Any], parts: dict[str, Any]) -> None:
    fields = _tutorial(model, **parts)
    tokenizer, peer = tokdfa.load(fields), tokenizers.Tokenizer.from_str(json.dumps(fields))
    for text in (
        "Hélló, world!",
        "hello123 1231",
        "HELLO  world",
        "",
        " ",
        "hello\u0301",
        "world",
        "hello \u00e9 world",
    ):
        ids = tokenizer.encode(text).tolist()
        assert ids == peer.encode(text, add_special_tokens=False).ids, text
        assert tokenizer.decode(ids) == peer.decode(ids, skip_special_tokens=False), text


def test_without_a_decoder_there_are_spaces_between_tokens() -> None:
    tokenizer = tokdfa.load(_tutorial(WORDLEVEL, decoder=None))
    assert tokenizer.decode([3, 4, 5]) == "hello world !"
    assert tokenizer.validate([3, 4, 5]).holds
    assert not tokenizer.validate([1, 2]).holds


def test_an_unknown_word_without_an_entry_is_refused() -> None:
    tokenizer = tokdfa.load(_tutorial(WORDLEVEL | {"vocab": {"hello": 0}}))
    with pytest.raises(AlphabetError, match="there is no entry for unknown words: 'there'"):
        tokenizer.encode("hello there")


def test_jobs_that_need_more_refuse_it() -> None:
    tokenizer = tokdfa.load(_tutorial(WORDLEVEL))
    assert tokenizer.why_not("rules") == "its algorithm is WordLevel, which has no rules"
    other = tokdfa.load(_tutorial(WORDLEVEL | {"vocab": {**WORDLEVEL["vocab"], "more": 99}}))
    for ask in (lambda: tokdfa.compare(tokenizer, other), lambda: tokenizer.dictionary):
        with pytest.raises(UnsupportedFeatureError):
            ask()
