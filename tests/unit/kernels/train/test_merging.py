"""Merging against its definition: all pairs counted afresh for every rule, in lists."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tokdfa.kernels.train.merging import FIRST_SEEN, FIXED, LONGEST_TEXT, SENTENCEPIECE, SUBWORD_NMT, Text, Training

TIES = {
    "ranks": FIXED,
    "oldest": FIXED,
    "first seen": FIRST_SEEN,
    "sentencepiece": SENTENCEPIECE,
    "subword-nmt": SUBWORD_NMT,
}


@dataclass
class Case:
    pieces: list[list[int]]
    weights: list[int]
    spelled: list[list[int]]
    ranks: list[int]
    tie: str
    overlapping: bool
    least: int
    longest: int
    merges: int


def trained(case: Case, steps: Sequence[int] | None = None) -> tuple[list[tuple[int, int]], list[int]]:
    flat, weight = [-1], [0]
    for piece, n in zip(case.pieces, case.weights, strict=True):
        flat += [*piece, -1]
        weight += [n] * len(piece) + [0]
    widths = [len(case.spelled[symbol]) if symbol >= 0 else 0 for symbol in flat]
    units = [unit for symbol in flat if symbol >= 0 for unit in case.spelled[symbol]]
    ranks = case.ranks + list(range(len(case.ranks), len(case.ranks) + case.merges))
    training = Training(
        Text(
            np.array(flat, np.int32),
            np.array(weight, np.int64),
            np.array(units, np.int32),
            np.concatenate(([0], np.cumsum(widths))),
        ),
        len(case.spelled),
        case.merges,
        np.array(ranks if case.tie == "ranks" else [], np.int32),
        tie=TIES[case.tie],
        overlapping=case.overlapping,
        least=case.least,
        longest=case.longest,
    )
    for target in [case.merges] if steps is None else steps:
        made = training.run(target)
        assert made <= target
    return list(zip(training.left.tolist(), training.right.tolist(), strict=True)), training.gain.tolist()


def counted(case: Case, pieces: list[list[int]]) -> dict[tuple[int, int], int]:
    """Return the pairs with their counts, in the order in which the text has them."""
    counts: dict[tuple[int, int], int] = {}
    for piece, weight in zip(pieces, case.weights, strict=True):
        # The second token of a pair of equals, which non-overlapping counts do not take again.
        taken = -1
        for at, pair in enumerate(pairwise(piece)):
            counts.setdefault(pair, 0)
            if case.overlapping or pair[0] != pair[1]:
                counts[pair] += weight
            elif taken != at:
                counts[pair] += weight
                taken = at + 1
    return counts


def by_definition(case: Case) -> tuple[list[tuple[int, int]], list[int]]:
    pieces = [list(piece) for piece in case.pieces]
    words = [(symbol,) for symbol in range(len(case.spelled))]
    spelled = [list(units) for units in case.spelled]
    ranks = case.ranks + list(range(len(case.ranks), len(case.ranks) + case.merges))
    age: dict[tuple[int, int], int] = {}
    rules: list[tuple[int, int]] = []
    gains: list[int] = []
    while len(rules) < case.merges:
        counts = counted(case, pieces)
        for pair in counts:
            age.setdefault(pair, len(age))
        place = {pair: number for number, pair in enumerate(counts)}

        def order(pair: tuple[int, int], place: dict[tuple[int, int], int] = place) -> Any:
            u, v = pair
            if case.tie == "ranks":
                return ranks[u], ranks[v]
            if case.tie == "oldest":
                return age[pair]
            if case.tie == "first seen":
                return place[pair]
            if case.tie == "sentencepiece":
                return len(words[u] + words[v]), spelled[u] + spelled[v], len(words[u])
            return [[-unit for unit in spelled[w]] + [1] for w in pair]

        fit = [p for p, n in counts.items() if n >= case.least and len(words[p[0]] + words[p[1]]) <= case.longest]
        if not fit:
            break
        most = max(counts[pair] for pair in fit)
        u, v = min((pair for pair in fit if counts[pair] == most), key=order)
        gain = 0
        for number, piece in enumerate(pieces):
            out: list[int] = []
            at = 0
            while at < len(piece):
                if piece[at : at + 2] == [u, v]:
                    out.append(len(words))
                    gain += case.weights[number]
                    at += 2
                else:
                    out.append(piece[at])
                    at += 1
            pieces[number] = out
        rules.append((u, v))
        gains.append(gain)
        words.append(words[u] + words[v])
        spelled.append(spelled[u] + spelled[v])
    return rules, gains


def case_of(dice: random.Random, tie: str, overlapping: bool) -> Case:
    n_symbols = dice.choice([1, 2, 3, 8])
    ranks = list(range(n_symbols))
    dice.shuffle(ranks)
    # Symbols of one unit or two, none of them spelled as another.
    spelled = [[5 * n_symbols - 2 * i] + [7] * dice.randrange(2) for i in range(n_symbols)]
    pieces = [
        dice.choices(range(n_symbols), k=dice.randint(1, dice.choice([3, 9, 40]))) for _ in range(dice.randint(0, 9))
    ]
    return Case(
        pieces=pieces,
        weights=[dice.randint(1, 4) for _ in pieces],
        spelled=spelled,
        ranks=ranks,
        tie=tie,
        overlapping=overlapping,
        least=dice.randint(1, 4),
        longest=dice.choice([1, 2, 3, 7, LONGEST_TEXT]),
        merges=dice.choice([0, 1, 5, 200]),
    )


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("tie", TIES)
def test_the_rules_and_their_gains_are_those_of_the_definition(tie: str, overlapping: bool) -> None:
    dice = random.Random(f"{tie} {overlapping}")
    n_rules = 0
    for _ in range(150):
        case = case_of(dice, tie, overlapping)
        rules, gains = trained(case)
        assert (rules, gains) == by_definition(case), case
        n_rules += len(rules)
    assert n_rules > 200


@pytest.mark.parametrize("tie", TIES)
def test_tables_grow(tie: str) -> None:
    """There are more pairs than the tables hold at first, and merges that make hundreds of pairs."""
    dice = random.Random(7)
    n_symbols = 60
    # Symbol 0 is followed by 1 most of the time, and any other symbol surrounds them.
    pieces = [
        [symbol for _ in range(40) for symbol in (*dice.choices(range(n_symbols), k=3), *dice.choice([(0, 1), (2,)]))]
        for _ in range(40)
    ]
    case = Case(
        pieces=pieces,
        weights=[dice.randint(1, 3) for _ in pieces],
        spelled=[[symbol] for symbol in range(n_symbols)],
        ranks=list(range(n_symbols)),
        tie=tie,
        overlapping=False,
        least=1,
        longest=LONGEST_TEXT,
        merges=25,
    )
    assert len({pair for piece in pieces for pair in pairwise(piece)}) > 1 << 10
    assert trained(case) == by_definition(case)


def test_going_on_is_as_going_through() -> None:
    dice = random.Random(3)
    for tie in TIES:
        case = case_of(dice, tie, False)
        case.merges = 30
        assert trained(case, [0, 1, 1, 7, 100]) == trained(case)


def test_nothing_to_merge() -> None:
    nothing = Case([], [], [[0]], [0], "first seen", False, 1, LONGEST_TEXT, 3)
    assert trained(nothing) == ([], [])
    assert trained(Case([[0]], [9], [[0]], [0], "sentencepiece", False, 1, LONGEST_TEXT, 3)) == ([], [])


def test_arrays_of_another_type_do_not_reach_c() -> None:
    text = Text(np.array([-1, 0, 0, -1]), np.zeros(4, np.int64), np.empty(0, np.int32), np.empty(0, np.int64))
    with pytest.raises(TypeError, match=r"tokdfa_corpus\.text is a contiguous array of int32_t, not of int64"):
        Training(text, 1, 1, np.empty(0, np.int32), tie=FIXED, overlapping=False, least=1, longest=9)
