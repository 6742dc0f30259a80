"""Texts in which two segmentations have sums so near that the rounding of scores decides between them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from heapq import nsmallest
from itertools import product

from tokdfa.tokenizers.normalizers.sentencepiece import SPACE

# Characters that move from one piece to the next; and the nearest pairs that are tried, after so many words.
_LONGEST_MOVED = 3
_MOST_TEXTS = 200
_N_WORDS = (0, 1, 4, 16, 64, 256)


def texts_of_near_sums(scores: Mapping[str, float]) -> Iterator[str]:
    r"""Yield texts of two pieces that are also two others, with nearly the same sum, alone and after other words.

    Examples
    --------
    >>> scores = {"a": -1.0, "ab": -2.0, "c": -3.0, "bc": -4.00001, "abc": -9.0}
    >>> [*texts_of_near_sums(scores)][:2]
    ['abc', 'a abc']
    """
    # "ab" + "c" or "a" + "bc": how much the first piece loses with "b", and how much the second gains.
    losing: dict[str, list[tuple[float, str]]] = {}
    gaining: list[tuple[str, float, str]] = []
    for piece, score in scores.items():
        for size in range(1, min(_LONGEST_MOVED, len(piece) - 1) + 1):
            if (shorter := piece[:-size]) in scores:
                losing.setdefault(piece[-size:], []).append((score - scores[shorter], piece))
            if (shorter := piece[size:]) in scores:
                gaining.append((piece[:size], score - scores[shorter], shorter))
    for rows in losing.values():
        rows.sort()
    near: list[tuple[float, str]] = []
    for moved, gain, rest in gaining:
        rows = losing.get(moved, [])
        at = bisect_left(rows, (gain, ""))
        near += ((abs(lost - gain), first + rest) for lost, first in rows[max(at - 1, 0) : at + 1] if lost != gain)
    word = min((piece for piece in scores if piece.isalpha()), key=len, default="a")
    for (_, text), n in product(nsmallest(_MOST_TEXTS, near), _N_WORDS):
        yield f"{word} " * n + text.replace(SPACE, " ").strip()
