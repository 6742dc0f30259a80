"""The most tokens of one tokenizer for each token of another, over all texts that both leave unchanged.

Example: one tokenizer has a token of 16 spaces, the other one only single spaces. Then a text of spaces has 16 times as
many tokens of the other, and the greatest ratio is 16 or more.

A state is a pair: a state of the canonical streams of the first tokenizer, and one of the second's at its last token
that has ended, with the bytes since then. A step reads one id of the first, which adds some tokens of the second.
`ratios` says how a greatest ratio is found; the product has too many states to be listed, so paths begin with the ids
that gain, from all states at once: after any text, an id may end as many tokens of the second as the bytes of the id
allow, given that its tokens are neighbours. Sums fall fast with other ids, so few pairs are reached.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int64Array
from tokdfa.base.budget import Budget
from tokdfa.jobs.measures.climbing import RESET
from tokdfa.jobs.measures.streams import Streams

_MOST_TOGETHER = 4096


class Side:
    """The canonical streams of one of two tokenizers, with states as numbers: base and row."""

    def __init__(self, streams: Streams) -> None:
        self.streams, n_rows = streams, streams.n_rows
        self.word = streams.words
        self.has_empty = not streams.sizes[streams.ordinary].all()
        self.ordinary = np.flatnonzero(streams.ordinary).tolist()
        self.n_rows = n_rows
        self._steps: dict[tuple[int, int], int | None] = {}

    def step(self, code: int, id: int) -> int | None:
        """Return the state after an id; None if there is none."""
        key = code, id
        if key not in self._steps:
            base, row = divmod(code, self.n_rows)
            found = self.streams.step(base, row, id)
            self._steps[key] = None if found < 0 else found * self.n_rows + int(self.streams.sets.row_of[id])
        return self._steps[key]

    def is_final(self, code: int) -> bool:
        """Return whether a stream may end in a state."""
        return self.streams.is_final(code // self.n_rows)

    def ways(self, code: int, useful: BoolArray) -> list[int]:
        """Return the ids that may follow in a state, of some ids."""
        base, row = divmod(code, self.n_rows)
        labels = self.streams.edges(base).labels
        labels = labels[useful[labels]]
        found: list[int] = labels[self.streams.after(base, row, labels) >= 0].tolist()
        return found

    def all_targets(self, budget: Budget) -> dict[int, list[int]]:
        """Return for each id the states that it leads to from any base, whether or not the rows allow it."""
        found, seen, waiting = list[Int64Array](), np.ones(1, dtype=np.bool_), [0]
        # From most bases an id leads to the same base as from the one before.
        latest = np.full((2, len(self.word)), -1, dtype=np.int64)
        while waiting:
            budget.check_time()
            edges = self.streams.edges(waiting.pop())
            for last, part in zip(latest, (edges.free, edges.cut), strict=True):
                is_new = (part >= 0) & (part != last[edges.labels])
                ids, targets = edges.labels[is_new].astype(np.int64), part[is_new].astype(np.int64)
                last[ids] = targets
                found.append(targets * len(self.word) + ids)
                n_more = int(targets.max(initial=0)) + 1 - len(seen)
                seen = np.append(seen, np.zeros(max(n_more, 0), dtype=np.bool_))
                new = np.unique(targets[~seen[targets]])
                waiting += new.tolist()
                seen[new] = True
            if len(found) > _MOST_TOGETHER:
                found = [np.unique(np.concatenate(found))]
        bases, ids = np.divmod(np.unique(np.concatenate(found)), len(self.word))
        codes = bases * self.n_rows + self.streams.sets.row_of[ids]
        order = np.argsort(ids, kind="stable")
        begins = np.flatnonzero(np.append(True, np.diff(ids[order]) > 0))
        return {int(ids[group[0]]): codes[group].tolist() for group in np.split(order, begins[1:])}


class Reader:
    """The second tokenizer, as it reads bytes: tokens that end, and the bytes since the last one."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._ids: dict[bytes, list[int]] = {}
        for id in side.ordinary:
            self._ids.setdefault(side.word[id], []).append(id)
        self._prefixes = {word[:end] for word in self._ids for end in range(1, len(word))}
        self._suffixes = {word[begin:] for word in self._ids for begin in range(1, len(word))}
        self._known: dict[tuple[int, bytes, bytes], list[tuple[int, bytes, int]]] = {}

    def read(self, code: int, pending: bytes, data: bytes) -> list[tuple[int, bytes, int]]:
        """Return states and pending bytes after more bytes, each with the most tokens that end within them."""
        key = code, pending, data
        if key not in self._known:
            self._known[key] = self._finished(pending + data, len(pending), {0: {code: 0}})
        return self._known[key]

    def _words(self, data: bytes, begin: int, least: int) -> Iterator[tuple[int, list[int]]]:
        """Yield the ends and ids of the tokens within some bytes, from an index, that end after another one."""
        for end in range(begin + 1, len(data) + 1):
            word = data[begin:end]
            if end > least and word in self._ids:
                yield end, self._ids[word]
            if word not in self._prefixes:
                return

    def _finished(self, data: bytes, least: int, front: dict[int, dict[int, int]]) -> list[tuple[int, bytes, int]]:
        """Return the states at the end of bytes, from some states at indices of them, with the most tokens."""
        found: list[tuple[int, bytes, int]] = []
        for begin in range(len(data) + 1):
            here = front.pop(begin, {})
            for id, (code, count) in product(self._ids.get(b"", ()), [*here.items()]):
                # Labels without bytes, at the beginning of a text.
                target = self._side.step(code, id)
                if target is not None:
                    here[target] = max(count + 1, here.get(target, 0))
            rest = data[begin:]
            if not rest or rest in self._prefixes:
                found += [(code, rest, count) for code, count in here.items()]
            if not here:
                continue
            for end, ids in self._words(data, begin, least):
                after = front.setdefault(end, {})
                for id in ids:
                    for code, count in here.items():
                        target = self._side.step(code, id)
                        if target is not None:
                            after[target] = max(count + 1, after.get(target, 0))
        return found

    def read_anywhere(self, data: bytes, targets: dict[int, list[int]]) -> list[tuple[int, bytes, int]]:
        """Return the states after bytes that follow any text, where a whole token is in the bytes."""
        front: dict[int, dict[int, int]] = {}
        for begin in range(len(data)):
            if begin and data[:begin] not in self._suffixes:
                continue
            for end, ids in self._words(data, begin, 0):
                after = front.setdefault(end, {})
                for target in (target for id in ids for target in targets.get(id, ())):
                    after[target] = max(1 + (begin > 0), after.get(target, 0))
        return self._finished(data, 0, front)


