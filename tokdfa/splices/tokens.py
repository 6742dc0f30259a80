"""The tokens of a tokenizer as words over bytes, and which of them may be neighbours within a piece."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.tokenizers.neighbours import Neighbours
from tokdfa.unicode.utf8 import BYTES_OF_UTF8

__all__ = ["ByteTokens", "Tokens"]


class Tokens(ABC):
    """The tokens that merging gives, in the order of their words.

    Parameters
    ----------
    words : sequence of bytes
        The words, ascending.

    Attributes
    ----------
    words : list of bytes
    kinds : list of int
        The kind of each token; tokens of one kind have the same tokens after them.
    """

    def __init__(self, words: Sequence[bytes], kinds: list[int]) -> None:
        self.words = list(words)
        self.kinds = kinds

    @abstractmethod
    def forbidden(self, kind: int, tokens: Int64Array) -> BoolArray:
        """Return, for each of these tokens, whether it never follows a token of this kind within a piece."""


class ByteTokens(Tokens):
    """The tokens of a dictionary over bytes.

    Parameters
    ----------
    of : Neighbours
    """

    def __init__(self, of: Neighbours) -> None:
        numbers = [n for n in of.live.tolist() if of.ids[n] >= 0 and BYTES_OF_UTF8.issuperset(of.words[n])]
        numbers.sort(key=of.words.__getitem__)
        rows = of.rows
        super().__init__([of.words[n] for n in numbers], rows.of_token[numbers].tolist())
        self._position: Int32Array = of.position[numbers]
        self._pointer = rows.pointer
        self._start, self._stop = rows.start, rows.stop

    def forbidden(self, kind: int, tokens: Int64Array) -> BoolArray:
        """Return, for each of these tokens, whether it never follows a token of this kind within a piece."""
        begin, end = self._pointer[kind], self._pointer[kind + 1]
        place = self._position[tokens]
        start, stop = self._merged(kind) if end - begin > 1 else (self._start[begin:end], self._stop[begin:end])
        if not len(start):
            return np.zeros(len(tokens), dtype=np.bool_)
        index = np.searchsorted(start, place, side="right") - 1
        found: BoolArray = (index >= 0) & (place < stop[index])
        return found

    @cached_property
    def _rows(self) -> dict[int, tuple[Int32Array, Int32Array]]:
        return {}

    def _merged(self, kind: int) -> tuple[Int32Array, Int32Array]:
        """Return the intervals of a row, ascending and apart from each other."""
        if kind not in self._rows:
            begin, end = self._pointer[kind], self._pointer[kind + 1]
            start, stop = self._start[begin:end], self._stop[begin:end]
            order = np.argsort(start, kind="stable")
            start, reach = start[order], np.maximum.accumulate(stop[order])
            begins = np.append(True, start[1:] > reach[:-1])
            last = np.append(np.flatnonzero(begins)[1:], len(start)) - 1
            self._rows[kind] = start[begins], reach[last]
        return self._rows[kind]


def walk(words: list[bytes], low: int, high: int, depth: int) -> Iterator[tuple[int, int, int]]:
    """Yield the bytes at a depth of sorted words that agree before it, with the first such word and the one past it."""
    while low < high:
        word = words[low]
        if len(word) == depth:
            low += 1
            continue
        byte = word[depth]
        # A gallop, and then a bisection.
        step, until = 1, low + 1
        while until < high and words[until][depth] == byte:
            low_known, step = until, step * 2
            until = low_known + step
        left, right = low + 1, min(until, high)
        while left < right:
            middle = (left + right) // 2
            if words[middle][depth] == byte:
                left = middle + 1
            else:
                right = middle
        yield byte, low, left
        low = left
