"""Refusals of `guide`, and prefixes that are not canonical."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import regex
import tiktoken
import tokenizers

import tokdfa
from tests.support.guided import NAMES, SYMBOLS, check_against, random_file, random_ranks, some_languages
from tests.support.tokenizer_files import added_token, as_bytes, tiktoken_lines, tokenizer_json
from tokdfa.base.errors import PatternError, TokenStreamError, UnsupportedFeatureError, WrongTypeError
from tokdfa.jobs.guiding.api import Guide
from tokdfa.tokenizers.pretokenizers.steps import NAMED

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
    with pytest.raises(WrongTypeError, match=r"^end: an id that ends a sequence is an integer: 2.0$"):
        TOKENIZER.guide(end=2.0)  # type: ignore[arg-type]
    with pytest.raises(TokenStreamError, match=r"^no token has this id: -1$"):
        TOKENIZER.guide().step(TOKENIZER.guide().initial, -1)
    odd: Any
    for odd in ("a", None, 64.0, [64]):
        with pytest.raises(WrongTypeError, match=r"^id: an id is an integer: "):
            TOKENIZER.guide().step(TOKENIZER.guide().initial, odd)


def test_tokenizers_that_are_judged_as_a_whole_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json(normalizer={"type": "Lowercase"})))
    with pytest.raises(UnsupportedFeatureError, match=r"^the tokenizer rewrites texts, so streams are judged"):
        tokdfa.load(path).guide()
    path.write_bytes(as_bytes(tokenizer_json(pre_tokenizer=None, decoder={"type": "Fuse"})))
    with pytest.raises(UnsupportedFeatureError, match=r"^spaces are not written as U\+2581, so streams are"):
        tokdfa.load(path).guide()
    vocab = tmp_path / "vocab.txt"
    vocab.write_text("[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]\na\n##b\n", encoding="utf-8")
    with pytest.raises(UnsupportedFeatureError, match=r"^the streams of a WordPiece tokenizer are judged as a whole"):
        tokdfa.load(vocab).guide()


@pytest.mark.parametrize("normalizer", [None, {"type": "NFC"}])
def test_a_refusal_names_the_added_token_that_is_the_reason(normalizer: dict[str, str] | None, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    added = [added_token(256, "<a>", normalized=False), added_token(257, "<mask>", normalized=False, single_word=True)]
    path.write_bytes(as_bytes(tokenizer_json([], normalizer=normalizer, added_tokens=added)))
    with pytest.raises(UnsupportedFeatureError, match=r"^an added token is only found if no word is .*: '<mask>' \("):
        tokdfa.load(path).guide()


def test_an_added_token_that_the_normalizer_changes_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    added = [added_token(256, "e\u0301x", normalized=True)]
    path.write_bytes(as_bytes(tokenizer_json([], normalizer={"type": "NFC"}, added_tokens=added)))
    with pytest.raises(UnsupportedFeatureError, match=r"^the normalizer changes an added token, so .*normalized"):
        tokdfa.load(path).guide()


def test_an_automaton_over_bytes_is_a_language() -> None:
    dfa = tokdfa.language("(a|an) man", bytes(range(256)))
    guide = TOKENIZER.guide(dfa)
    assert guide.is_final(guide.read(TOKENIZER.encode("an man")))
    with pytest.raises(TokenStreamError, match=r"^token 1: no canonical stream of the language continues with this id"):
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
    # After these ids a canonical stream continues as it would anywhere.
    after = guide.read(tokenizer.encode(" ab"), state)
    assert guide.is_final(after)
    assert guide.step(guide.read([32], state), 258) is not None
    # The text is followed in the language.
    guide = tokenizer.guide("abc ab")
    state, places = guide.read_any(bad)
    assert places == (0,) or places == (1,)
    assert guide.forced(state).tolist() == [258]
    with pytest.raises(TokenStreamError, match=r"^token 0: no canonical stream with a text of the language"):
        guide.read_any([120])


def test_batches_step_one_by_one() -> None:
    guide = TOKENIZER.guide()
    states = guide.steps([guide.initial, guide.initial], np.array([64, 65]))
    assert states == [guide.step(guide.initial, 64), guide.step(guide.initial, 65)]
    with pytest.raises(TokenStreamError, match=r"^there must be one id a state: \(1, 2\)$"):
        guide.steps([guide.initial], [1, 2])


@pytest.mark.parametrize("seed", range(6))
def test_finite_languages_of_rank_files(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    name = NAMES[seed % 3]
    ranks = random_ranks(source)
    path = tmp_path / "small.tiktoken"
    path.write_bytes(tiktoken_lines(ranks))
    tokenizer = tokdfa.load(path, pretokenizer=name)
    pattern = NAMED[name].steps[0].pattern
    oracle = tiktoken.Encoding("oracle", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    for language, texts in some_languages(source, SYMBOLS):
        streams = {tuple(oracle.encode_ordinary(text)) for text in texts}
        assert check_against(tokdfa.guide(tokenizer, language), streams) > len(streams) / 2


def test_the_random_ranks_have_tokens_of_whole_pieces(tmp_path: Path) -> None:
    found = 0
    for seed in range(6):
        path = tmp_path / f"{seed}.tiktoken"
        path.write_bytes(tiktoken_lines(random_ranks(random.Random(seed))))
        found += len(tokdfa.load(path, pretokenizer=NAMES[seed % 3]).whole_piece_tokens) > 0
    assert found > 1


@pytest.mark.parametrize("seed", range(4))
def test_finite_languages_with_special_tokens(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    library = random_file(source, tmp_path / "tokenizer.json")
    tokenizer = tokdfa.load(tmp_path / "tokenizer.json")
    symbols = [*SYMBOLS[:4], "'b", "<|", "a|>", "<|a|>"]
    spelled = 0
    for language, texts in some_languages(source, symbols):
        streams = {tuple(library.encode(text).ids) for text in texts}
        spelled += sum(max(stream, default=0) >= tokenizer.n_ids - 2 for stream in streams)
        assert check_against(tokdfa.guide(tokenizer, language), streams) > len(streams) / 2
    assert spelled > 3


@pytest.mark.parametrize(("content", "is_refused"), [("\u0301x", True), ("a>", True), ("q", False), ("<a", True)])
def test_added_tokens_that_are_normalized_with_the_text_around_them(
    content: str, is_refused: bool, tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.json"
    added = [added_token(256, content, normalized=True)]
    path.write_bytes(as_bytes(tokenizer_json([], normalizer={"type": "NFC"}, added_tokens=added)))
    tokenizer, library = tokdfa.load(path), tokenizers.Tokenizer.from_file(str(path))
    if is_refused:
        with pytest.raises(UnsupportedFeatureError, match=r"^the normalizer may join an added token .*: '") as refused:
            tokenizer.guide()
        assert refused.value.value == content
    n_canonical = 0
    for before, after in product(["", "a", "e"], ["b", "\u0338", "\u0301"]):
        ids = [id for text in (before, content, after) for id in library.encode(text).ids]
        is_canonical = library.encode(before + content + after).ids == ids
        assert bool(tokenizer.validate(ids)) == is_canonical, (before, after)
        if not is_refused:
            guide = tokenizer.guide(regex.escape(before + content + after))
            assert guide.shortest(guide.initial).tolist() == ids
        n_canonical += is_canonical
    assert (n_canonical < 9) == is_refused


def walk(guide: Guide, source: random.Random, most: int) -> list[int]:
    """Walk at random, among all ids or among the rarer ones, and then to the nearest end."""
    state, ids = guide.initial, []
    for _ in range(300):
        allowed = guide.allowed(state).tolist()
        if guide.is_final(state) and (len(ids) >= most or not allowed):
            return ids
        assert allowed, ids
        if source.random() < 0.5:
            allowed = [id for id in allowed if id >= 200] or allowed
        ids.append(source.choice(allowed))
        following = guide.step(state, ids[-1])
        assert following is not None
        state = following
    raise AssertionError("no end was found")


@pytest.mark.parametrize("seed", range(3))
def test_walks_through_all_texts_are_canonical(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    library = random_file(source, tmp_path / "tokenizer.json")
    tokenizer = tokdfa.load(tmp_path / "tokenizer.json")
    guide = tokenizer.guide()
    for _ in range(40):
        ids = walk(guide, source, 8)
        assert library.encode(library.decode(ids, skip_special_tokens=False)).ids == ids
    # And streams of any texts are read.
    for _ in range(300):
        text = "".join(source.choices([*SYMBOLS, "<|a|>", "<|"], k=8))
        assert guide.is_final(guide.read(library.encode(text).ids))
