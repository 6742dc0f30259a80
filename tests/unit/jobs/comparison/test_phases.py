"""Two orders of the same pairs that are said to merge alike do so, by merging all short words in Python."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise, product
from typing import TypeAlias

import numpy as np
import pytest

from tests.support.seeds import seeds
from tokdfa.jobs.comparison.phases import Steps, merge_alike

Ranks: TypeAlias = dict[tuple[str, str], int]
WORDS = ["".join(symbols) for n in range(1, 8) for symbols in product("ab", repeat=n)]


def merged(word: str, ranks: Ranks) -> list[str]:
    parts = [*word]
    while found := [(ranks[pair], at) for at, pair in enumerate(pairwise(parts)) if pair in ranks]:
        at = min(found)[1]
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts


def random_pairs(drawn: random.Random) -> list[tuple[str, str]]:
    words, pairs = [*"ab"], []
    for _ in range(drawn.randrange(2, 7)):
        # Runs of one symbol are where files differ.
        pair = (drawn.choice(words), drawn.choice([*words, "a", "a"]))
        if "".join(pair) not in words:
            words.append("".join(pair))
            pairs.append(pair)
    return pairs


def random_ranks(drawn: random.Random, pairs: list[tuple[str, str]]) -> Ranks:
    """Return ranks that mostly follow the order, some of them equal."""
    keys = {pair: (drawn.randrange(len(pairs)) if drawn.random() < 0.4 else at) for at, pair in enumerate(pairs)}
    dense = {key: rank for rank, key in enumerate(sorted({*keys.values()}))}
    return {pair: dense[key] for pair, key in keys.items()}


def steps(ranks: Ranks, number: dict[str, int]) -> Steps:
    rows = sorted((rank, number[u + v], number[u], number[v]) for (u, v), rank in ranks.items())
    rank, made, left, right = np.array(rows, dtype=np.int32).T
    return Steps(*(np.ascontiguousarray(part) for part in (made, left, right, rank)))


@pytest.mark.parametrize("seed", seeds(2))
def test_orders_said_to_merge_alike_merge_every_word_alike(seed: int) -> None:
    drawn = random.Random(seed)
    outcomes: Counter[tuple[bool, bool, bool]] = Counter()
    for _ in range(400):
        pairs = random_pairs(drawn)
        a, b = random_ranks(drawn, pairs), random_ranks(drawn, pairs)
        # One pair makes each token: both orders make it on its own.
        if any(merged("".join(pair), ranks) != ["".join(pair)] for pair in pairs for ranks in (a, b)):
            continue
        number = {word: index for index, word in enumerate([*"ab", *("".join(pair) for pair in pairs)])}
        are_alike = merge_alike(steps(a, number), steps(b, number))
        do_the_same = all(merged(word, a) == merged(word, b) for word in WORDS)
        assert do_the_same or not are_alike, (a, b)
        outcomes[are_alike, do_the_same, a == b] += 1
    assert outcomes[True, True, False] > 10
    assert outcomes[False, False, False] > 10


def test_runs_of_which_the_longest_come_first_are_as_runs_of_one_rank() -> None:
    number = {"a" * n: n - 1 for n in range(1, 32)} | {"b": 40, "ab": 41}
    runs = [("a" * n, "a") for n in range(30, 0, -1)]
    longest_first = {pair: rank for rank, pair in enumerate([*runs, ("a", "b")])}
    equal = dict.fromkeys(runs, 0) | {("a", "b"): 1}
    assert merge_alike(steps(longest_first, number), steps(equal, number))
    # With the pair of another token before the runs, "aab" is "a", "ab" for one of them.
    assert not merge_alike(steps(longest_first, number), steps(dict.fromkeys(runs, 1) | {("a", "b"): 0}, number))
