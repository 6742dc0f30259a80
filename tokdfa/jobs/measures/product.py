"""The product of the canonical streams of two tokenizers: pairs of streams of one text, read id by id.

A text is `abcd`, with the streams ab·cd and a·bcd. The product reads `ab` and `a` first. The second stream is behind
by `b`, so it reads next: `bcd` puts it ahead by `cd`, which is the next id of the first stream. Now both have read the
same bytes: this state is shared. The ids from one shared state to the next are a unit of the two streams.

A state has the states of both automata, the bytes that one of them is behind, and which of them reads next. In shared
states only the bases are kept, with all rows that either stream may have there: so there are few of them, but more
paths than texts. A text of a path must be encoded before it is believed; bounds over all paths hold for all texts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.base.budget import Budget
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.measures.of_tokenizers import streams_of
from tokdfa.jobs.measures.streams import Streams
from tokdfa.tokenizers.protocol import AnyTokenizer

ANY = -1
"""The row of shared states: any that a stream may have with the base."""

NONE = -1
"""The id of a side that reads nothing."""


class Node(NamedTuple):
    """A state of the product."""

    base_a: int
    row_a: int
    base_b: int
    row_b: int
    rest: bytes  # The bytes that one side is behind; empty in shared states
    behind: int  # Which side that is: 0 or 1

    @property
    def is_shared(self) -> bool:
        """Whether both sides have read the same bytes."""
        return not self.rest


class Arc(NamedTuple):
    """The ids that lead to a state: one of each side from a shared state, one of the side behind from others."""

    target: Node
    id_a: int
    id_b: int


START = Node(0, ANY, 0, ANY, b"", 0)


class Side:
    """The canonical streams of one tokenizer, with the words of its ids."""

    def __init__(self, tokenizer: AnyTokenizer) -> None:
        self.streams: Streams = streams_of(tokenizer)
        if len(self.streams.ids) != tokenizer.n_ids:
            what = "the length of units is not known of ids that spell other bytes at the beginning of a text"
            raise UnsupportedFeatureError(what, value=tokenizer.algorithm)
        self.words, self.lengths = self.streams.words, self.streams.sizes
        ids = np.flatnonzero(self.streams.ordinary)
        listed = sorted((self.words[id], id) for id in ids.tolist() if self.words[id])
        self._sorted = [word for word, _ in listed]
        self._ids = np.array([id for _, id in listed], dtype=np.int32)
        self._fitting: dict[bytes, Int32Array] = {}

    def fitting(self, rest: bytes) -> Int32Array:
        """Return the ids with words that begin with some bytes, or that these bytes begin with."""
        if rest not in self._fitting:
            spans = [self._span(rest[:length], rest[:length] + b"\0") for length in range(1, len(rest))]
            spans.append((bisect_left(self._sorted, rest), self._end(rest)))
            self._fitting[rest] = np.concatenate([self._ids[low:high] for low, high in spans])
        return self._fitting[rest]

    def _span(self, first: bytes, behind: bytes) -> tuple[int, int]:
        return bisect_left(self._sorted, first), bisect_left(self._sorted, behind)

    def _end(self, rest: bytes) -> int:
        """Return the index after the words that begin with some bytes."""
        following = rest.rstrip(b"\xff")
        return bisect_left(self._sorted, following[:-1] + bytes((following[-1] + 1,))) if following else len(self._ids)

    def rows_by_base(self, budget: Budget) -> dict[int, Int64Array]:
        """Return the rows of the states with each base that streams reach."""
        streams = self.streams
        known: dict[int, set[int]] = {0: {0}}
        waiting = [0]
        while waiting:
            base = waiting.pop()
            budget.check_time()
            free, cut = self.any_after(base, np.array([*known[base]], dtype=np.int64))
            for targets in (free, cut):
                rows = streams.sets.row_of.astype(np.int64)
                pairs = np.unique((targets.astype(np.int64) * streams.n_rows + rows)[targets >= 0])
                for target in np.unique(pairs // streams.n_rows).tolist():
                    mine = {*(pairs[pairs // streams.n_rows == target] % streams.n_rows).tolist()}
                    if not mine <= known.setdefault(target, set()):
                        known[target] |= mine
                        waiting.append(target)
        return {base: np.array(sorted(rows), dtype=np.int64) for base, rows in known.items()}

    def any_after(self, base: int, rows: Int64Array) -> tuple[Int32Array, Int32Array]:
        """Return for each id the bases to which it leads from any of some rows, without and with a boundary; or -1."""
        edges = self.streams.edges(base)
        n_forbidding = self.streams.sets.count_forbidding(edges.position, rows)
        found = np.full((2, len(self.words)), -1, dtype=np.int32)
        for way, targets, reached in ((0, edges.free, n_forbidding < len(rows)), (1, edges.cut, n_forbidding > 0)):
            found[way, edges.labels] = np.where(reached, targets, -1)
        return found[0], found[1]


class Product:
    """The product of the canonical streams of two tokenizers, from `START` on."""

    def __init__(self, tok_a: AnyTokenizer, tok_b: AnyTokenizer, budget: Budget) -> None:
        self.a, self.b = self.sides = Side(tok_a), Side(tok_b)
        self._budget = budget
        self._rows = [side.rows_by_base(budget) for side in self.sides]
        self._equal, self._fitting = self._fitting_pairs()

    def is_final(self, node: Node) -> bool:
        """Return whether a text may end in a state."""
        return node.is_shared and self.a.streams.is_final(node.base_a) and self.b.streams.is_final(node.base_b)

    def arcs(self, node: Node) -> Iterator[Arc]:
        """Yield the arcs from a state; of those from a shared state to a shared one, the longest for each target."""
        self._budget.check_time()
        if node.is_shared:
            yield from self._from_shared(node.base_a, node.base_b)
            return
        side = self.sides[node.behind]
        base, row = (node.base_a, node.row_a) if node.behind == 0 else (node.base_b, node.row_b)
        ids = side.fitting(node.rest)
        targets = side.streams.after(base, row, ids)
        kept = np.flatnonzero(targets >= 0)
        rows = side.streams.sets.row_of[ids[kept]].tolist()
        for id, target, row_after in zip(ids[kept].tolist(), targets[kept].tolist(), rows, strict=True):
            if node.behind == 0:
                states = target, row_after, node.base_b, node.row_b
                yield Arc(self._node(states, side.words[id], node.rest), id, NONE)
            else:
                states = node.base_a, node.row_a, target, row_after
                yield Arc(self._node(states, node.rest, side.words[id]), NONE, id)

    @staticmethod
    def _node(states: tuple[int, int, int, int], a: bytes, b: bytes) -> Node:
        """Return the state after both sides have read some bytes, beginning at the same offset."""
        if len(a) == len(b):
            return Node(states[0], ANY, states[2], ANY, b"", 0)
        return Node(*states, b[len(a) :], 0) if len(a) < len(b) else Node(*states, a[len(b) :], 1)

    def _from_shared(self, base_a: int, base_b: int) -> Iterator[Arc]:
        """Yield the arcs from a shared state, with an id of each side."""
        row_a, row_b = (side.streams.sets.row_of for side in self.sides)
        for to_a in self.a.any_after(base_a, self._rows[0][base_a]):
            for to_b in self.b.any_after(base_b, self._rows[1][base_b]):
                ids_a, ids_b = (ids[(to_a[self._equal[0]] >= 0) & (to_b[self._equal[1]] >= 0)] for ids in self._equal)
                # The longest words come first.
                _, first = np.unique(np.stack((to_a[ids_a], to_b[ids_b])), axis=1, return_index=True)
                for a, b in zip(ids_a[first].tolist(), ids_b[first].tolist(), strict=True):
                    yield Arc(Node(int(to_a[a]), ANY, int(to_b[b]), ANY, b"", 0), a, b)
                ids_a, ids_b = self._fitting
                kept = np.flatnonzero((to_a[ids_a] >= 0) & (to_b[ids_b] >= 0))
                for a, b in zip(ids_a[kept].tolist(), ids_b[kept].tolist(), strict=True):
                    states = int(to_a[a]), int(row_a[a]), int(to_b[b]), int(row_b[b])
                    yield Arc(self._node(states, self.a.words[a], self.b.words[b]), a, b)

    def _fitting_pairs(self) -> tuple[Int64Array, Int64Array]:
        """Return the pairs of ids with equal words, the longest first, and the pairs where one word begins the other.

        Each is an array of shape (2, pairs): the ids of both sides.
        """
        ids_of: list[dict[bytes, list[int]]] = [{}, {}]
        for side, found in zip(self.sides, ids_of, strict=True):
            for id in np.flatnonzero(side.streams.ordinary).tolist():
                found.setdefault(side.words[id], []).append(id)
        common = sorted(ids_of[0].keys() & ids_of[1].keys(), key=len, reverse=True)
        equal = [pair for word in common for pair in product(ids_of[0][word], ids_of[1][word])]
        fitting = [
            pair
            for mine, theirs, order in ((ids_of[0], ids_of[1], 1), (ids_of[1], ids_of[0], -1))
            for word, ids in mine.items()
            for length in range(1, len(word))
            for other in theirs.get(word[:length], ())
            for pair in [(id, other)[::order] for id in ids]
        ]
        both = [np.array(pairs, dtype=np.int64).reshape(-1, 2).T for pairs in (equal, fitting)]
        return both[0], both[1]
