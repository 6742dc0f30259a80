"""The regions around matches, and which of them are alike, against their definitions."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tokdfa.kernels.replacing.regions import OPEN, cut_tables, kinds_of, regions_around

Match = tuple[int, int, int, int]


class Plain:
    """Ids with some number of bytes, and classes between which there are cuts; the last class cuts always."""

    def __init__(self, dice: random.Random) -> None:
        self.n_ids, self.width = dice.randrange(1, 6), dice.randrange(2, 5)
        share = dice.choice([0.1, 0.5, 0.9])
        self.table = [[dice.random() < share for _ in range(self.width)] for _ in range(self.width)]
        for other in range(self.width):
            self.table[other][-1] = self.table[-1][other] = True
        self.parts = [dice.random() < 0.1 for _ in range(self.n_ids)]
        self.first, self.last = (
            [self.width - 1 if special else dice.randrange(self.width - 1) for special in self.parts] for _ in range(2)
        )
        self.sizes = [dice.randrange(1, 4) for _ in range(self.n_ids)]
        self.tables = cut_tables(
            np.array(self.first, dtype=np.int32),
            np.array(self.last, dtype=np.int32) * np.int32(self.width),
            np.array(self.table, dtype=np.bool_).reshape(-1),
            self.width,
            np.cumsum([0, *self.sizes]),
            np.array(self.parts, dtype=np.bool_),
        )

    def cut(self, ids: list[int], place: int) -> bool:
        return self.table[self.last[ids[place - 1]]][self.first[ids[place]]]

    def matches(self, dice: random.Random, ids: list[int]) -> list[Match]:
        """Stretches of the text, none overlapping another, some of them empty."""
        begins = np.cumsum([0, *(self.sizes[id] for id in ids)]).tolist()
        found, at = [], 0
        while at < begins[-1]:
            at += dice.randrange(0, 9)
            size = dice.randrange(0, 4)
            if at + size > begins[-1] or (found and size == 0 and at == begins[-1]):
                break
            token = next((i for i in range(len(ids)) if begins[i + 1] > at), len(ids))
            if size == 0 and (token == len(ids) or begins[token] == at):
                found.append((token, token, 0, 0))
            else:
                stop = next(i for i in range(len(ids)) if begins[i + 1] >= at + max(size, 1)) + 1
                found.append((token, stop, at - begins[token], size))
            at += max(size, 1)
        return found


def expected(
    plain: Plain, ids: list[int], matches: list[Match], beside: tuple[int, int] | None, begins: bool, final: bool
) -> list[list[int]]:
    """By definition: the closest cuts that stay; a region that begins within the one before continues it."""
    n = len(ids)

    def is_part(start: int, stop: int, offset: int, length: int) -> bool:
        return offset + length < sum(plain.sizes[id] for id in ids[start:stop])

    def stays_before(number: int) -> bool:
        start, _, offset, length = matches[number]
        if start == 0:
            return begins
        if plain.parts[ids[start - 1]]:
            return True
        if length == 0 or not plain.cut(ids, start):
            return False
        # The replacement of the previous match, if that ends here.
        touches = number > 0 and matches[number - 1][1] == start and not is_part(*matches[number - 1])
        if beside is None and (touches or offset == 0):
            return False
        left = beside[1] if beside is not None and touches else plain.last[ids[start - 1]]
        right = beside[0] if beside is not None and offset == 0 else plain.first[ids[start]]
        return plain.table[left][right]

    def stays_after(start: int, stop: int, offset: int, length: int) -> bool:
        if stop == n:
            return final
        if plain.parts[ids[stop]]:
            return True
        stays = is_part(start, stop, offset, length)
        stays = stays or (beside is not None and plain.table[beside[1]][plain.first[ids[stop]]])
        return length > 0 and plain.cut(ids, stop) and stays

    found: list[list[int]] = []
    for number, (start, stop, offset, length) in enumerate(matches):
        left = start
        if not stays_before(number):
            left = max((place for place in range(1, start) if plain.cut(ids, place)), default=0)
        right = stop
        if not stays_after(start, stop, offset, length):
            after = [place for place in range(stop + 1, n) if plain.cut(ids, place)]
            right = min(after, default=n if final and stop < n else OPEN)
        if found and (found[-1][1] == OPEN or left < found[-1][1]):
            last = found[-1]
            last[3] = number + 1
            last[1] = OPEN if OPEN in (last[1], right) else max(last[1], right)
        else:
            found.append([left, right, number, number + 1])
    return found


@pytest.mark.parametrize("seed", range(1000))
def test_regions_are_those_of_the_definition(seed: int) -> None:
    dice = random.Random(seed)
    plain = Plain(dice)
    ids = [dice.randrange(plain.n_ids) for _ in range(dice.randrange(0, 25))]
    matches = plain.matches(dice, ids)
    beside = None if dice.random() < 0.3 else (dice.randrange(plain.width - 1), dice.randrange(plain.width - 1))
    begins, final = dice.random() < 0.5, dice.random() < 0.5
    array, rows = np.array(ids, dtype=np.int32), np.array(matches, dtype=np.int64).reshape(-1, 4)
    regions = regions_around(plain.tables, array, rows, beside, begins=begins, final=final)
    assert regions.tolist() == expected(plain, ids, matches, beside, begins, final)

    closed = regions[regions[:, 1] != OPEN]
    kind, example = kinds_of(array, rows, closed, begins=begins)
    keys = []
    for start, stop, first, end in closed.tolist():
        places = [(token - start, last - start, offset, length) for token, last, offset, length in matches[first:end]]
        keys.append((ids[start:stop], places, begins and start == 0))
    assert kind.tolist() == [_kind(keys, key) for key in keys]
    assert example.tolist() == sorted({keys.index(key) for key in keys})


def _kind(keys: list[object], key: object) -> int:
    """The number of different keys before the first equal one."""
    distinct: list[object] = []
    for other in keys:
        if other == key:
            break
        if other not in distinct:
            distinct.append(other)
    return len(distinct)


def test_all_cases_are_met() -> None:
    """Regions that are open, joined, next to each other, of matches that touch, and that end next to the match."""
    met = set()
    for seed in range(1000):
        dice = random.Random(seed)
        plain = Plain(dice)
        ids = [dice.randrange(plain.n_ids) for _ in range(dice.randrange(0, 25))]
        matches = plain.matches(dice, ids)
        beside = None if dice.random() < 0.3 else (dice.randrange(plain.width - 1), dice.randrange(plain.width - 1))
        found = expected(plain, ids, matches, beside, dice.random() < 0.5, dice.random() < 0.5)
        for before, region in zip([None, *found], found, strict=False):
            met |= {"open"} if region[1] == OPEN else set()
            met |= {"joined"} if region[3] > region[2] + 1 else set()
            if before is not None and before[1] == region[0] == matches[region[2]][0]:
                met |= {"touching, apart"} if matches[before[3] - 1][1] == region[0] else set()
            met |= {"adjacent"} if before is not None and before[1] == region[0] else set()
            met |= {"beside"} if 0 < region[0] == matches[region[2]][0] else set()
            met |= {"wider"} if region[0] < matches[region[2]][0] - 1 else set()
    assert met == {"open", "joined", "adjacent", "beside", "wider", "touching, apart"}
