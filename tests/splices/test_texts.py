"""Tests for `tokdfa.splices.texts`: the least texts of a language, in order."""

from __future__ import annotations

from itertools import product

import pytest

from tokdfa.splices.languages import language_of, regular
from tokdfa.splices.texts import iter_least


@pytest.mark.parametrize("pattern", ["[ab\u00e9]*", "(ab)+", "a|b{3}|\u00e9\u00e9", "(a|b)*\u00e9"])
def test_texts_are_in_order(pattern: str) -> None:
    language = language_of("x", regular(pattern, "regex", "x"))
    texts = ["".join(row) for n in range(7) for row in product("ab\u00e9", repeat=n)]
    every = [text for text in texts if text in language]
    expected = sorted(every, key=lambda text: (len(text.encode()), text.encode()))
    found = [*iter_least(language, 12)]
    assert found[: len(expected)] == expected[: len(found)]
    assert len(found) >= min(len(expected), 3)
