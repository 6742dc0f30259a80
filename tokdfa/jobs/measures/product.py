"""The product of the canonical streams of two tokenizers: pairs of streams of one text, the first one in front.

A text is `abcd`, with the streams ab·cd and a·bcd. The first side reads `ab`; the token `a` of the second one ends
within it, and `b` is pending. The first side reads `cd`, and `bcd` ends there. Now both have read the same bytes: this
state is shared. The labels from one shared state to the next are a unit of the two streams. A step counts the tokens of
the second side that end: 1 and 1.

Shared states have any of their rows unless they are kept: so there are few of them, but more paths than texts. A text
of a path must be encoded before it is believed; bounds over all paths hold for all texts. With `keeps_rows`, the paths
are those of the streams.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray
from tokdfa.base.budget import Budget
from tokdfa.jobs.measures.side import Side


class Node(NamedTuple):
    """A state of the product: those of both sides, the second one's at its last token that has ended."""

    a: int
    b: int
    pending: bytes  # The bytes that only the first side has read

    @property
    def is_shared(self) -> bool:
        """Whether both sides have read the same bytes."""
        return not self.pending


class Arc(NamedTuple):
    """A label of the first side that leads to a state, and the most tokens of the second side that end in it."""

    target: Node
    label: int
    n_ended: int


START = Node(0, 0, b"")
_MAX_FITTING = 1 << 26


class Product:
    """The product of the canonical streams of two tokenizers, from `START` on."""

    def __init__(self, a: Side, b: Side, budget: Budget, *, keeps_rows: bool = False) -> None:
        self.a, self.b, self.budget = a, b, budget
        self._keeps_rows = keeps_rows
        self._fitting: dict[bytes, BoolArray] = {}
        if not keeps_rows:
            a.find_rows(budget)
            b.find_rows(budget)

    def is_final(self, node: Node) -> bool:
        """Return whether a text may end in a state."""
        return node.is_shared and self.a.is_final(node.a) and self.b.is_final(node.b)

    def arcs(self, node: Node, useful: BoolArray | None = None) -> Iterator[Arc]:
        """Yield the arcs from a state, with labels that are `useful`."""
        if useful is None:
            useful = self._fits(node.pending)
        for label in self.a.ways(node.a, useful):
            self.budget.check_time()
            read = self.b.read(node.b, node.pending, self.a.words[label])
            for target in self.a.step(node.a, label) if read else ():
                for state, pending, count in read:
                    yield Arc(self._node(target, state, pending), label, count)

    def _fits(self, pending: bytes) -> BoolArray:
        """Return which labels of the first side the second one may read after pending bytes, in any state."""
        if pending not in self._fitting:
            if len(self._fitting) * len(self.a.words) > _MAX_FITTING:
                self._fitting.clear()
            found = self._fitting[pending] = np.zeros(len(self.a.words), dtype=np.bool_)
            for word, labels in self.a.labels.items():
                found[labels] = self.b.may_read(pending, word)
        return self._fitting[pending]

    def _node(self, a: int, b: int, pending: bytes) -> Node:
        if pending or self._keeps_rows:
            return Node(a, b, pending)
        return Node(self.a.with_any_row(a), self.b.with_any_row(b), pending)
