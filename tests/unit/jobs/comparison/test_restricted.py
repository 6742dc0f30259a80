"""Comparing on the texts of a language: against all short texts of the language."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import numpy as np
import pytest
import regex

import tokdfa
from tests.support.byte_tokenizers import tokenizer_of
from tests.support.seeds import seeds
from tests.support.tokenizer_files import as_bytes, tokenizer_json
from tokdfa.automata.texts import Language, language_of, regular
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.comparison.api import compare_tokenizers
from tokdfa.jobs.comparison.restricted import as_seen_by, characters_of
from tokdfa.jobs.comparison.result import Outcome, Part
from tokdfa.regex.unicode.quick_check import boundaries
from tokdfa.tokenizers.tokenizer import Tokenizer

LANGUAGES = ("[ab]*", "a*b?", "[a ]*", "(ab)*", "b[a1]*", "[ab1]*", "(a|b 1)*", " +a*", "[a1]{0,3}", "[b ]*[a ]*")
# Each matches every text.
PATTERNS = tuple(
    rf"{pattern}|[\s\S]"
    for pattern in ("a+|b+| ?[^ab]+", "[ab]+|[^ab]+", " ?a+| ?b+| ?1", r"\s+(?!\S)|\s?\S+|\s+", "ab")
)
LONGEST = 5
TEXTS = sorted(("".join(text) for n in range(LONGEST + 1) for text in product("ab 1", repeat=n)), key=len)


def texts_of(pattern: str) -> Language:
    return language_of("texts", regular(pattern, "regex", "texts"))


def random_tokenizer(drawn: random.Random, words: list[bytes]) -> Tokenizer:
    rules = [(word[:cut], word[cut:]) for word in words for cut in [drawn.randrange(1, len(word))]]
    known = {bytes([byte]) for byte in range(256)}
    proper = []
    for left, right in rules:
        if {left, right} <= known and left + right not in known:
            proper.append((left, right))
            known.add(left + right)
    specials = ["b1"] if drawn.random() < 0.2 else []
    return tokenizer_of(proper, drawn.choice(PATTERNS), specials, finds_specials=True)


@pytest.mark.parametrize("seed", seeds(1))
def test_the_answer_is_that_of_all_short_texts(seed: int) -> None:
    drawn = random.Random(seed)
    outcomes: Counter[object] = Counter()
    for _ in range(16):
        words = [bytes(drawn.choices(b"ab 1", k=drawn.choice([2, 2, 3, 4]))) for _ in range(8)]
        a = random_tokenizer(drawn, words)
        b = random_tokenizer(drawn, words if drawn.random() < 0.7 else words[::-1])
        pattern = drawn.choice(LANGUAGES)
        unlike = [
            text
            for text in TEXTS
            if regex.fullmatch(pattern, text) and a.encode(text).tolist() != b.encode(text).tolist()
        ]
        try:
            found = compare_tokenizers(a, b, texts=texts_of(pattern))
        except UnsupportedFeatureError:
            # Texts with a special token can be compared for some languages only; all others are decided.
            assert a.specials or b.specials, pattern
            outcomes["undecided"] += 1
            continue
        outcomes[bool(found), bool(compare_tokenizers(a, b))] += 1
        if found:
            assert not unlike, (pattern, unlike[0])
            continue
        assert found.witness is not None
        text = str(found.witness.text)
        assert regex.fullmatch(pattern, text)
        assert a.encode(text).tolist() != b.encode(text).tolist()
        if found.checked[Part.SHORTEST] is Outcome.PROVEN and len(text) <= LONGEST:
            assert len(text) == len(unlike[0])
    # Some differ, but not on these texts.
    assert outcomes[True, False]
    assert outcomes[False, False]
    assert outcomes["undecided"] < 5


def test_texts_that_a_normalizer_leaves_alone_are_compared_without_it() -> None:
    plain, normalizing = (
        tokdfa.load(as_bytes(tokenizer_json(**more))) for more in ({}, {"normalizer": {"type": "NFC"}})
    )
    assert isinstance(plain, Tokenizer)
    assert isinstance(normalizing, Tokenizer)
    assert compare_tokenizers(plain, normalizing, texts=texts_of(r"[\x00-\x7f]*"))
    for pattern in (r"[\x00-\u0374]*", "a\u0301?"):
        with pytest.raises(UnsupportedFeatureError, match="may change the texts"):
            compare_tokenizers(plain, normalizing, texts=texts_of(pattern))
    lower = tokdfa.load(as_bytes(tokenizer_json(normalizer={"type": "Lowercase"})))
    assert isinstance(lower, Tokenizer)
    assert compare_tokenizers(plain, lower, texts=texts_of("[a-z ]*"))
    with pytest.raises(UnsupportedFeatureError, match="'A'"):
        compare_tokenizers(plain, lower, texts=texts_of("[a-z A]*"))


def test_characters_that_a_form_changes_are_never_left_alone() -> None:
    import unicodedata

    known = boundaries("NFC")
    changed = [code for code in range(0x110000) if unicodedata.normalize("NFC", chr(code)) != chr(code)]
    changed = [code for code in changed if not 0xD800 <= code < 0xE000]
    assert len(changed) > 1000
    assert not np.asarray(known)[changed].any()


def test_special_tokens_that_these_texts_lack_do_not_matter() -> None:
    with_special, without = (tokdfa.load(as_bytes(tokenizer_json(**more))) for more in ({}, {"added_tokens": []}))
    assert isinstance(with_special, Tokenizer)
    assert isinstance(without, Tokenizer)
    assert compare_tokenizers(with_special, without, texts=texts_of("[a-z]*"))
    assert not as_seen_by(texts_of("[a-z]*"), with_special).specials
    found = compare_tokenizers(with_special, without, texts=texts_of("[a-z<|>]*"))
    assert found.witness is not None
    assert found.witness.text == "<|end|>"
    with pytest.raises(UnsupportedFeatureError, match="special token"):
        compare_tokenizers(with_special, without, texts=texts_of("x[a-z<|>]*"))
    assert characters_of(texts_of("x[a-c]")) == {*"xabc"}
