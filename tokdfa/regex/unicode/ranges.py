"""Sets of code points as sorted tuples of disjoint ranges.

A set is a tuple of ascending pairs (first, last), both inclusive, that neither overlap nor touch, so equal sets are
equal tuples. The files of ``data/`` have distances and lengths of ranges, which `decode` reads.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import TypeAlias

Ranges: TypeAlias = tuple[tuple[int, int], ...]

LAST = 0x10FFFF
SURROGATES: Ranges = ((0xD800, 0xDFFF),)
SCALARS: Ranges = ((0, 0xD7FF), (0xE000, LAST))
"""All code points that UTF-8 can encode: all except the surrogates."""


def union(*sets: Iterable[tuple[int, int]]) -> Ranges:
    """Return the union of `sets`; their ranges may come in any order and overlap."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(pair for ranges in sets for pair in ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return tuple(merged)


def complement(ranges: Ranges, universe: Ranges = SCALARS) -> Ranges:
    """Return the code points of `universe` that are not in `ranges`."""
    edges = [(-1, -1), *ranges, (LAST + 1, LAST + 1)]
    gaps = tuple((left + 1, right - 1) for (_, left), (right, _) in pairwise(edges) if left + 1 < right)
    return intersection(gaps, universe)


def intersection(left: Ranges, right: Ranges) -> Ranges:
    """Return the code points that are in both sets."""
    common = []
    i = j = 0
    while i < len(left) and j < len(right):
        first, last = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if first <= last:
            common.append((first, last))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(common)


def difference(left: Ranges, right: Ranges) -> Ranges:
    """Return the code points of `left` that are not in `right`."""
    return complement(right, universe=left)


def contains(ranges: Ranges, code_point: int) -> bool:
    """Return whether `code_point` is in the set."""
    index = bisect_left(ranges, code_point, key=itemgetter(1))
    return index < len(ranges) and ranges[index][0] <= code_point


def characters_of(ranges: Ranges) -> Iterator[str]:
    """Yield the characters of a set."""
    return (chr(code) for first, last in ranges for code in range(first, last + 1))


def pattern_class(ranges: Ranges) -> str:
    """Return a set as written between the brackets of a regular expression."""
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


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
