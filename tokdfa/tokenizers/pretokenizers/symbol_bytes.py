"""Symbols byte by byte: the classes that a symbol may have after some of its bytes in UTF-8."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tokdfa.regex.utf8 import FIRST_LEADS, SymbolTries

__all__ = ["DONE", "NOWHERE", "SymbolBytes"]

NOWHERE: Final = 0
DONE: Final = -1
"""The targets of a byte that no symbol has there, and of one that ends a symbol."""


class SymbolBytes:
    """The bytes of the symbols of each class, read one at a time with the class assumed.

    `leads` has for each class and each first byte what may follow: NOWHERE, DONE, or a number for :meth:`follow`.
    """

    def __init__(self, class_of_code_point: npt.NDArray[np.integer[Any]], n_classes: int) -> None:
        self._followers: list[list[int]] = [[]]
        self._numbers: dict[tuple[int, ...], int] = {}
        tries = SymbolTries.of_classes(class_of_code_point)
        self.leads = []
        for wanted in range(n_classes):
            lead = [DONE if number == wanted else NOWHERE for number in class_of_code_point[:0x80].tolist()]
            lead += [NOWHERE] * 0x80
            for length, trie in tries.of_length.items():
                values = [DONE if number == wanted else NOWHERE for number in range(tries.no_symbol + 1)]
                for level in trie.levels:
                    values = [self._number([values[place] for place in row]) for row in level.tolist()]
                first = FIRST_LEADS[length]
                lead[first : first + len(trie.leads)] = [values[place] for place in trie.leads.tolist()]
            self.leads.append(lead)

    def _number(self, row: list[int]) -> int:
        if not any(row):
            return NOWHERE
        key = tuple(row)
        if key not in self._numbers:
            self._numbers[key] = len(self._followers)
            self._followers.append(row)
        return self._numbers[key]

    def follow(self, following: int, data: bytes) -> int:
        """Return what may follow after bytes that continue a symbol: DONE at its end, NOWHERE if they cannot."""
        for byte in data:
            if following <= NOWHERE:
                return NOWHERE
            following = self._followers[following][byte & 63]
        return following

    def followers(self, following: int) -> list[int]:
        """Return what may follow after each of the 64 bytes that continue a symbol."""
        return self._followers[following]

    def n_left(self, following: int) -> int:
        """Return the number of bytes after which a symbol ends."""
        count = 0
        while following > NOWHERE:
            following = next(after for after in self._followers[following] if after != NOWHERE)
            count += 1
        return count

    def n_read(self, wanted: int) -> dict[int, int]:
        """Return what may follow within symbols of a class, with the least number of bytes that precede it."""
        found: dict[int, int] = {}
        level, count = {after for after in self.leads[wanted] if after > NOWHERE}, 1
        while level:
            for following in level:
                found.setdefault(following, count)
            level = {after for row in level for after in self._followers[row] if after > NOWHERE} - found.keys()
            count += 1
        return found
