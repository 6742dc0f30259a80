"""Non-iterative BPE: every merge that a text could have, counted at once, and the most frequent ones taken."""

from __future__ import annotations

from tokdfa.errors import LimitExceededError
from tokdfa.training.merges import Merge

__all__ = ["possible_merges", "train_noniterative"]

# Bracketings of a window grow as Catalan numbers: 1, 2, 5, 14, 42, 132, 429 for 2, 3, … symbols.
_WIDEST = 10


def possible_merges(text: str, width: int) -> dict[Merge, int]:
    """Return every merge whose yield has up to `width` symbols and occurs in `text`, with the number of occurrences.

    They come in the order in which a scan that extends what ends at each symbol finds them, so that the parts of a
    merge come before it.

    Raises
    ------
    LimitExceededError
        If the width is more than 10.

    Notes
    -----
    *A Formal Perspective on Byte-Pair Encoding*, appendix B.2.
    """
    if width > _WIDEST:
        raise LimitExceededError("too many merges have yields so wide", value=width, hint=f"{_WIDEST} at most")
    counts: dict[Merge, int] = {}
    # For each place, the trees that end there with where they begin, the longest first.
    ending: list[list[tuple[Merge, int]]] = [[]]
    for end, symbol in enumerate(text, 1):
        trees: list[tuple[Merge, int]] = [(symbol, end - 1)]
        for tree, start in trees:  # grows during the loop
            for left, first in ending[start]:
                if end - first <= width:
                    merge: Merge = (left, tree)
                    counts[merge] = counts.get(merge, 0) + 1
                    trees.append((merge, first))
        ending.append(sorted(trees, key=lambda item: item[1]))
    return counts


def train_noniterative(text: str, merges: int, *, width: int = 5) -> tuple[Merge, ...]:
    """Return the most frequent merges of up to `width` symbols.

    They form a valid sequence: the parts of a merge occur at least as often as it does, and come before it among those
    of one frequency.

    Notes
    -----
    *A Formal Perspective on Byte-Pair Encoding*, appendix B.2. On a^{wn} it needs n units at best, however many merges
    it may make, where the greedy trainer halves them with every further merge.
    """
    counts = possible_merges(text, width)
    order = sorted(counts, key=lambda merge: -counts[merge])
    return tuple(order[:merges])
