"""Tests for `tokdfa.automata.texts`: one guess about each text survives, and finds the leftmost."""

from __future__ import annotations

import re
from itertools import product
from random import Random

import pytest

from tokdfa.automata.texts import PLAIN, Found, Scan, apart, overlap, overlapping


def by_search(contents: list[str], text: str) -> list[tuple[int, str]]:
    """Return where special tokens are: the leftmost first, of those the longest."""
    ordered = sorted(contents, key=len, reverse=True)
    return [(match.start(), match.group()) for match in re.finditer("|".join(map(re.escape, ordered)), text)]


@pytest.mark.parametrize("seed", range(8))
def test_one_guess_survives_and_is_right(seed: int) -> None:
    random = Random(seed)
    contents = sorted({"".join(random.choices("ab<", k=random.randint(1, 3))) for _ in range(random.randint(1, 3))})
    found = Found(contents)
    for symbols in (row for n in range(5) for row in product("ab<c", repeat=n)):
        guesses: list[tuple[Scan, list[tuple[int, str]]]] = [(Scan(), [])]
        for place, symbol in enumerate(symbols):
            guesses = [
                (scan, spans if effect < 0 else [*spans, (place, contents[effect])])
                for before, spans in guesses
                for scan, effect in found.moves(before, None if symbol == "c" else symbol)
            ]
        ends = [spans for scan, spans in guesses if found.may_end(scan)]
        assert ends == [by_search(contents, "".join(symbols))], (contents, symbols)


def test_symbols_outside_have_no_effect() -> None:
    assert [*Found(["<x>"]).moves(Scan(), None)] == [(Scan(), PLAIN)]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("<x>", "<y>", False), ("<x>", ">>", True), ("<x>", "x", True), ("ab", "ba", True), ("ab", "ab", False)],
)
def test_overlap_is_symmetric(one: str, other: str, expected: bool) -> None:
    assert overlap(one, other) is overlap(other, one) is expected


def test_texts_that_are_apart_overlap_none() -> None:
    random = Random(0)
    for _ in range(100):
        contents = {"".join(random.choices("ab<", k=random.randint(1, 4))) for _ in range(random.randint(1, 4))}
        alone = {
            one
            for one in contents
            if not any(one.endswith(one[:n]) for n in range(1, len(one)))
            and not any(overlap(one, other) for other in contents)
        }
        assert apart(contents) == alone, contents
        assert overlapping(contents) == any(overlap(one, other) for one in contents for other in contents), contents
