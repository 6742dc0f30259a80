"""Laws of tokenizers of every family: many texts at once, continuations of a text, safe cuts, the ends of ids."""

from __future__ import annotations

import copy
import pickle
import random
from itertools import pairwise
from typing import Any, cast

import pytest

import tokdfa
from tests.support.families import FAMILIES
from tests.support.seeds import seeds
from tokdfa import Tokenizer
from tokdfa.base.errors import TokdfaError, UnsupportedFeatureError, WrongTypeError

UNIGRAM = [name for name in FAMILIES if "Unigram" in name]
WORDPIECE = [name for name in FAMILIES if "WordPiece" in name]
OF_RULES = [name for name in FAMILIES if name not in (*UNIGRAM, *WORDPIECE)]


class Text(str):
    """A string of another class."""


def ids_of(tokenizer: Tokenizer, text: str) -> list[int] | None:
    try:
        return cast("list[int]", tokenizer.encode(text).tolist())
    except TokdfaError:
        return None


@pytest.mark.parametrize("family", FAMILIES)
def test_many_texts_have_the_ids_of_one_by_one(family: str) -> None:
    for seed in seeds(3):
        drawn = random.Random(seed)
        member = FAMILIES[family](drawn)
        tokenizer = cast(Tokenizer, member.tokenizer)
        texts = [member.text(drawn) for _ in range(8)] + ["", " ", "\ud800", "a\udfff\u0301"]
        for n_threads in (1, 2, 3):
            batch = [drawn.choice((str, Text))(text) for text in drawn.choices(texts, k=drawn.randrange(9))]
            expected = [ids_of(tokenizer, text) for text in batch]
            refused = next((number for number, ids in enumerate(expected) if ids is None), None)
            if refused is not None:
                with pytest.raises(TokdfaError, match=f"^document {refused}, "):
                    tokdfa.encode_batch(tokenizer, batch, threads=n_threads)
                continue
            ids, offsets = tokdfa.encode_batch(tokenizer, batch, threads=n_threads)
            found = [ids[start:stop].tolist() for start, stop in pairwise(offsets)]
            assert found == expected, (seed, batch, n_threads)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_no_text_is_named_among_many(family: str) -> None:
    tokenizer = FAMILIES[family](random.Random(family)).tokenizer
    for value in (None, 7, ["a"], bytearray(b"a")):
        batch: list[Any] = ["", "", value]
        for n_threads in (1, 2):
            with pytest.raises(WrongTypeError, match=r"^document 2: a text must be a str"):
                tokdfa.encode_batch(tokenizer, batch, threads=n_threads)


@pytest.mark.parametrize("family", OF_RULES)
def test_copies_of_what_continues_a_text_continue_it(family: str) -> None:
    for seed in seeds(3):
        drawn = random.Random(seed)
        member = FAMILIES[family](drawn)
        try:
            continued = cast(Tokenizer, member.tokenizer).continued
        except UnsupportedFeatureError:
            continue
        assert (continued.semantics, continued.n_ids) == (member.tokenizer.semantics, member.tokenizer.n_ids)
        for copied in (pickle.loads(pickle.dumps(continued)), copy.copy(continued), copy.deepcopy(continued)):
            for text in [member.text(drawn) for _ in range(6)]:
                assert ids_of(copied, text) == ids_of(continued, text), (seed, text)


@pytest.mark.parametrize("family", [*UNIGRAM, *WORDPIECE])
def test_what_continues_a_text_is_refused_where_more_than_its_beginning_depends_on_it(family: str) -> None:
    tokenizer = cast(Tokenizer, FAMILIES[family](random.Random(family)).tokenizer)
    with pytest.raises(UnsupportedFeatureError, match="what continues a text is not encoded alone"):
        _ = tokenizer.continued


@pytest.mark.parametrize("family", [*OF_RULES, *WORDPIECE])
def test_both_sides_of_a_safe_cut_are_encoded_separately(family: str) -> None:
    for seed in seeds(3):
        drawn = random.Random(seed)
        member = FAMILIES[family](drawn)
        tokenizer = cast(Tokenizer, member.tokenizer)
        for text in [member.text(drawn) for _ in range(6)]:
            for ends in (True, False):
                whole = text if ends else text + member.text(drawn, 4)
                ids = ids_of(tokenizer, whole)
                for place in tokenizer.safe_cuts(text, ends=ends).tolist() if ids is not None else ():
                    parts = ids_of(tokenizer, text[:place]), ids_of(tokenizer.later, whole[place:])
                    assert None not in parts, (seed, whole, place)
                    assert cast("list[int]", parts[0]) + cast("list[int]", parts[1]) == ids, (seed, whole, place)


@pytest.mark.parametrize("family", UNIGRAM)
def test_safe_cuts_are_refused_where_sums_of_scores_go_across(family: str) -> None:
    tokenizer = cast(Tokenizer, FAMILIES[family](random.Random(family)).tokenizer)
    for given in ("a b", tokenizer.encode("a b")):
        with pytest.raises(UnsupportedFeatureError, match="sums of scores go on across them"):
            tokenizer.safe_cuts(given)
        with pytest.raises(UnsupportedFeatureError, match="sums of scores go on across them"):
            tokenizer.last_safe_cut(given, 1)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_ends_of_ids_are_in_the_text_that_they_spell(family: str) -> None:
    for seed in seeds(3):
        drawn = random.Random(seed)
        member = FAMILIES[family](drawn)
        tokenizer = cast(Tokenizer, member.tokenizer)
        for ids in [member.stream(drawn) for _ in range(6)]:
            try:
                text, ends = tokenizer.decoder.text_of(tokenizer.decoder.check(ids))
            except TokdfaError:
                continue
            assert text == tokenizer.decode(ids)
            assert ends[-1:].tolist() == [len(text.encode("utf-8"))][: len(ids)], (seed, ids)
            if family in WORDPIECE:
                lengths = [len(tokenizer.decode_bytes(ids[:n])) for n in range(1, len(ids) + 1)]
                assert ends.tolist() == lengths, (seed, ids)


def test_stretches_of_wordpiece_are_normalized() -> None:
    for seed in seeds(3):
        drawn = random.Random(f"WordPiece-{seed}")
        member = FAMILIES["WordPiece"](drawn)
        tokenizer = cast(Tokenizer, member.tokenizer)
        assert tokenizer.normalizer is not None
        for text in [member.text(drawn) for _ in range(6)]:
            stretches = [stretch for stretch, _ in tokenizer.segments(text)]
            if len(stretches) == 1 and isinstance(stretches[0], str):
                assert stretches == [tokenizer.normalizer(text)], (seed, text)
        with pytest.raises(WrongTypeError, match="a text must be a str or bytes, not an int: 7"):
            tokenizer.encode(cast(str, 7))


@pytest.mark.parametrize("family", FAMILIES)
def test_bytes_that_are_not_utf8_are_replaced_as_libraries_do(family: str) -> None:
    for seed in seeds(4):
        drawn = random.Random(f"{family}-errors-{seed}")
        member = FAMILIES[family](drawn)
        ids = drawn.choices(member.ids, k=drawn.randrange(12))
        spelled = member.spell(ids)
        expected = member.decode(ids) if spelled is None else spelled.decode("utf-8", "replace")
        assert member.tokenizer.decode(ids, errors="replace") == expected, (seed, ids)
