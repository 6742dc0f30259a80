"""Non-iterative BPE: count every merge that a text could have at once, and take the most frequent ones."""

from __future__ import annotations

from tokdfa.errors import LimitExceededError
from tokdfa.training.merges import Merge

__all__ = ["possible_merges", "train_noniterative"]

# Bracketings of a window grow as Catalan numbers: 1, 2, 5, 14, 42, 132, 429 for 2, 3, … symbols.
_WIDEST = 10


def possible_merges(text: str, width: int) -> dict[Merge, int]:
    """Return every merge whose yield has up to `width` symbols and occurs in `text`, with the number of occurrences.

    They come in the order in which a scan finds them that extends the merges ending at each symbol, so the parts of a
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
        raise LimitExceededError("too many merges have a yield of this length", value=width, hint=f"{_WIDEST} at most")
    counts: dict[Merge, int] = {}
    # The trees that end at each place, with the places where they begin, longest first.
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

    They form a valid sequence: the parts of a merge occur at least as often as the merge, and come before it among
    merges of equal frequency.

    Notes
    -----
    *A Formal Perspective on Byte-Pair Encoding*, appendix B.2. On a^{wn} it needs n units at best, whatever the number
    of merges, while the greedy trainer halves the units with every further merge.
    """
    counts = possible_merges(text, width)
    order = sorted(counts, key=lambda merge: -counts[merge])
    return tuple(order[:merges])
