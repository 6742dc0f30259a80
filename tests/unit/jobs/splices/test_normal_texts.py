"""Tests for `tokdfa.jobs.splices.normal_texts`: the languages have all normalized texts; joined texts are found."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import product
from typing import Any

import pytest
import tokenizers

import tokdfa
from tests.support.tokenizer_files import added_token, tokenizer_json
from tokdfa.automata.texts import ANYTHING, Language, language_of, literal, regular
from tokdfa.base.errors import LimitExceededError, PatternError, UnsupportedFeatureError
from tokdfa.jobs.splices.normal_texts import (
    is_ascii,
    normalized,
    other_spellings,
    spelled_otherwise,
    steady_texts,
)
from tokdfa.regex.unicode.normalization import Form

FORMS: list[Form] = ["NFC", "NFD", "NFKC", "NFKD"]
# Marks of several classes, letters with two of them, jamo, excluded compositions, ligatures, marks that are two.
SYMBOLS = (
    "a<Ke\u0301\u0308\u0316\u0323\u0338\u0344\u0340\u1100\u1161\u11a8\uac00\u212a\u212b\u00e9\u1eb9\u01d6"
    "\u0958\u0915\u093c\u09c7\u09be\ufb01\u1e9b\U0001d15f\u2126;\u037e\u0f73\u0f71\u0f72"
)
PATTERNS = [
    ".*",
    ".*e",
    "e.*",
    ".*\u0301",
    "\u0301.*",
    "(ab|a\u0301)*",
    "[ae][\u0301\u0316]",
    ".*\u1100",
    "[^\u0301]*",
    "(..)*",
]


def library(form: Form) -> tokenizers.normalizers.Normalizer:
    """Return the library's normalizer."""
    return getattr(tokenizers.normalizers, form)()


def language(pattern: str) -> Language:
    """Return the language of a pattern in which "." is any character."""
    return language_of("text", regular(f"(?s:{pattern})", "regex", "text"))


@pytest.mark.parametrize("form", FORMS)
def test_normalized_texts_are_in_the_language(form: Form) -> None:
    drawn, theirs, met = random.Random(form), library(form).normalize_str, 0
    texts = {"".join(drawn.choices(SYMBOLS, k=drawn.randrange(6))) for _ in range(1500)}
    for pattern in PATTERNS:
        found = language(pattern)
        image = normalized(form, found, ())
        for text in texts:
            if text in found:
                met += theirs(text) != text
                assert theirs(text) in image, (pattern, text.encode("unicode-escape"))
    assert met > 700


def test_normalized_texts_are_no_other_texts_where_nothing_composes() -> None:
    image = normalized("NFC", language("e.*"), ())
    assert all(
        (symbol in image) == (symbol in "e\u00e9\u00e8\u00ea\u1eb9") for symbol in "e\u00e9\u00e8\u00ea\u1eb9aK<\u00e0"
    )
    assert is_ascii(language_of("text", literal("abc", "text")))
    assert not is_ascii(language_of("text", ANYTHING))
    assert steady_texts("NFC", language("\u0301")) is None


def test_special_tokens_that_other_texts_become_are_found() -> None:
    every = [language_of("text", ANYTHING)]
    assert spelled_otherwise("NFC", every, ["<a>", "<K>", "<\u00e9>"]) == {"<K>", "<\u00e9>"}
    assert spelled_otherwise("NFKC", every, ["<a>"]) == {"<a>"}
    assert other_spellings("NFC")[ord("K")] == "\u212a"


def test_a_special_token_that_another_text_becomes_is_not_found_there() -> None:
    """U+212A becomes "K", so that "Ka" is text; in all other texts that end with "a", "Ka" is a special token."""
    rules = [(b"K", b"a"), (b"Ka", b"b")]
    content = tokenizer_json(rules, normalizer={"type": "NFC"}, added_tokens=[added_token(300, "Ka", normalized=False)])
    theirs = tokenizers.Tokenizer.from_str(json.dumps(content))
    apart = [theirs.encode(text, add_special_tokens=False).ids for text in ("\u212aa", "b", "\u212aab")]
    assert apart[0] + apart[1] != apart[2]
    assert not tokdfa.splice(tokdfa.load(content), before="a", after="b")


