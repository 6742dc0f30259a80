"""Cycles of the product of two tokenizers with more tokens of the second per token of the first than a given ratio.

Example: one tokenizer has a token of 16 spaces, the other one only single spaces. Then a text of spaces has 16 times as
many tokens of the other, and the greatest ratio is 16 or more.

The method is the one in `ratios`. But the product has too many states to list, so paths begin with the labels that end
more tokens of the second than the ratio, from all states at once: after any text, a label is taken to end as many
tokens as its bytes allow. Sums fall fast with other labels, so few pairs of states are reached.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tokdfa.automata.protocol import trace
from tokdfa.base.arrays import BoolArray, Int64Array
from tokdfa.jobs.measures.climbing import RESET
from tokdfa.jobs.measures.product import START, Arc, Node, Product
from tokdfa.jobs.measures.side import Reading


class Found(NamedTuple):
    """A cycle of the product: the state of the first tokenizer where it begins, its steps, and tokens of the second."""

    state: int
    steps: list[int]
    counts: list[int]


_Last = dict[Node, tuple[Node, Arc] | None]
"""The last step to each state, and the state before it; None where a path begins."""


class GainingCycles:
    """The cycles of a product that keeps its rows."""

    def __init__(self, product: Product) -> None:
        self._product, self._budget = product, product.budget
        streams = product.a.streams
        # The most tokens of the second that end within a label, after any text; its bytes until they are counted.
        self._most: Int64Array = np.where(streams.ordinary, streams.sizes, 0)
        self._is_known = np.zeros(len(self._most), dtype=np.bool_)
        self._ends: dict[int, list[Reading]] = {}

    def prepare(self) -> None:
        """Find the states after each label, for both tokenizers."""
        self._targets = self._product.a.all_targets(self._budget)
        self._targets_of_second = self._product.b.all_targets(self._budget)
        is_any = np.zeros_like(self._is_known)
        is_any[[*self._targets]] = True
        self._most[~is_any] = 0

    def _gaining(self, least: int) -> BoolArray:
        """Return the labels that may end more than `least` tokens of the second; every label may end one."""
        for label in np.flatnonzero((self._most > least) & ~self._is_known).tolist():
            self._budget.check_time()
            ends = self._ends[label] = self._product.b.read_anywhere(
                self._product.a.words[label], self._targets_of_second
            )
            self._most[label] = max([1, *(end.n_ended for end in ends)])
            self._is_known[label] = True
        gaining: BoolArray = self._most > least
        return gaining

    @property
    def greatest(self) -> int:
        """The most tokens of the second that end within a label of the first, after any text, as far as is known."""
        # One without bytes may come first.
        return int(self._most.max(initial=1)) + self._product.b.has_empty

    def cycle(self, ratio: Fraction, *, from_start: bool = False) -> Found | None:
        """Return a cycle with more tokens of the second for each of the first than a ratio; None if there is none.

        Paths begin `from_start`, or in all states that a label may lead to; then the ratio is at least 1, and no text
        may lead to a cycle that is found.
        """
        top, bottom = ratio.numerator, ratio.denominator
        sums = {START: 0} if from_start else self._roots(ratio)
        last: _Last = dict.fromkeys(sums)
        queue = deque(sums)
        queued = {*queue}
        while queue:
            self._budget.check_time()
            node = queue.popleft()
            queued.discard(node)
            useful = None
            if not from_start:
                useful = self._gaining((top - sums[node]) // bottom - (node == START and self._product.b.has_empty))
            for arc in self._after(node, useful):
                sum = sums[node] + (0 if arc.label == RESET else bottom * arc.n_ended - top)
                if sum <= sums.get(arc.target, sum - 1 if from_start else 0):
                    continue
                sums[arc.target], last[arc.target] = sum, (node, arc)
                found = _cycle_at(arc.target, last)
                if found is not None:
                    return found
                if arc.target not in queued:
                    queued.add(arc.target)
                    queue.append(arc.target)
        return None

    def _roots(self, ratio: Fraction) -> dict[Node, int]:
        """Return the states after the labels that gain, following any text, with the greatest sums."""
        sums = {START: 0}
        for label in np.flatnonzero(self._gaining(ratio.numerator // ratio.denominator)).tolist():
            for state, pending, count in self._ends[label]:
                sum = ratio.denominator * count - ratio.numerator
                for first in self._targets.get(label, ()) if sum > 0 else ():
                    node = Node(first, state, pending)
                    sums[node] = max(sum, sums.get(node, sum))
        return sums

    def _after(self, node: Node, useful: BoolArray | None) -> Iterator[Arc]:
        """Yield the arcs from a state; after the end of a text, another one may begin."""
        if node != START and self._product.is_final(node):
            yield Arc(START, RESET, 0)
        yield from self._product.arcs(node, useful)


def texts_of(product: Product) -> Iterator[tuple[int, ...]]:
    """Yield the labels, of the first side, of texts that both may have: one for each state, the shortest first."""
    before: dict[Node, tuple[Node, int]] = {}
    for node in (queue := [START]):  # It grows while it is iterated over.
        if node != START and product.is_final(node):
            yield tuple(trace(before, node))
        for target, label, _ in product.arcs(node):
            if target != START and target not in before:
                before[target] = node, label
                queue.append(target)


def _cycle_at(node: Node, last: _Last) -> Found | None:
    """Return the cycle of last steps through a state, if there is one."""
    steps, counts = list[int](), list[int]()
    here = node
    while (step := last[here]) is not None:
        here, arc = step
        steps.append(arc.label)
        counts.append(arc.n_ended)
        if here == node:
            return Found(node.a, steps[::-1], counts[::-1])
    return None
