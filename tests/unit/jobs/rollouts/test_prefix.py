"""Prefixes explained: where ids differ, in which text, who is right and why."""

from __future__ import annotations

import random

import pytest

import tokdfa
from tokdfa import PrefixKind
from tokdfa.base.errors import TokenStreamError


@pytest.fixture(scope="module")
def tokenizer() -> tokdfa.AnyTokenizer:
    return tokdfa.default_tokenizer()


def test_it_holds_or_is_too_short(tokenizer: tokdfa.AnyTokenizer) -> None:
    ids = tokenizer.encode("a single man")
    check = tokdfa.check_prefix(tokenizer, ids[:2], ids)
    assert check
    assert (check.kind, check.index, check.same_text) == (PrefixKind.HOLDS, 2, True)
    check = tokdfa.check_prefix(tokenizer, ids, ids[:1])
    assert not check
    assert (check.kind, check.index, check.byte_offset) == (PrefixKind.TOO_SHORT, 1, 1)
    assert check.reason == f"b ends after 1 id, and a goes on with {ids[1]} {ids[2]}"
    assert tokdfa.check_prefix(tokenizer, [], [])


def test_who_is_canonical(tokenizer: tokdfa.AnyTokenizer) -> None:
    good, bad = [64, 2513, 462], [64, 261, 1193, 462]
    check = tokdfa.check_prefix(tokenizer, bad, good)
    assert (check.kind, check.index, check.canonical) == (PrefixKind.TOKENIZATION, 1, "b")
    assert (check.ids_a, check.ids_b, check.byte_offset) == ((261, 1193), (2513,), 1)
    assert check.cause is not None
    assert check.cause.rule == 2257
    assert "rule 2257 (' s' + 'ingle') merges in a" in check.reason
    check = tokdfa.check_prefix(tokenizer, good, bad)
    assert (check.canonical, check.ids_a, check.ids_b) == ("a", (2513,), (261, 1193))
    assert "merges in b" in check.reason
    letters = [int(tokenizer.encode_piece(letter)[0]) for letter in (b" ", b"s")]  # type: ignore[attr-defined]
    check = tokdfa.check_prefix(tokenizer, [64, *letters, 1193], bad)
    assert check.canonical == "neither"
    assert check.ids_a == tuple(letters)


def test_what_follows_may_make_the_difference(tokenizer: tokdfa.AnyTokenizer) -> None:
    a, b = tokenizer.encode("a s"), tokenizer.encode("a single")
    check = tokdfa.check_prefix(tokenizer, a, b)
    assert (check.canonical, check.ids_a, check.ids_b) == ("both", (261,), (2513,))
    assert check.cause is not None
    assert check.cause.rule is not None
    assert "merges when a is followed by the rest of b" in check.reason


def test_the_text_itself_differs(tokenizer: tokdfa.AnyTokenizer) -> None:
    check = tokdfa.check_prefix(tokenizer, tokenizer.encode("a man here"), tokenizer.encode("a man there"))
    assert (check.kind, check.same_text, check.byte_offset, check.canonical) == (PrefixKind.TEXT, False, 6, "")
    assert check.reason == "the text itself differs from byte 6 on: a goes on with 'here', b with 'there'"


def cut_and_encoded(tokenizer: tokdfa.AnyTokenizer, text: str, drawn: random.Random) -> list[int]:
    """The ids of a text, sometimes cut in two that are encoded separately."""
    at = drawn.randrange(len(text) + 1) if drawn.random() < 0.5 else 0
    return [*tokenizer.encode(text[:at]).tolist(), *tokenizer.encode(text[at:]).tolist()]


def test_all_cases_at_random(tokenizer: tokdfa.AnyTokenizer) -> None:
    drawn = random.Random(0)
    kinds = set()
    words = ["a", " single", " man", "\n", " s", "ing", "le", "é", "x"]
    for _ in range(400):
        text = "".join(drawn.choices(words, k=drawn.randrange(1, 5)))
        beginning = text[: drawn.randrange(len(text) + 1)] + drawn.choice(["", "", "", "y"])
        a, b = (cut_and_encoded(tokenizer, whole, drawn) for whole in (beginning, text))
        check = tokdfa.check_prefix(tokenizer, a, b)
        kinds.add((check.kind.value, check.canonical))
        assert bool(check) == (b[: len(a)] == a)
        assert a[: check.index] == b[: check.index]
        left, right = tokenizer.decode_bytes(a), tokenizer.decode_bytes(b)
        assert check.same_text == (left.startswith(right) or right.startswith(left))
        assert check.reason
        if check.kind == PrefixKind.TOKENIZATION:
            assert check.canonical in {"a", "b", "both", "neither"}
            verdicts = tokdfa.validate(tokenizer, a), tokdfa.validate(tokenizer, b)
            if all(verdicts):
                assert check.canonical == "both"
    assert len(kinds) >= 6


def test_what_is_no_id(tokenizer: tokdfa.AnyTokenizer) -> None:
    with pytest.raises(TokenStreamError, match="id out of range"):
        tokdfa.check_prefix(tokenizer, [64], [10**8])
