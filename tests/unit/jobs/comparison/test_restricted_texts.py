"""Comparisons on the texts of a regular expression: brute force over short texts, by the libraries, agrees."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from functools import cache
from typing import Any

import pytest
import tokenizers

import tokdfa
from tests.support.families import FAMILIES, Member
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token, as_bytes, tokenizer_json
from tokdfa.base.errors import AutomatonError, LimitExceededError, PatternError, UnsupportedFeatureError
from tokdfa.jobs.comparison import models

SYMBOLS = "ab 1é"
PATTERNS = (
    *(
        "[ab]*",
        "a[ab ]*",
        "(?:ab| b)*1?",
        " ?[ab]+",
        "[ab1 ]*",
        "é?[ab]*",
        "(?:aa)*",
        "b*(?:1b*)?",
        "[^ ]*",
        "ab|ba|bab",
    ),
    "[ab]{3,}",
)
WORDS = (b"a", b"b", b" ", b"1")


@cache
def texts_of(pattern: str) -> list[str]:
    """Return the texts of up to five symbols that match, the shortest in bytes first."""
    every = ("".join(text) for n in range(6) for text in itertools.product(SYMBOLS, repeat=n))
    return sorted(filter(re.compile(pattern).fullmatch, every), key=lambda text: len(text.encode()))


def random_rules(rng: random.Random) -> list[tuple[bytes, bytes]]:
    words, rules = [*WORDS], []
    for _ in range(rng.randrange(2, 7)):
        pair = rng.choice(words), rng.choice(words)
        if pair not in rules and pair[0] + pair[1] not in words:
            rules.append(pair)
            words.append(pair[0] + pair[1])
    return rules


def changed(rng: random.Random, rules: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return rules with two neighbours exchanged, where both can be made, or without the last one."""
    found = [*rules]
    if rng.random() < 0.6 and len(found) > 1:
        at = rng.randrange(len(found) - 1)
        found[at : at + 2] = found[at + 1], found[at]
        made = {*WORDS}
        for left, right in found:
            if left not in made or right not in made:
                return rules[:-1]
            made.add(left + right)
        return found
    return rules[:-1]


def random_file(rng: random.Random, rules: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    fields = tokenizer_json(rules)
    if rng.random() < 0.4:
        fields["pre_tokenizer"]["use_regex"] = False
    if rng.random() < 0.3:
        fields["normalizer"] = {"type": "NFC"}
    if rng.random() < 0.3:
        fields["added_tokens"].append(added_token(len(fields["model"]["vocab"]) + 1, rng.choice(["ab", "b1", "  "])))
    return fields


def judged(seed: int) -> str:
    """Compare the answer about two random tokenizers with brute force; return what it is."""
    rng = random.Random(seed)
    rules = random_rules(rng)
    files = [random_file(rng, rules), random_file(rng, changed(rng, rules))]
    if rng.random() < 0.5:
        # Ids that are the same where the spelling is.
        files[1]["model"]["vocab"] = (
            files[0]["model"]["vocab"]
            if len(files[0]["model"]["merges"]) == len(files[1]["model"]["merges"])
            else files[1]["model"]["vocab"]
        )
    pattern = rng.choice(PATTERNS)
    policy = rng.choice([None, "plain"])
    try:
        a, b = (tokdfa.load(file) for file in files)
    except tokdfa.TokdfaError:
        return "not read"
    try:
        found = tokdfa.compare(a, b, texts=pattern, special_tokens=policy)
    except (UnsupportedFeatureError, LimitExceededError) as error:
        return error.what.partition(":")[2][:40]
    libraries = [tokenizers.Tokenizer.from_str(as_bytes(plain(file) if policy else file).decode()) for file in files]
    differing = [text for text in texts_of(pattern) if encoded(libraries[0], text) != encoded(libraries[1], text)]
    if found:
        assert not differing, (seed, pattern, differing[0])
        return "equal"
    assert found.witness is not None
    text = str(found.witness.text)
    assert re.fullmatch(pattern, text), (seed, pattern, text)
    assert encoded(libraries[0], text) != encoded(libraries[1], text), (seed, text)
    if found.checked["shortest"] == "proven" and differing:
        assert len(text.encode()) <= len(differing[0].encode()), (seed, text, differing[0])
    return f"different {found.checked['shortest']}"


def encoded(library: tokenizers.Tokenizer, text: str) -> list[int]:
    return list(library.encode(text).ids)


def plain(file: dict[str, Any]) -> dict[str, Any]:
    return {**file, "added_tokens": []}


def test_brute_force_over_short_texts_agrees() -> None:
    reached = Counter(judged(seed) for seed in seeds(25))
    assert min(reached["equal"], reached["different proven"]) > 4, reached


@pytest.mark.slow
def test_brute_force_over_short_texts_agrees_for_many_tokenizers() -> None:
    reached = Counter(judged(seed) for seed in seeds(3_000))
    assert min(reached["equal"], reached["different proven"]) > 100, reached


def test_answers_about_texts_hold_for_every_family(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "within", lambda seconds, texts: itertools.islice(texts, 300))
    reached: Counter[str] = Counter()
    for family, seed in itertools.product(sorted(FAMILIES), seeds(2)):
        sides = [FAMILIES[family](random.Random(2 * seed + side)) for side in range(2)]
        pattern = random.Random(seed).choice(PATTERNS)
        try:
            found = tokdfa.compare(*(side.tokenizer for side in sides), texts=pattern)
        except (UnsupportedFeatureError, LimitExceededError, AutomatonError):
            continue
        reached[str(bool(found))] += 1
        if found:
            assert all(is_same(*sides, text) for text in texts_of(pattern)[:300]), (family, seed)
        else:
            assert found.witness is not None
            assert re.fullmatch(pattern, str(found.witness.text)), (family, seed)
    assert reached["False"] > 10, reached


def is_same(a: Member, b: Member, text: str) -> bool:
    return a.encode(text) == b.encode(text)


def test_special_tokens_that_are_text_make_no_difference() -> None:
    file = tokenizer_json()
    a, b = tokdfa.load(file), tokdfa.load(plain(file))
    assert not tokdfa.compare(a, b)
    assert tokdfa.compare(a, b, special_tokens="plain")
    assert tokdfa.compare(a, b, texts="[^<]*")


def test_texts_that_have_special_tokens_of_both_are_not_searched() -> None:
    file = tokenizer_json([(b"a", b"b"), (b"b", b"c")])
    other = tokenizer_json([(b"b", b"c"), (b"a", b"b")])
    other["model"]["vocab"] = file["model"]["vocab"]
    a, b = tokdfa.load(file), tokdfa.load(other)
    assert tokdfa.compare(a, b, texts="[^b]*", special_tokens="plain")
    with pytest.raises(UnsupportedFeatureError, match="texts with a special token can be compared only"):
        tokdfa.compare(a, b, texts=r"(?:[ac]|<\|end\|>)+")


def test_bad_questions_are_refused() -> None:
    a = tokdfa.default_tokenizer()
    with pytest.raises(PatternError, match="texts"):
        tokdfa.compare(a, a, texts="(")
    with pytest.raises(PatternError, match="special tokens are found or plain: 'none'"):
        tokdfa.compare(a, a, special_tokens="none")  # type: ignore[arg-type]
    with pytest.raises(UnsupportedFeatureError, match="dictionaries are compared on all texts"):
        tokdfa.compare(a.dictionary, a.dictionary, texts="a")  # type: ignore[attr-defined]
