"""The outermost parts of tokens while these are made, by which tokens merge across their boundary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, IntegerArray, distinct, ranges

if TYPE_CHECKING:
    from tokdfa.tokenizers.neighbours import ProperPart

_NEVER = np.int64(1 << 31)


def spines(part: Int32Array, is_there: BoolArray) -> tuple[Int32Array, Int32Array, Int32Array]:
    """Return int32 arrays: tokens, their outermost parts at any depth, and the token that has each as a part, or -1."""
    tokens = np.flatnonzero(is_there).astype(np.int32)
    found, inner, outer = [tokens], [tokens], [np.full(len(tokens), -1, dtype=np.int32)]
    while len(found[-1]):
        deeper = part[inner[-1]]
        kept = deeper >= 0
        outer.append(inner[-1][kept])
        found.append(found[-1][kept])
        inner.append(deeper[kept])
    return np.concatenate(found), np.concatenate(inner), np.concatenate(outer)


class _Phase(NamedTuple):
    """A time in which a token that is made has one outermost part, from `begin` to `end`.

    The time is the weakest priority that was merged so far: a pair that is stronger merges at once. A pair with the
    outermost part merges within the phase if it is stronger than the `weakest` merge elsewhere in the token.
    """

    outermost: int
    begin: int
    end: int
    weakest: int


class Spines:
    """The tokens that merging does not leave next to a late one, on one side of it.

    With the rules `a·a -> aa` and `aa·aa -> aaaa`, the first part of `aaaa` is `a` until the first rule is used, then
    `aa`, and at last `aaaa`: its *spine*. Two tokens merge across their boundary if an outermost part of the one and an
    outermost part of the other are there at the same time, and their pair comes before the merges that take them.

    `side` is the index of the outermost parts: 1 for the tokens before a late one, 0 for those after it.
    """

    def __init__(self, part: ProperPart, side: int) -> None:
        left, right, priority, _ = part.merger.merges
        mine, others = (left, right) if side else (right, left)
        order = np.argsort(others, kind="stable")
        # All pairs that merge: the token on this side, the other one, and their priority.
        self._mine, self._others, self._priority = mine[order], others[order], priority[order]
        self._side, self._parts, self._made = side, part.parts, part.priority
        # One entry a token, its outermost parts at any depth, and when each is taken; ordered by parts, the last first.
        tokens, inner, outer = spines(part.parts[:, side], part.number >= 0)
        keys = _key(inner, np.where(outer < 0, _NEVER, part.priority[outer]))
        order = np.argsort(keys, kind="stable")
        self._tokens, self._keys = tokens[order], keys[order]
        is_late = np.zeros(len(part.number), dtype=np.bool_)
        is_late[part.late] = True
        self._late, self._late_inner, _ = spines(part.parts[:, side], is_late)

    def that_merge_with(self, late: int) -> Int32Array:
        """Return the tokens that are not late and merge with a late one."""
        found = [self._tokens[:0]]
        # Of equal pairs the leftmost merges first: pairs within the left token, then the pair across the boundary.
        is_before = self._side
        for outermost, begin, end, weakest in self._phases(late):
            low, high = np.searchsorted(self._others, [outermost, outermost + 1])
            mine, priority = self._mine[low:high], self._priority[low:high]
            kept = (priority < weakest + is_before) & (self._made[mine] < end + is_before)
            mine, until = mine[kept], np.maximum(priority[kept], begin) + is_before
            starts, stops = np.searchsorted(self._keys, (_key(mine, _NEVER), _key(mine, until) + 1))
            found.append(self._tokens[ranges(starts, stops)[0]])
        return distinct(np.concatenate(found))

    def _phases(self, late: int) -> Iterator[_Phase]:
        """Yield the phases of a late token, as merging makes it alone, with its outermost part next to this side."""
        # From left to right: tokens that are made, each before its parts, the merge that takes each, and whether it is
        # outermost in the end.
        merges: list[tuple[int, int, bool]] = []
        stack = [(late, -1, True)]
        while stack:
            token, taker, is_outermost = stack.pop()
            parts = self._parts[token].tolist()
            if parts[0] >= 0:
                stack += ((parts[at], len(merges), is_outermost and at != self._side) for at in (1, 0))
                merges.append((token, taker, is_outermost))
        n_waiting = Counter(taker for _, taker, _ in merges)
        heap = [(int(self._made[token]), at) for at, (token, _, _) in enumerate(merges) if not n_waiting[at]]
        heapify(heap)
        begin = now = weakest = -1
        while heap:
            priority, at = heappop(heap)
            token, taker, is_outermost = merges[at]
            now, weakest = max(now, priority), max(weakest, priority)
            if is_outermost:
                yield _Phase(int(self._parts[token, 1 - self._side]), begin, now, weakest)
                begin, weakest = now, -1
            n_waiting[taker] -= 1
            if taker >= 0 and not n_waiting[taker]:
                heappush(heap, (int(self._made[merges[taker][0]]), taker))
        yield _Phase(late, begin, int(_NEVER), int(_NEVER))

    def late_that_may_merge_with(self, late: int) -> Int32Array:
        """Return late tokens, among them all that merge with a late one."""
        may_merge = np.zeros(len(self._made), dtype=np.bool_)
        for outermost, *_ in self._phases(late):
            low, high = np.searchsorted(self._others, [outermost, outermost + 1])
            may_merge[self._mine[low:high]] = True
        return distinct(self._late[may_merge[self._late_inner]])


def _key(parts: Int32Array, until: IntegerArray | np.int64) -> Int64Array:
    """Return numbers that ascend with parts, and for one part descend with the times until it is taken."""
    return parts.astype(np.int64) << 32 | (_NEVER - until)
