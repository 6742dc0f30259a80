"""How sets of code points are written in the files of ``data/``: as distances and lengths of ranges."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from tokdfa.unicode.ranges import Ranges

__all__ = ["decode", "encode"]


def encode(code_points: Iterable[int]) -> list[int]:
    """Return a set as alternating distances between ranges and lengths of ranges."""
    deltas: list[int] = []
    end = 0
    for code in sorted(code_points):
        if deltas and code == end:
            deltas[-1] += 1
        else:
            deltas += [code - end, 1]
        end = code + 1
    return deltas


def decode(deltas: list[int]) -> Ranges:
    """Return the set that is written so."""
    edges = list(accumulate(deltas))
    return tuple((first, end - 1) for first, end in zip(edges[::2], edges[1::2], strict=True))
