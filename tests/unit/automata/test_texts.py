"""Tests for `tokdfa.automata.texts`: membership in expressions, and the coarsest classes."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest

from tokdfa.automata.texts import (
    ANYTHING,
    classes_together,
    intersection,
    iter_least,
    language_of,
    least_of_classes,
    literal,
    regular,
)
from tokdfa.base.errors import PatternError

TEXTS = ["".join(symbols) for n in range(5) for symbols in product("ab1\n\u4e2d", repeat=n)]


@pytest.mark.parametrize("pattern", ["a*b", "(?:ab|1)+", r"[^a]*", r"\w+", r"a(?!b).", r".*b$"])
def test_membership_is_that_of_the_expression(pattern: str) -> None:
    language = language_of("x", regular(pattern, "regex", "x"))
    for text in TEXTS:
        assert (text in language) == (re.fullmatch(pattern, text) is not None), text


def test_texts_of_both_languages() -> None:
    ends, begins = language_of("x", ANYTHING, literal("ab", "x")), language_of("y", literal("a", "y"), ANYTHING)
    both = intersection(ends, begins, "both")
    for text in TEXTS:
        assert (text in both) == (text.endswith("ab") and text.startswith("a")), text
    with pytest.raises(PatternError, match=r"^both: no text is in this language$"):
        intersection(language_of("x", literal("a", "x")), language_of("y", literal("b", "y")), "both")


def test_every_state_leads_to_an_end() -> None:
    language = language_of("x", regular("(a|b)*ab(1|[^\\s\\S])", "regex", "x"))
    alive = {state for state, is_final in enumerate(language.finals) if is_final}
    while more := {s for s, row in enumerate(language.rows) if {*row} & alive} - alive:
        alive |= more
    assert alive == {*range(len(language.rows))}


def test_classes_together_are_the_coarsest() -> None:
    random = np.random.default_rng(0)
    edges = [np.sort(random.integers(1, 0x110000, 6)) for _ in range(3)]
    parts = [np.digitize(np.arange(0x110000), edge).astype(np.int64) % 3 for edge in edges]
    classes, symbols = classes_together(parts)
    valid = np.r_[0:0xD800, 0xE000:0x110000]
    found, first = np.unique(classes[valid], return_index=True)
    assert least_of_classes(classes) == [(n, chr(valid[at])) for n, at in zip(found, first, strict=True)]
    some = random.choice(valid, 5000)
    assert [symbols[c] for c in classes[some]] == [*zip(*(part[some].tolist() for part in parts), strict=True)]
    assert len(symbols) == len({*symbols}) == len(found)


@pytest.mark.parametrize("pattern", ["[ab\u00e9]*", "(ab)+", "a|b{3}|\u00e9\u00e9", "(a|b)*\u00e9"])
def test_texts_are_in_order(pattern: str) -> None:
    language = language_of("x", regular(pattern, "regex", "x"))
    texts = ["".join(row) for n in range(7) for row in product("ab\u00e9", repeat=n)]
    every = [text for text in texts if text in language]
    expected = sorted(every, key=lambda text: (len(text.encode()), text.encode()))
    found = [*iter_least(language, 12)]
    assert found[: len(expected)] == expected[: len(found)]
    assert len(found) >= min(len(expected), 3)
