"""Several patterns with names: every match has the name of the pattern that a backtracking engine took."""

from __future__ import annotations

import random
import re
from collections import Counter
from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.patterns import patterns, texts
from tests.support.streams import Vocabulary, cut, places
from tests.support.tuned import tuned
from tokdfa.base.errors import PatternError, WrongTypeError
from tokdfa.jobs.searching.api import Searcher
from tokdfa.jobs.searching.plan import Tuning

# None matches the empty text.
nonempty = st.tuples(patterns(anchors=True, last_line=True), st.sampled_from(["{}[ab]", "[ab]{}", "(?:a|b ?){}"]))
several = st.lists(nonempty.map(lambda pair: pair[1].format(pair[0])), min_size=2, max_size=3, unique=True)


def named(vocabulary: Vocabulary, names: dict[str, str], chunks: list[list[int]], tuning: Tuning) -> list[tuple]:
    """The text and the name of each match."""
    searcher = tuned(Searcher, tuning)(vocabulary, names)
    found = searcher.iter_spelled(chunks)
    return [each for spelled in found for each in zip(spelled.texts, spelled.names, strict=True)]


def by_groups(given: list[str], text: str) -> list[tuple[bytes, str]]:
    """The matches of `re`, with a group for each pattern."""
    found = re.finditer("|".join(f"({pattern})" for pattern in given), text)
    return [(each[0].encode(), given[(each.lastindex or 0) - 1]) for each in found]


@pytest.mark.parametrize("tuning", [Tuning(patience=10**9, step=3), Tuning(patience=-1, step=2), Tuning(patience=-1)])
@settings(max_examples=30)
@given(several, texts(30), places)
@example([r"a\b", "a", "é"], "a ab aé", [1, 3])
@example([r"\ba", "b$", "a|b"], "ab\n", [])
@example(["b\n?$", "b$", "[^a]"], "ab\n", [])
def test_the_name_is_of_the_group_that_took_part(
    tuning: Tuning, given: list[str], text: str, boundaries: list[int]
) -> None:
    vocabulary, ids = cut(text.encode(), boundaries)
    found = named(vocabulary, {pattern: pattern for pattern in given}, [ids[:3], ids[3:]], tuning)
    assert found == by_groups(given, text)


def test_bytes_that_are_not_utf8_are_a_context_of_their_own() -> None:
    drawn, met = random.Random(0), Counter[str]()
    words = [b"a", b"b", b"a", b"b", b" ", b"\xc3", b"\xa9", b"\xff", b"\xf0\x9f\x98"]
    looks, bodies = ["", r"\b", r"\B", "(?=a)", "(?!b)", "(?![ab])", "(?=b| )"], ["a", "b", "[ab]", "a+"]
    for _ in range(150):
        chosen = [drawn.randrange(len(words)) for _ in range(drawn.randrange(12))]
        given = ["".join(map(drawn.choice, (looks, bodies, looks))) for _ in range(3)]
        text = b"".join(words[id] for id in chosen).decode("utf-8", "surrogateescape")
        expected = by_groups(given, text)
        names = {pattern: pattern for pattern in given}
        assert named(Vocabulary(words), names, [chosen], Tuning()) == expected, (given, text)
        met["not UTF-8"] += any(ord(symbol) >= 0xDC80 for symbol in text) and len(expected) > 0
        alone = [[pattern for pattern in given if re.fullmatch(pattern, found.decode())] for found, _ in expected]
        met["by the context"] += any(own[:1] != [name] for own, (_, name) in zip(alone, expected, strict=True))
    assert min(met.values()) > 15, met


def test_words_have_the_names_of_the_first_ones() -> None:
    """Patterns that are words are found as words are."""
    drawn, met = random.Random(1), Counter[str]()
    for _ in range(200):
        given = list(dict.fromkeys("".join(drawn.choices("abc", k=drawn.randrange(1, 4))) for _ in range(5)))
        text = "".join(drawn.choices("abc ", k=30))
        vocabulary, ids = cut(text.encode(), [drawn.randrange(30) for _ in range(8)])
        found = named(vocabulary, {word: word for word in given}, [ids], Tuning(patience=-1))
        assert found == by_groups(given, text), (given, text)
        met["found"] += len(found)
    assert met["found"] > 500, met


def test_patterns_without_an_order_are_refused() -> None:
    make = partial(Searcher, Vocabulary([b"a"]))
    for names, error, message in [
        ({}, PatternError, "there is no pattern"),
        ({"a*": "x", "b": "y"}, PatternError, "a pattern that matches the empty text, among several: 'a\\*'"),
        ({1: "x"}, WrongTypeError, "a pattern must be a str"),
        ({"(?>ab|a)c": "x"}, PatternError, "an atomic group cannot be expressed by an automaton"),
    ]:
        with pytest.raises(error, match=message):
            make(names)
    with pytest.raises(PatternError, match="of several patterns the first is preferred: 'longest'"):
        make({"a": "x"}, wanted="longest")
