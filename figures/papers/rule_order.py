"""The order that 15 merges need: each is above the merges that must come right after it.

The merges that *BPE algorithm* trains on low, lower, newest and widest; see the page *Theorems*. A word ends with _.
"""

from __future__ import annotations

from tokdfa import Dictionary, RuleOrder
from tokdfa.draw.graph import Graph
from tokdfa.draw.render import to_svg
from tokdfa.draw.trie import order_graph

MERGES = "e s, es t, est _, l o, lo w, n e, ne w, new est_, low _, w i, wi d, wid est_, low e, lowe r, lower _"


def order() -> RuleOrder:
    """Return the order of the fifteen merges."""
    left_and_right = (merge.split() for merge in MERGES.split(", "))
    return RuleOrder(Dictionary((left, right) for left, right in left_and_right))


def graph() -> Graph:
    """Return the picture."""
    return order_graph(order())


def draw() -> str:
    """Return it as SVG."""
    return to_svg(graph())
