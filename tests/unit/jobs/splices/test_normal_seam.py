"""Tests for `tokdfa.jobs.splices.normal_seam`: texts that are not said to join are normalized apart."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.unit.jobs.splices.test_normal_texts import FORMS, SYMBOLS, library
from tokdfa.automata.texts import ANYTHING, Language, language_of, literal
from tokdfa.jobs.splices.normal_seam import joined, may_join
from tokdfa.regex.unicode.normalization import Form

# Starters that compose with starters, once and twice, and a ligature that ends with a letter.
EVERY = [*dict.fromkeys(SYMBOLS + "s\u0307\u1ea1\u0dd9\u0dcf\u0dca\u0cc6\u0cc2\u0cd5\uac01\u1025\u102e\u00a8")]


def sides(drawn: random.Random) -> tuple[str, str, bool, bool, Language, Language]:
    """Return the texts at a seam, whether anything may be beyond them, and both languages."""
    left, right = ("".join(drawn.choices(EVERY, k=drawn.choice([1, 1, 2]))) for _ in range(2))
    open_left, open_right = drawn.random() < 0.5, drawn.random() < 0.5
    before = language_of("u", *[ANYTHING] * open_left, literal(left, "u"))
    after = language_of("v", literal(right, "v"), *[ANYTHING] * open_right)
    return left, right, open_left, open_right, before, after


@pytest.mark.parametrize("form", FORMS)
def test_texts_that_are_not_said_to_join_are_normalized_apart(form: Form) -> None:
    drawn, theirs, met = random.Random(form), library(form).normalize_str, Counter[tuple[bool, bool]]()
    for _ in range(50):
        left, right, open_left, open_right, before, after = sides(drawn)
        pairs = [*joined(form, before, after, 2)]
        for u, v in pairs:
            assert u in before, (left, right)
            assert v in after, (left, right)
            assert theirs(u + v) != theirs(u) + theirs(v)
        may = may_join(form, before, after)
        met[may, bool(pairs)] += 1
        around = ["", *drawn.sample(EVERY, 12), *("".join(drawn.choices(EVERY, k=2)) for _ in range(8))]
        for x in around if open_left and not may else [""]:
            for y in around if open_right and not may else [""]:
                u, v = x + left, right + y
                assert may or theirs(u + v) == theirs(u) + theirs(v), (u, v)
    assert met[False, False] > 25, met
    assert met[True, True] > 1, met
    # Without compositions, the classes of marks decide.
    assert form in ("NFC", "NFKC") or not met[True, False], met


def test_marks_change_places_however_many_are_between() -> None:
    before, after = language_of("u", ANYTHING, literal("\u0338\u0338", "u")), language_of("v", ANYTHING)
    assert may_join("NFD", before, after)
    u, v = next(joined("NFD", before, after))
    assert library("NFD").normalize_str(u + v) != library("NFD").normalize_str(u) + library("NFD").normalize_str(v)
    assert not may_join("NFD", before, language_of("v", literal("x", "v"), ANYTHING))


def test_a_mark_keeps_starters_from_composing() -> None:
    after = language_of("v", literal("\u1161", "v"), ANYTHING)
    assert may_join("NFC", language_of("u", ANYTHING, literal("\u1100", "u")), after)
    assert not may_join("NFC", language_of("u", ANYTHING, literal("\u1100\u0323", "u")), after)
