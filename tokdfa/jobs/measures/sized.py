"""Texts of a given number of bytes with the fewest or the most tokens: a depth-first search with proved bounds.

The search begins with a number of tokens that no text can beat, such as 8, and adds 1 until a text has that many. It
leaves a path as soon as the missing bytes need too many tokens: by the lengths of all ids, as coins for a sum, and by
the potentials of the greatest ratio, if they are known. Nearly all paths are left at once, and the first number is
nearly always attained.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import Int64Array
from tokdfa.base.budget import Budget
from tokdfa.base.recent import Recent
from tokdfa.jobs.measures.paths import Paths

MAX_BYTES = 1 << 20
_MAX_KEPT = 1 << 22

Bound = Callable[[Int64Array, Int64Array], Int64Array]
"""Given states and bytes that are missing, the tokens of no continuation: fewer, or with the sign -1 more, negated."""


class _Ways(NamedTuple):
    """The ids that may follow in a state, one for each target and length: arrays with an entry an id."""

    codes: Int64Array
    sizes: Int64Array
    ids: Int64Array


def fewest_coins(sizes: Int64Array, total: int, sign: int) -> Int64Array:
    """Return the fewest coins of some sizes for each sum up to a total; with the sign -1 the most, negated.

    Sums that no coins have are given the value 2**40.
    """
    coins = np.full(total + 1, 1 << 40, dtype=np.int64)
    coins[0] = 0
    sizes = np.unique(sizes[sizes > 0])
    budget = Budget(max_seconds=math.inf, what="the sums of sizes")
    for sum in range(1, total + 1):
        budget.check_time()
        n = int(np.searchsorted(sizes, sum, "right"))
        coins[sum] = min(int((coins[sum - sizes[:n]] + sign).min(initial=1 << 40)), 1 << 40)
    coins[coins > 1 << 39] = 1 << 40
    return coins


class SizedSearch:
    """A search for streams of a number of bytes, with the fewest tokens, or the most for the sign -1.

    `bounds` are lower bounds of the tokens that are missing, times the sign.
    """

    def __init__(self, paths: Paths, n_bytes: int, sign: int, bounds: list[Bound]) -> None:
        self._paths, self._n_bytes, self._sign, self._bounds = paths, n_bytes, sign, bounds
        self._known: Recent[int, _Ways] = Recent(_MAX_KEPT, lambda ways: ways.ids)
        # The least number of tokens, times the sign, that no path to an end has, by state and bytes that are missing.
        self._dead: dict[tuple[int, int], int] = {}

    def first_bound(self) -> int:
        """Return a lower bound of the number of tokens, times the sign."""
        start = np.zeros(1, dtype=np.int64)
        return int(self._least(start, start + self._n_bytes)[0])

    def _least(self, codes: Int64Array, missing: Int64Array) -> Int64Array:
        found: Int64Array = np.max([bound(codes, missing) for bound in self._bounds], axis=0)
        return found

    def _ways(self, code: int) -> _Ways:
        """Return the ids that may follow in a state, the longest first, or for the sign -1 the shortest."""
        paths = self._paths
        codes, ids = paths.following(paths.parts(code)[0], np.array([code % paths.streams.n_rows]), None)
        sizes = paths.weights.size[0, ids]
        order = np.lexsort((codes, -self._sign * sizes))
        codes, sizes, ids = codes[order], sizes[order], ids[order].astype(np.int64)
        first = np.append(True, (codes[1:] != codes[:-1]) | (sizes[1:] != sizes[:-1]))[: len(ids)]
        return _Ways(codes[first], sizes[first], ids[first])

    def _next(self, code: int, missing: int, tokens: int) -> Iterator[tuple[int, int, int]]:
        """Yield the states, sizes and ids after a state that may leave `tokens`, times the sign, or less."""
        ways, begin, block = self._known.get(code, self._ways), 0, 16
        while begin < len(ways.ids):
            self._paths.budget.check_time()
            codes, sizes, ids = (part[begin : begin + block] for part in ways)
            fits = np.flatnonzero(sizes <= missing)
            fits = fits[self._least(codes[fits], missing - sizes[fits]) <= tokens - self._sign]
            yield from zip(codes[fits].tolist(), sizes[fits].tolist(), ids[fits].tolist(), strict=True)
            begin, block = begin + block, 4 * block

    def streams(self, tokens: int) -> Iterator[tuple[int, ...]]:
        """Yield streams with at most some tokens, times the sign; from each state with as many bytes missing, one."""
        streams, dead = self._paths.streams, self._dead
        n_rows = self._paths.n_classes * streams.n_rows
        ids: list[int] = []
        stack = [(0, self._n_bytes, tokens, self._next(0, self._n_bytes, tokens))]
        while stack:
            code, missing, left, ways = stack[-1]
            if not missing and left >= 0 and streams.is_final(code // n_rows):
                yield tuple(ids)
            way = next(ways, None) if missing else None
            if way is None:
                dead[code, missing] = max(left, dead.get((code, missing), left))
                stack.pop()
                del ids[-1:]
                continue
            target, size, id = way
            key = target, missing - size
            rest = left - self._sign
            if dead.get(key, rest - 1) >= rest:
                continue
            ids.append(id)
            stack.append((*key, rest, self._next(*key, rest)))
