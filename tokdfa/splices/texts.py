"""The least texts of a language."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

import numpy as np

from tokdfa.splices.languages import Language

__all__ = ["iter_least"]

_MOST_WAITING = 100_000
_PER_CLASS = 30


def iter_least(language: Language, most: int) -> Iterator[str]:
    """Yield up to `most` texts of a language by their bytes, then in order; they have a few symbols of each class."""
    of = language.class_of_code_point.copy()
    of[0xD800:0xE000] = -1
    symbols: list[list[str]] = []
    for number in range(len(language.rows[0])):
        places = np.flatnonzero(of == number)
        symbols.append([chr(place) for place in places[:_PER_CLASS].tolist()])
    heap: list[tuple[int, bytes, int]] = [(0, b"", 0)]
    found = 0
    while heap and found < most and len(heap) < _MOST_WAITING:
        size, text, state = heappop(heap)
        if language.finals[state]:
            yield text.decode()
            found += 1
        for number, target in enumerate(language.rows[state]):
            if target >= 0:
                for symbol in symbols[number]:
                    data = symbol.encode()
                    heappush(heap, (size + len(data), text + data, target))