class Found(NamedTuple):
    """A cycle of the product: the state of the first tokenizer where it begins, its ids, and tokens of the second."""

    state: int
    steps: list[int]
    counts: list[int]


_Node = tuple[int, int, bytes]
_START: _Node = (0, 0, b"")


class Product:
    """The product of the streams of two tokenizers over the bytes of their texts."""

    def __init__(self, first: Side, second: Side, budget: Budget) -> None:
        self._first, self._second, self._budget = first, second, budget
        self._reader = Reader(second)
        self.most: Int64Array = np.array([len(word) for word in first.word], dtype=np.int64)
        self.most[~first.streams.ordinary] = 0
        self._is_known = np.zeros(len(self.most), dtype=np.bool_)
        self._ends: dict[int, list[tuple[int, bytes, int]]] = {}

    def prepare(self) -> None:
        """Find the states after each id, for both tokenizers."""
        self._targets = self._first.all_targets(self._budget)
        self._targets_of_second = self._second.all_targets(self._budget)
        is_any = np.zeros_like(self._is_known)
        is_any[[*self._targets]] = True
        self.most[~is_any] = 0

    def _gaining(self, least: int) -> BoolArray:
        """Return the ids that may end more than `least` tokens of the second; every id may end one."""
        for id in np.flatnonzero((self.most > least) & ~self._is_known).tolist():
            self._budget.check_time()
            ends = self._reader.read_anywhere(self._first.word[id], self._targets_of_second)
            self._ends[id] = ends
            self.most[id] = max((count for _, _, count in ends), default=1)
            self.most[id] = max(self.most[id], 1)
            self._is_known[id] = True
        gaining: BoolArray = self.most > least
        return gaining

    @property
    def greatest(self) -> int:
        """The most tokens of the second that end within an id of the first, after any text, as far as is known."""
        # One without bytes may come first.
        return int(self.most.max(initial=1)) + self._second.has_empty

    def cycle(self, ratio: Fraction, *, from_start: bool = False) -> Found | None:
        """Return a cycle with more tokens of the second for each of the first than a ratio; None if there is none.

        Paths begin `from_start`, or in all states that an id may lead to; then the ratio is at least 1, and no text may
        lead to a cycle that is found.
        """
        top, bottom = ratio.numerator, ratio.denominator
        sums: dict[_Node, int] = {_START: 0} if from_start else self._roots(ratio)
        last: dict[_Node, tuple[_Node, int, int] | None] = dict.fromkeys(sums)
        queue = deque(sums)
        queued = {*queue}
        while queue:
            self._budget.check_time()
            node = queue.popleft()
            queued.discard(node)
            least = None if from_start else (top - sums[node]) // bottom - (node == _START and self._second.has_empty)
            for target, id, count in self._after(node, least):
                sum = sums[node] + (0 if id == RESET else bottom * count - top)
                if sum <= sums.get(target, sum - 1 if from_start else 0):
                    continue
                sums[target], last[target] = sum, (node, id, count)
                found = self._cycle_at(target, node, last)
                if found is not None:
                    return found
                if target not in queued:
                    queued.add(target)
                    queue.append(target)
        return None

    def texts(self, budget: Budget) -> Iterator[tuple[int, ...]]:
        """Yield the ids, of the first side, of texts that both may have: one for each state, the shortest first."""
        last: dict[_Node, tuple[int, ...]] = {_START: ()}
        queue = deque(last)
        while queue:
            budget.check_time()
            node = queue.popleft()
            for target, id, _ in self._after(node, None):
                if id == RESET:
                    yield last[node]
                elif target not in last:
                    last[target] = (*last[node], id)
                    queue.append(target)

    def _roots(self, ratio: Fraction) -> dict[_Node, int]:
        """Return the states after the ids that gain, following any text, with the greatest sums."""
        sums: dict[_Node, int] = {_START: 0}
        for id in np.flatnonzero(self._gaining(ratio.numerator // ratio.denominator)).tolist():
            for code, pending, count in self._ends[id]:
                sum = ratio.denominator * count - ratio.numerator
                for state in self._targets.get(id, ()) if sum > 0 else ():
                    node = state, code, pending
                    sums[node] = max(sum, sums.get(node, sum))
        return sums

    def _after(self, node: _Node, least: int | None) -> Iterator[tuple[_Node, int, int]]:
        """Yield the states after a state, with the id and the tokens that it ends, more than `least` of them."""
        state, code, pending = node
        if not pending and self._first.is_final(state) and self._second.is_final(code) and node != _START:
            yield _START, RESET, 0
        useful = self._first.streams.ordinary if least is None else self._gaining(least)
        for id in self._first.ways(state, useful):
            target = self._first.step(state, id)
            if target is not None:
                for after, rest, count in self._reader.read(code, pending, self._first.word[id]):
                    yield (target, after, rest), id, count

    @staticmethod
    def _cycle_at(node: _Node, before: _Node, last: dict[_Node, tuple[_Node, int, int] | None]) -> Found | None:
        """Return the cycle of last steps through a state, if there is one."""
        steps, counts = list[int](), list[int]()
        here: _Node | None = node
        while here is not None:
            step = last[here]
            if step is None:
                return None
            here = step[0]
            steps.append(step[1])
            counts.append(step[2])
            if here == node:
                return Found(node[0], steps[::-1], counts[::-1])
        return None
