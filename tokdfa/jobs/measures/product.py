"""The product of the canonical streams of two tokenizers: pairs of streams of one text, read label by label.

A text is `abcd`, with the streams ab·cd and a·bcd. The product reads `ab` and `a` first. The second stream is behind
by `b`, so it reads next: `bcd` puts it ahead by `cd`, which is the next id of the first stream. Now both have read the
same bytes: this state is shared. The labels from one shared state to the next are a unit of the two streams. Labels
without bytes, such as the first `▁` of Llama-2, which decoding removes, are read alone.

A state has the states of both automata, the bytes that one of them is behind, and which of them reads next. In shared
states only the bases are kept, with all rows that either stream may have there: so there are few of them, but more
paths than texts. A text of a path must be encoded before it is believed; bounds over all paths hold for all texts.
With `keeps_rows`, shared states have their rows, and the paths are those of the streams.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.base.budget import Budget
from tokdfa.jobs.measures.climbing import reach
from tokdfa.jobs.measures.paths import paths_of
from tokdfa.jobs.measures.streams import Streams

ANY = -1
"""The row of shared states: any that a stream may have with the base."""

NONE = -1
"""The label of a side that reads nothing."""


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
    """The labels that lead to a state: one of each side from a shared state, one of the side behind from others."""

    target: Node
    label_a: int
    label_b: int


START = Node(0, 0, 0, 0, b"", 0)


class Side:
    """The canonical streams of one tokenizer, with the labels by their words."""

    def __init__(self, streams: Streams) -> None:
        self.streams, self.words = streams, streams.words
        self.labels: dict[bytes, list[int]] = {}
        for label in np.flatnonzero(streams.ordinary).tolist():
            self.labels.setdefault(self.words[label], []).append(label)
        listed = sorted((word, label) for word, labels in self.labels.items() for label in labels)
        self._sorted = [word for word, _ in listed]
        self._labels = np.array([label for _, label in listed], dtype=np.int32)
        self._fitting: dict[bytes, Int32Array] = {}

    def fitting(self, rest: bytes) -> Int32Array:
        """Return the labels with words that begin with some bytes, or that these bytes begin with."""
        if rest not in self._fitting:
            spans = [self._span(rest[:length], rest[:length] + b"\0") for length in range(len(rest))]
            spans.append((bisect_left(self._sorted, rest), self._end(rest)))
            self._fitting[rest] = np.concatenate([self._labels[low:high] for low, high in spans])
        return self._fitting[rest]

    def _span(self, first: bytes, behind: bytes) -> tuple[int, int]:
        return bisect_left(self._sorted, first), bisect_left(self._sorted, behind)

    def _end(self, rest: bytes) -> int:
        """Return the index after the words that begin with some bytes."""
        following = rest.rstrip(b"\xff")
        if not following:
            return len(self._sorted)
        return bisect_left(self._sorted, following[:-1] + bytes((following[-1] + 1,)))

    def any_after(self, base: int, rows: Int64Array) -> tuple[Int32Array, Int32Array]:
        """Return the bases to which each label leads from any of some rows, without and with a boundary, or -1."""
        edges = self.streams.edges(base)
        n_forbidding = self.streams.sets.count_forbidding(edges.position, rows)
        found = np.full((2, len(self.words)), -1, dtype=np.int32)
        for way, targets, reached in ((0, edges.free, n_forbidding < len(rows)), (1, edges.cut, n_forbidding > 0)):
            found[way, edges.labels] = np.where(reached, targets, -1)
        return found[0], found[1]


class Product:
    """The product of the canonical streams of two tokenizers, from `START` on."""

    def __init__(self, a: Side, b: Side, budget: Budget, *, keeps_rows: bool = False) -> None:
        self.a, self.b = self.sides = a, b
        self._budget, self._keeps_rows = budget, keeps_rows
        # The states of both sides that streams reach, for rows that are not kept.
        self._states = [] if keeps_rows else [reach(paths_of(side.streams, budget)).codes for side in self.sides]
        self._equal, self._fitting = self._fitting_pairs()

    def is_final(self, node: Node) -> bool:
        """Return whether a text may end in a state."""
        return node.is_shared and self.a.streams.is_final(node.base_a) and self.b.streams.is_final(node.base_b)

    def arcs(self, node: Node) -> Iterator[Arc]:
        """Yield the arcs from a state; of those from a shared state to a shared one, the longest for each target."""
        self._budget.check_time()
        if node.is_shared:
            yield from self._from_shared(node)
            return
        side = self.sides[node.behind]
        base, row = (node.base_a, node.row_a) if node.behind == 0 else (node.base_b, node.row_b)
        labels = side.fitting(node.rest)
        targets = side.streams.after(base, row, labels)
        kept = np.flatnonzero(targets >= 0)
        rows = side.streams.sets.row_of[labels[kept]].tolist()
        for label, target, row_after in zip(labels[kept].tolist(), targets[kept].tolist(), rows, strict=True):
            if node.behind == 0:
                states = target, row_after, node.base_b, node.row_b
                yield Arc(self._node(states, side.words[label], node.rest), label, NONE)
            else:
                states = node.base_a, node.row_a, target, row_after
                yield Arc(self._node(states, node.rest, side.words[label]), NONE, label)

    def _node(self, states: tuple[int, int, int, int], a: bytes, b: bytes) -> Node:
        """Return the state after both sides have read some bytes, beginning at the same offset."""
        if len(a) == len(b):
            rows = (states[1], states[3]) if self._keeps_rows else (ANY, ANY)
            return Node(states[0], rows[0], states[2], rows[1], b"", 0)
        return Node(*states, b[len(a) :], 0) if len(a) < len(b) else Node(*states, a[len(b) :], 1)

    def _from_shared(self, node: Node) -> Iterator[Arc]:
        """Yield the arcs from a shared state, with a label of each side, or one without bytes."""
        row_a, row_b = (side.streams.sets.row_of for side in self.sides)
        base_a, base_b = node.base_a, node.base_b
        all_to_a, all_to_b = self._after(0, base_a, node.row_a), self._after(1, base_b, node.row_b)
        for a in self.a.labels.get(b"", ()):
            for to_a in (to[a] for to in all_to_a if to[a] >= 0):
                yield Arc(self._node((int(to_a), int(row_a[a]), base_b, node.row_b), b"", b""), a, NONE)
        for b in self.b.labels.get(b"", ()):
            for to_b in (to[b] for to in all_to_b if to[b] >= 0):
                yield Arc(self._node((base_a, node.row_a, int(to_b), int(row_b[b])), b"", b""), NONE, b)
        for to_a, to_b in product(all_to_a, all_to_b):
            yield from self._pairs(to_a, to_b)

    def _after(self, side: int, base: int, row: int) -> list[Int32Array]:
        """Return for each label of a side the bases to which it leads in a shared state; one array or two."""
        first = base * self.sides[side].streams.n_rows
        rows = np.array([row], dtype=np.int64)
        if row == ANY:
            low, high = np.searchsorted(self._states[side], (first, first + self.sides[side].streams.n_rows))
            rows = self._states[side][low:high] - first
        return [targets for targets in self.sides[side].any_after(base, rows) if (targets >= 0).any()]

    def _pairs(self, to_a: Int32Array, to_b: Int32Array) -> Iterator[Arc]:
        """Yield the arcs from a shared state with a label of each side, given the bases to which labels lead."""
        row_a, row_b = (side.streams.sets.row_of for side in self.sides)
        a, b = (labels[(to_a[self._equal[0]] >= 0) & (to_b[self._equal[1]] >= 0)] for labels in self._equal)
        targets = [to_a[a], to_b[b], *([row_a[a], row_b[b]] if self._keeps_rows else [])]
        # The longest words come first.
        _, first = np.unique(np.stack(targets), axis=1, return_index=True)
        fits = np.flatnonzero((to_a[self._fitting[0]] >= 0) & (to_b[self._fitting[1]] >= 0))
        a, b = np.append(a[first], self._fitting[0][fits]), np.append(b[first], self._fitting[1][fits])
        states = np.stack((to_a[a], row_a[a], to_b[b], row_b[b]), axis=1).tolist()
        for label_a, label_b, state in zip(a.tolist(), b.tolist(), states, strict=True):
            yield Arc(self._node(tuple(state), self.a.words[label_a], self.b.words[label_b]), label_a, label_b)

    def _fitting_pairs(self) -> tuple[Int64Array, Int64Array]:
        """Return the pairs of labels with equal words, the longest first, and those where one word begins the other.

        Each is an array of shape (2, pairs): the labels of both sides. Words without bytes are in none.
        """
        of_a, of_b = self.a.labels, self.b.labels
        common = sorted((of_a.keys() & of_b.keys()) - {b""}, key=len, reverse=True)
        equal = [pair for word in common for pair in product(of_a[word], of_b[word])]
        fitting = [
            pair
            for mine, theirs, order in ((of_a, of_b, 1), (of_b, of_a, -1))
            for word, labels in mine.items()
            for length in range(1, len(word))
            for other in theirs.get(word[:length], ())
            for pair in [(label, other)[::order] for label in labels]
        ]
        both = [np.array(pairs, dtype=np.int64).reshape(-1, 2).T for pairs in (equal, fitting)]
        return both[0], both[1]
