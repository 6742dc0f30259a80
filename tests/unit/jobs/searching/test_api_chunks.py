"""Searching chunk by chunk where tokens begin and end within characters: as in the whole text, at every chunking."""

from __future__ import annotations

import random

import pytest
import regex

from tests.support.streams import cut
from tests.support.tuned import tuned
from tokdfa.jobs.searching.api import Searcher
from tokdfa.jobs.searching.plan import Tuning

SYMBOLS = ["a", "b", " ", "\n", "é", "가", "나", "다", "अ", "😀"]
TUNINGS = [
    Tuning(patience=10**9, step=3, block=2),
    Tuning(patience=-1, step=2, block=3),
    Tuning(patience=-1, step=2, block=4, max_entries=1),
]


def around(drawn: random.Random, text: str) -> str:
    """A pattern of words that occur in a text, with assertions on the characters next to them."""
    words = []
    for _ in range(drawn.choice([1, 2, 2, 3])):
        begin = drawn.randrange(len(text))
        word = regex.escape(text[begin : begin + drawn.randrange(1, 4)])
        words.append(drawn.choice([r"\b", r"\B", "(?m:^)", ""]) + word + drawn.choice([r"\b", r"\B", "", ""]))
    return "|".join(words)


@pytest.mark.parametrize("tuning", TUNINGS, ids=["byte by byte", "by class", "by outcome"])
@pytest.mark.parametrize(
    ("pattern", "text", "spans"),
    [
        (r"\b가나|나", "다가나", [(6, 9)]),
        (r"\b가b|b", "다가b", [(6, 7)]),
        (r"\bअb|b", "कअb", [(6, 7)]),
        (r"(?m:^)bअé|é\B", "bbअéअé", [(5, 7)]),
    ],
)
@pytest.mark.parametrize("wanted", ["first", "longest", "all"])
def test_what_is_before_a_kept_character_is_not_taken_for_a_boundary(
    tuning: Tuning, pattern: str, text: str, spans: list[tuple[int, int]], wanted
) -> None:
    vocabulary, ids = cut(text.encode(), range(len(text.encode())))
    searcher = tuned(Searcher, tuning)(vocabulary, pattern, wanted=wanted)  # type: ignore[arg-type]
    for size in range(1, len(ids) + 1):
        chunks = [ids[start : start + size] for start in range(0, len(ids), size)]
        found = [match[:2] for matches in searcher.iter_matches(chunks) for match in matches]
        assert found == spans, size


@pytest.mark.parametrize("tuning", TUNINGS, ids=["byte by byte", "by class", "by outcome"])
def test_random_words_with_boundaries_in_every_chunking(tuning: Tuning) -> None:
    n_matching = 0
    for seed in range(100):
        drawn = random.Random(seed)
        symbols = drawn.sample(SYMBOLS, drawn.choice([2, 3, 4]))
        text = "".join(drawn.choices(symbols, k=drawn.randrange(2, 12)))
        pattern, wanted = around(drawn, text), drawn.choice(["first", "longest", "all"])
        data = text.encode()
        at = [len(text[:index].encode()) for index in range(len(text) + 1)]
        vocabulary, ids = cut(data, range(len(data)) if drawn.random() < 0.5 else drawn.choices(range(60), k=12))
        searcher = tuned(Searcher, tuning)(vocabulary, pattern, wanted=wanted)  # type: ignore[arg-type]
        whole = [*searcher.search(ids)]
        if wanted != "all":
            engine = pattern if wanted == "first" else f"(?p)(?:{pattern})"
            expected = [(at[match.start()], at[match.end()]) for match in regex.finditer(engine, text)]
            assert [match[:2] for match in whole] == expected, (seed, pattern, text)
        for size in (1, 2, 3, drawn.randrange(4, 9)):
            chunks = [ids[start : start + size] for start in range(0, len(ids), size)]
            found = [match for matches in searcher.iter_matches(chunks) for match in matches]
            assert found == whole, (seed, pattern, text, wanted, size)
        n_matching += len(whole) > 0
    assert n_matching > 40
