"""What `guide` refuses, and prefixes that are not canonical."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.tokenizer_files import as_bytes, tiktoken_lines, tokenizer_json

import tokdfa
from tokdfa.errors import PatternError, TokenStreamError, UnsupportedFeatureError, WrongTypeError

TOKENIZER = tokdfa.default_tokenizer()


def test_an_empty_language_is_refused() -> None:
    with pytest.raises(PatternError, match=r"^no text is in the language: 'a\\\\bb'$"):
        TOKENIZER.guide(r"a\bb")


def test_a_language_that_cannot_be_encoded_is_refused() -> None:
    dfa = tokdfa.TokenDFA.from_edges([(0, b"a", 1), (1, b"\xff", 2)], finals=[2], symbols=bytes(range(256)))
    with pytest.raises(PatternError, match=r"^no text of the language can be encoded: all need symbols"):
        TOKENIZER.guide(dfa)


def test_other_arguments_are_refused() -> None:
    with pytest.raises(WrongTypeError, match=r"^a language is a regular expression or an automaton over bytes: 3"):
        TOKENIZER.guide(3)  # type: ignore[arg-type]
    with pytest.raises(WrongTypeError, match=r"^a language is a regular expression or an automaton over bytes: "):
        TOKENIZER.guide(tokdfa.language("a", "ab"))
    with pytest.raises(TokenStreamError, match=rf"^end: no such id: {TOKENIZER.n_ids} \(or give vocab_size\)$"):
        TOKENIZER.guide(end=TOKENIZER.n_ids)
    with pytest.raises(WrongTypeError, match=rf"^vocab_size: the tokenizer has {TOKENIZER.n_ids} ids, more"):
        TOKENIZER.guide(vocab_size=5)
    with pytest.raises(WrongTypeError, match=r"^end: an id that ends a sequence is an integer: 'x'$"):
        TOKENIZER.guide(end=["x"])  # type: ignore[list-item]
    with pytest.raises(TokenStreamError, match=r"^no token has this id: -1$"):
        TOKENIZER.guide().step(TOKENIZER.guide().initial, -1)


def test_tokenizers_that_are_judged_as_a_whole_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json(normalizer={"type": "Lowercase"})))
    with pytest.raises(UnsupportedFeatureError, match=r"^the tokenizer rewrites texts: its streams are judged"):
        tokdfa.load(path).guide()
    path.write_bytes(as_bytes(tokenizer_json(normalizer={"type": "NFC"})))
    with pytest.raises(UnsupportedFeatureError, match=r"^the tokenizer normalizes texts: its streams are judged"):
        tokdfa.load(path).guide()
    vocab = tmp_path / "vocab.txt"
    vocab.write_text("[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]\na\n##b\n", encoding="utf-8")
    with pytest.raises(UnsupportedFeatureError, match=r"^the streams of a WordPiece tokenizer are judged as a whole"):
        tokdfa.load(vocab).guide()


def test_an_automaton_over_bytes_is_a_language() -> None:
    dfa = tokdfa.language("(a|an) man", bytes(range(256)))
    guide = TOKENIZER.guide(dfa)
    assert guide.is_final(guide.read(TOKENIZER.encode("an man")))
    with pytest.raises(TokenStreamError, match=r"^token 1: no canonical stream of the language goes on with this id"):
        guide.read(TOKENIZER.encode("a cat"))


def test_what_follows_ids_that_are_not_canonical_is_guided(tmp_path: Path) -> None:
    path = tmp_path / "small.tiktoken"
    ranks = {word: rank for rank, word in enumerate([*(bytes([byte]) for byte in range(256)), b"ab", b"abc", b" ab"])}
    path.write_bytes(tiktoken_lines(ranks))
    tokenizer = tokdfa.load(path, pretokenizer="gpt2_tiktoken")
    guide = tokenizer.guide()
    bad = [97, 98, 99]
    with pytest.raises(TokenStreamError, match=r"^token 1: no canonical stream .*: 98 \(read_any"):
        guide.read(bad)
    state, places = guide.read_any(bad)
    assert places == (1,)
    # After these ids a canonical stream goes on as it would anywhere.
    after = guide.read(tokenizer.encode(" ab"), state)
    assert guide.is_final(after)
    assert guide.step(guide.read([32], state), 258) is not None
    # The text is followed in the language.
    guide = tokenizer.guide("abc ab")
    state, places = guide.read_any(bad)
    assert places == (0,) or places == (1,)
    assert guide.forced(state).tolist() == [258]
    with pytest.raises(TokenStreamError, match=r"^token 0: no canonical stream goes on after this id with"):
        guide.read_any([120])


def test_batches() -> None:
    guide = TOKENIZER.guide()
    states = guide.steps([guide.initial, guide.initial], np.array([64, 65]))
    assert states == [guide.step(guide.initial, 64), guide.step(guide.initial, 65)]
    with pytest.raises(TokenStreamError, match=r"^there must be one id a state: \(1, 2\)$"):
        guide.steps([guide.initial], [1, 2])
