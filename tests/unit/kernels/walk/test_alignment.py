"""The units of two streams of ids, against the sets of their boundaries."""

from __future__ import annotations

import random
from itertools import accumulate, pairwise

import numpy as np
import pytest

from tokdfa.base.arrays import offsets_of
from tokdfa.kernels.walk.alignment import SpelledIds, SpelledWords, align

WORDS = [b"", b"a", b"b", b"ab", b"ba", b"aab", b"abbaabba", b"abbaabbab" * 3, b""]


def side(texts: list[list[int]]) -> SpelledIds:
    text = np.frombuffer(b"".join(WORDS), dtype=np.uint8)
    ids = np.array([id for each in texts for id in each], dtype=np.int32)
    return SpelledIds(
        SpelledWords(text, offsets_of(WORDS)), ids, np.array([0, *accumulate(map(len, texts))], dtype=np.int64)
    )


def bytes_of(ids: list[int]) -> bytes:
    return b"".join(WORDS[id] for id in ids)


def units(a: list[int], b: list[int]) -> list[tuple[list[int], list[int]]]:
    """Return the units of one text, from the places between ids: pairs of the numbers of ids read on both sides."""
    ends = [[*accumulate((len(WORDS[id]) for id in ids), initial=0)] for ids in (a, b)]
    bounds: list[tuple[int, int]] = [(0, 0)]
    for offset in sorted({*ends[0]} & {*ends[1]}):
        first, last = ([of.index(offset) for of in ends], [len(of) - 1 - of[::-1].index(offset) for of in ends])
        bounds += [(first[0], first[1]), (last[0], last[1])]
    distinct = [*dict.fromkeys(bounds)]
    return [(a[i:next_i], b[j:next_j]) for (i, j), (next_i, next_j) in pairwise(distinct)]


def split(drawn: random.Random, data: bytes) -> list[int]:
    """Return random ids of the words that spell a text, those without bytes included."""
    ids: list[int] = []
    while data:
        ids.append(drawn.choice([id for id, word in enumerate(WORDS) if data.startswith(word)]))
        data = data[len(WORDS[ids[-1]]) :]
    return ids + drawn.choices([0, 8], k=drawn.randrange(3))


@pytest.mark.parametrize("n_cases", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_units_are_the_parts_between_boundaries_of_both(n_cases: int) -> None:
    drawn = random.Random(n_cases)
    reached = {"several ids": 0, "no bytes": 0}
    for _ in range(n_cases):
        texts = [bytes_of(drawn.choices(range(9), k=drawn.randrange(7))) for _ in range(drawn.randrange(1, 4))]
        a, b = ([split(drawn, text) for text in texts] for _ in range(2))
        found = align(side(a), side(b))
        expected = [units(x, y) for x, y in zip(a, b, strict=True)]
        flat_a, flat_b = ([id for ids in each for id in ids] for each in (a, b))
        rows = zip(pairwise(found.a_bounds.tolist()), pairwise(found.b_bounds.tolist()), strict=True)
        got = [(flat_a[i:j], flat_b[k:m]) for (i, j), (k, m) in rows]
        assert got == [unit for each in expected for unit in each]
        assert found.texts.tolist() == [0, *accumulate(map(len, expected))]
        assert found.n_texts == len(texts)
        assert found.offsets.tolist() == [0, *accumulate(len(bytes_of(x)) for x, _ in got)]
        reached["several ids"] += any(len(x) > 1 and len(y) > 1 for x, y in got)
        reached["no bytes"] += any(not bytes_of(x) for x, _ in got)
    assert min(reached.values()) > n_cases / 8


def test_the_first_byte_that_differs_is_found() -> None:
    drawn = random.Random(2)
    reached = 0
    for _ in range(400):
        texts = [[drawn.choices(range(9), k=drawn.randrange(6)) for _ in range(3)] for _ in range(2)]
        spelled = [[*map(bytes_of, each)] for each in texts]
        found = align(side(texts[0]), side(texts[1]))
        n_same = next((k for k, (x, y) in enumerate(zip(*spelled, strict=True)) if x != y), 3)
        assert found.n_texts == n_same
        if n_same < 3:
            x, y = spelled[0][n_same], spelled[1][n_same]
            common = next((k for k, (c, d) in enumerate(zip(x, y, strict=False)) if c != d), min(len(x), len(y)))
            assert found.offsets[-1] == sum(map(len, spelled[0][:n_same])) + common
            reached += common > 0
    assert reached > 50


def test_arguments_that_are_not_of_texts_are_refused() -> None:
    text, offsets, ids = np.zeros(2, dtype=np.uint8), np.array([0, 1, 2]), np.array([0, 1], dtype=np.int32)
    bounds = np.array([0, 2])
    for arguments in (
        (text, np.array([0, 1, 3]), ids, bounds),
        (text, np.array([0, 2, 1]), ids, bounds),
        (text, offsets, ids + np.int32(1), bounds),
        (text, offsets, ids - np.int32(1), bounds),
        (text, offsets, ids, np.array([0, 1])),
        (text, offsets, ids, np.array([0, 2, 1, 2])),
    ):
        with pytest.raises(ValueError, match="the"):
            SpelledIds(SpelledWords(*arguments[:2]), *arguments[2:])
    with pytest.raises(ValueError, match="the same texts"):
        align(side([[1]]), side([[1], []]))
