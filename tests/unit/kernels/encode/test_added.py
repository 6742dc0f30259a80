"""Added tokens that kernels find, and encode around, against regular expressions and stretch by stretch."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby, pairwise

import numpy as np
import pytest

from tests.support.added_tokens import added_spans, added_stretches
from tests.support.byte_tokenizers import tokenizer_of
from tokdfa.kernels.encode.added import AddedFinder
from tokdfa.regex.unicode.normalization import Normalizer
from tokdfa.tokenizers.encoding.added_tokens import AddedTokens
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.contents import Rewriting
from tokdfa.tokenizers.models.byte_pair_texts import encode_segment
from tokdfa.tokenizers.normalizers.steps import Replace, UnicodeForm
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting
from tokdfa.tokenizers.tokenizer import Tokenizer

CHARACTERS = [*"ab<>| \t\n_é\u00a0\u2003中\U0001f600\x85", "<s>", "<|", "im"]


def words(source: random.Random, characters: list[str], longest: int) -> str:
    return "".join(source.choices(characters, k=source.randint(1, longest)))


def some_specials(source: random.Random, characters: list[str], first: int = 0) -> list[Special]:
    """Return added tokens that overlap, begin alike, are white space, strip it and are single words."""

    def flag(is_odd: bool = source.random() < 0.5) -> bool:
        return is_odd and source.random() < 0.4

    contents = sorted({words(source, characters, 4) for _ in range(source.choice((1, 2, 3, 5, 12, 40)))})
    return [
        Special(
            first + id, content, level=source.randint(0, 1), lstrip=flag(), rstrip=flag(), single_word=flag(),
            strips_ascii=flag(),
        )
        for id, content in enumerate(contents)
    ]  # fmt: skip


def some_text(source: random.Random, characters: list[str], specials: list[Special], length: int) -> str:
    # The filter looks at 64 bytes at once.
    plain = "x" * source.choice((0, 0, 60, 63, 64, 65, 130))
    return plain + "".join(
        source.choices([*characters, *(each.text for each in specials)], k=source.randint(0, length))
    )


def test_long_tokens_in_periodic_texts_and_in_parts() -> None:
    source = random.Random(7)
    n_long = n_held = 0
    for number in range(300):
        period = source.choice(("a", "ab", "aab", "é", "abcab"))
        repeated = [period * source.randint(1, 600 // len(period)) for _ in range(source.randint(1, 4))]
        contents = {each + source.choice(("", "b", "c", "a", "ca")) for each in repeated} | {"ab", "c"}
        specials = [Special(id, each, level=id % 2) for id, each in enumerate(sorted(contents))]
        parts = [period * source.randint(1, 700), "b", "c", "x", *contents]
        text = "".join(source.choices(parts, k=source.randint(1, 9)))
        finder = AddedTokens(specials)
        expected = [special or text[start:stop] for start, stop, special in added_spans(specials, text)]
        assert finder.cut(text) == expected, number
        n_long += sum(isinstance(each, Special) and len(each.text) > 256 for each in expected)
        data, stream = text.encode(), finder.stream()
        cuts = sorted(source.choices(range(len(data) + 1), k=source.randint(0, 5)))
        found: list[Special | bytes] = []
        for low, high in pairwise((0, *cuts, len(data))):
            found += stream.feed(data[low:high])
            n_held += sum(len(each.content.encode() if isinstance(each, Special) else each) for each in found) < high
        found += stream.finish()
        joined: list[Special | str] = []
        for is_token, group in groupby(found, lambda each: isinstance(each, Special)):
            run = [*group]
            joined += run if is_token else [b"".join(run).decode()]
        assert joined == expected, number
    assert n_long > 50
    assert n_held > 100


def test_tokens_are_those_that_regular_expressions_find() -> None:
    source = random.Random(1)
    n_found = n_odd = 0
    for _ in range(400):
        characters = source.sample(CHARACTERS, source.randint(2, 6))
        specials = some_specials(source, characters)
        finder = AddedTokens(specials)
        for length in (3, 20, 200):
            text = some_text(source, characters, specials, length)
            expected = added_spans(specials, text)
            assert finder.spans(text) == expected, (specials, text)
            for normalizer in (str, str.upper, lambda part: part.replace("a", "<").replace("b", "")):
                stretches = [*finder.segments(text, normalizer, normalizer)]
                assert stretches == added_stretches(specials, text, normalizer), (specials, text)
            n_found += sum(special is not None for *_, special in expected)
            n_odd += sum(special is not None and not special.is_plain for *_, special in expected)
    assert n_found > 10_000
    assert n_odd > 1_000


def test_half_of_a_surrogate_pair_is_text_like_any_other() -> None:
    specials = [Special(0, "<s>", single_word=True), Special(1, "\ud800", level=1, lstrip=True)]
    text = "a \ud800\udfff<s>\udfff é<s>"
    assert AddedTokens(specials).spans(text) == added_spans(specials, text)


def test_many_tokens_and_spans_at_any_byte() -> None:
    specials = [Special(number, f"<|reserved_{number}|>") for number in range(1_000)]
    finder = AddedTokens(specials)
    for shift in range(70):
        text = "é<" + "<" * shift + "".join(special.content for special in specials[shift :: 1 + shift])
        assert finder.spans(text) == added_spans(specials, text)
    found = AddedFinder(finder.tables).find(b"a<|reserved_12|>")
    assert found.tolist() == [[1, 16, 12]]


def by_stretches(tokenizer: Tokenizer, specials: list[Special], text: str) -> list[int]:
    parts = [
        [token.id] if token else tokenizer.encode_pieces(tokenizer.pretokenizer.split(text[start:stop])).ids.tolist()  # type: ignore[union-attr]
        for start, stop, token in added_spans(specials, text)
    ]
    return [id for part in parts for id in part]


RULES = [(b"a", b"b"), (b" ", b"t"), (b"h", b"e"), (b" t", b"he"), (b"<", b"|"), (b"|", b">"), (b"\xc3", b"\xa9")]
SPLITTINGS: dict[str, str | Splitting] = {
    "cl100k": NAMED["cl100k"],
    "drops text": "[a-z]+!?|<[|]",
    "removes": Splitting("tokenizers", (Split(r"\s", "removed"), Split("a.*!|é"))),
}


@pytest.mark.parametrize("splitting", SPLITTINGS.values(), ids=SPLITTINGS.keys())
@pytest.mark.parametrize(
    "text_of",
    [
        lambda source, characters, specials: some_text(source, characters, specials, 12),
        lambda source, characters, specials: some_text(source, characters, specials, 300),
        # Several stretches of 8192 bytes, with tokens everywhere or nearly nowhere.
        lambda source, characters, specials: some_text(source, characters, specials, 6_000),
        lambda source, characters, specials: words(source, characters, 3_000) + specials[0].text + " " * 9_000,
        lambda source, characters, specials: "the " * 4_096 + specials[-1].text + "é" * source.randint(0, 3) + "a",
    ],
    ids=["short", "longer", "many", "spaces", "few"],
)
def test_text_around_tokens_is_encoded_by_itself(
    splitting: str | Splitting, text_of: Callable[[random.Random, list[str], list[Special]], str]
) -> None:
    source = random.Random(2)
    for _ in range(4):
        characters = [*source.sample(CHARACTERS, source.randint(2, 6)), "the", " "]
        specials = some_specials(source, characters, 300)
        tokenizer = tokenizer_of(RULES, splitting, specials, finds_specials=True)
        texts = [text_of(source, characters, specials) for _ in range(2)]
        expected = [by_stretches(tokenizer, specials, text) for text in texts]
        for text, ids in zip(texts, expected, strict=True):
            assert tokenizer.encode(text).tolist() == ids
        for n_threads in (1, 2):
            encoded = tokenizer.encode_side_by_side(texts, n_threads)
            assert encoded is not None
            assert encoded.ids.tolist() == [id for ids in expected for id in ids]
            assert encoded.offsets.tolist() == np.cumsum([0, *map(len, expected)]).tolist()


@pytest.mark.parametrize("at_a_time", [1, 100, 9_000])
def test_calls_that_pause_give_the_same(at_a_time: int) -> None:
    specials = [Special(300, "<|", rstrip=True), Special(301, "  ", level=1)]
    tokenizer = tokenizer_of(RULES, NAMED["cl100k"], specials, finds_specials=True)
    assert tokenizer.pretokenizer is not None
    assert tokenizer.pretokenizer.splitter is not None
    texts = ["the é<| <|  a" * 3_000, "<|", "ab" * 9_000 + "<|" + "ab" * 200, " " * 20_001]
    expected = [by_stretches(tokenizer, specials, text) for text in texts]
    encoder = tokenizer.piece_ids.text_encoder(tokenizer.pretokenizer.splitter)
    assert encoder is not None
    encoder.run._pieces.struct.pointer.at_a_time = at_a_time
    for text, ids in zip(texts, expected, strict=True):
        assert tokenizer.encode(text).tolist() == ids


def test_tokens_between_pieces_that_improper_rules_merge_elsewhere() -> None:
    rules = [(b"ab", b"c"), (b"a", b"b")]
    specials = [Special(300, "<|"), Special(301, "<|>", level=1)]
    tokenizer = tokenizer_of(rules, NAMED["cl100k"], specials, finds_specials=True)
    assert not tokenizer.dictionary.properness()
    text = ("abc" * 400 + "<|" + "ab" * 300 + "<|>" * 3 + "c" + "<|" * 2) * 30
    assert tokenizer.encode(text).tolist() == by_stretches(tokenizer, specials, text)


@pytest.mark.parametrize("prefix_once", [False, True])
@pytest.mark.parametrize("metaspace", [None, "\u2581"])
@pytest.mark.parametrize("normalizer", [None, Replace("a", "<|", True), UnicodeForm("NFKC")], ids=str)
def test_stretches_that_are_rewritten_are_encoded_together(
    prefix_once: bool, metaspace: str | None, normalizer: Normalizer | None
) -> None:
    source = random.Random(3)
    splitting = replace(NAMED["gpt2"], prefix_space=0, prefix_once=prefix_once, metaspace=metaspace)
    n_together = 0
    for _ in range(25):
        characters = [*source.sample(CHARACTERS, source.randint(2, 6)), "the", " ", "\ufb01"]
        specials = some_specials(source, characters, 300)
        rewriting = Rewriting(normalizer, None)
        tokenizer = tokenizer_of(RULES, splitting, specials, finds_specials=True, rewriting=rewriting)
        for length in (4, 60, 400):
            text = some_text(source, characters, specials, length)
            stretches = added_stretches(specials, text, (lambda part: part) if normalizer is None else normalizer)
            parts = [
                [part.id] if isinstance(part, Special) else encode_segment(tokenizer, part, begins=begins).tolist()
                for part, begins in stretches
                if part
            ]
            assert tokenizer.encode(text).tolist() == [id for part in parts for id in part], text
            n_together += len(parts) > 2
    assert n_together > 25