def test_texts_are_normalized_by_the_versions_of_the_library() -> None:
    # Later versions of Unicode decompose the second letter; the library's NFKC keeps it.
    before, after = "a", "e\u0301\ua7f2x"
    rules = [(b"\xc3", b"\xa9"), (b"\xc3\xa9", b"\xea"), (b"a", b"\xc3\xa9\xea")]
    content = tokenizer_json(rules, normalizer={"type": "NFKC"}, added_tokens=[])
    library = tokenizers.Tokenizer.from_str(json.dumps(content))
    assert library.normalizer.normalize_str(after) == "\u00e9\ua7f2x"
    apart = library.encode(before).ids + library.encode(after).ids
    assert apart != library.encode(before + after).ids
    assert not tokdfa.splice(tokdfa.load(content), before=before, after=after)


def random_tokenizer(drawn: random.Random) -> tuple[dict[str, Any], list[str]]:
    """Return a tokenizer with random rules over the bytes of a few symbols and some special tokens, and the symbols."""
    symbols = drawn.sample(SYMBOLS, 6)
    tokens = sorted({bytes([byte]) for symbol in symbols for byte in symbol.encode()})
    rules: list[tuple[bytes, bytes]] = []
    for _ in range(drawn.randrange(12)):
        pair = drawn.choice(tokens), drawn.choice(tokens)
        if b"".join(pair) not in tokens:
            rules.append(pair)
            tokens.append(b"".join(pair))
    texts = {"".join(drawn.choices(symbols, k=drawn.randrange(1, 3))) for _ in range(drawn.randrange(3))}
    added = [added_token(900 + n, text, normalized=drawn.random() < 0.3) for n, text in enumerate(sorted(texts))]
    return tokenizer_json(rules, normalizer={"type": drawn.choice(FORMS)}, added_tokens=added), symbols


def check_random_seams(seed: int, n: int, n_texts: int = 60) -> Counter[str]:
    """Ask about random seams of random tokenizers; return how many were decided, and how."""
    drawn, met = random.Random(seed), Counter[str]()
    for _ in range(n):
        content, symbols = random_tokenizer(drawn)
        theirs = tokenizers.Tokenizer.from_str(json.dumps(content))

        def ids(text: str, theirs: tokenizers.Tokenizer = theirs) -> list[int]:
            return list(theirs.encode(text, add_special_tokens=False).ids)

        before, after = ("".join(drawn.choices(symbols, k=drawn.randrange(3))) for _ in range(2))
        try:
            verdict = tokdfa.splice(tokdfa.load(content), before=before, after=after)
        except (UnsupportedFeatureError, LimitExceededError, PatternError) as error:
            met[f"undecided: {str(error).rpartition(': ')[2][:60]}"] += 1
            continue
        met[str(verdict.holds)] += 1
        if verdict.witness is not None:
            u, v = verdict.witness.before, verdict.witness.after
            assert u.endswith(before), (content, u)
            assert v.startswith(after), (content, v)
            assert ids(u) + ids(v) != ids(u + v), (content, u, v)
            continue
        ends = ["", *symbols, *("".join(drawn.choices(symbols, k=drawn.randrange(2, 5))) for _ in range(n_texts))]
        for x, y in product(ends, repeat=2):
            u, v = x + before, after + y
            assert ids(u) + ids(v) == ids(u + v), (content, u.encode("unicode-escape"), v.encode("unicode-escape"))
    return met


@pytest.mark.slow
def test_random_seams_of_tokenizers_that_normalize() -> None:
    met = check_random_seams(1, 200, 12)
    assert min(met["True"], met["False"]) > 30, met


def test_some_random_seams_of_tokenizers_that_normalize() -> None:
    met = check_random_seams(2, 10, 1)
    assert met["True"] + met["False"] > 4, met
