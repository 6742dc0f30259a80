"""The tokens of a tokenizer as words over bytes, and which of them may be neighbours within a piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import cast

import numpy as np

from tokdfa.alphabet import Word
from tokdfa.arrays import BoolArray, Int32Array, IntegerArray, running_sum
from tokdfa.errors import UnsupportedFeatureError
from tokdfa.splices.rewrites import Rewrites, Symbols
from tokdfa.tokenizers.neighbours import Neighbours
from tokdfa.unicode.byte_alphabet import BYTE_OF
from tokdfa.unicode.utf8 import BYTES_OF_UTF8

__all__ = ["Tokens", "byte_tokens", "character_tokens", "walk"]


class Tokens:
    """The tokens that merging gives, as bytes of the texts that they represent, in order.

    Parameters
    ----------
    words : sequence of bytes
        The texts of the tokens.
    numbers : int32 array
        The numbers of the tokens in `of`.
    of : Neighbours
    unknown : sequence of bytes
        Characters without a symbol, which never merge.
    fuses : bool
        Whether several of these side by side become one.

    Attributes
    ----------
    words : list of bytes
    kinds : list of int
        The kind of each token; tokens of one kind have the same tokens after them.
    fuses : bool
    """

    def __init__(
        self,
        words: Sequence[bytes],
        numbers: Int32Array,
        of: Neighbours,
        unknown: Sequence[bytes] = (),
        *,
        fuses: bool = False,
    ) -> None:
        every = [*words, *unknown]
        order = sorted(range(len(every)), key=every.__getitem__)
        rows = of.rows
        n_rows = len(rows.pointer) - 1
        no_place = np.full(len(unknown), -1, dtype=np.int32)
        self.words = [every[place] for place in order]
        kinds = np.concatenate((rows.of_token[numbers], np.full(len(unknown), n_rows, dtype=np.int32)))
        self.kinds: list[int] = kinds[order].tolist()
        self._position: Int32Array = np.concatenate((of.position[numbers], no_place))[order]
        self._pointer = np.append(rows.pointer, rows.pointer[-1:])
        self._start, self._stop = rows.start, rows.stop
        self.fuses = fuses
        self._unknown = n_rows

    def forbidden(self, kind: int, tokens: IntegerArray) -> BoolArray:
        """Return, for each of these tokens, whether it never follows a token of this kind within a piece."""
        begin, end = self._pointer[kind], self._pointer[kind + 1]
        place = self._position[tokens]
        start, stop = self._merged(kind) if end - begin > 1 else (self._start[begin:end], self._stop[begin:end])
        if not len(start):
            return np.zeros(len(tokens), dtype=np.bool_)
        index = np.searchsorted(start, place, side="right") - 1
        found: BoolArray = (index >= 0) & (place < stop[index])
        return found

    def joined(self, kind: int, tokens: IntegerArray) -> BoolArray:
        """Return, for each of these tokens, whether it becomes another one after a token of this kind in a piece."""
        if self.fuses and kind == self._unknown:
            unknown: BoolArray = self._position[tokens] < 0
            return unknown
        return self.forbidden(kind, tokens)

    def may_join(self, kinds: Iterable[int], tokens: Sequence[int]) -> bool:
        """Return whether one of these tokens becomes another one after a token of one of these kinds in a piece."""
        every = np.array(sorted(kinds), dtype=np.int64)
        places = np.sort(self._position[np.array(tokens, dtype=np.int64)])
        if self.fuses and self._unknown in every and len(places) and places[0] < 0:
            return True
        counts = (self._pointer[every + 1] - self._pointer[every]).astype(np.int64)
        if not len(places) or not counts.sum():
            return False
        # The intervals of the rows, one after the other.
        offsets = np.repeat(self._pointer[every] - running_sum(counts)[:-1], counts)
        intervals = np.arange(len(offsets)) + offsets
        first = np.searchsorted(places, self._start[intervals])
        last = np.searchsorted(places, self._stop[intervals])
        return bool((first < last).any())

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


def byte_tokens(of: Neighbours) -> Tokens:
    """Return the tokens of a dictionary over bytes.

    Raises
    ------
    UnsupportedFeatureError
        If one of them has no id.
    """
    texts = cast("Sequence[bytes]", of.words)
    numbers = [number for number in of.live.tolist() if BYTES_OF_UTF8.issuperset(texts[number])]
    _check_ids(of, numbers)
    return Tokens([texts[number] for number in numbers], np.array(numbers, dtype=np.int32), of)


def character_tokens(of: Neighbours, rewrites: Rewrites, symbols: Symbols, unknown: Sequence[str] = ()) -> Tokens:
    """Return the tokens of a dictionary over characters, and some characters that it does not have.

    Raises
    ------
    UnsupportedFeatureError
        If one of the tokens has no id.
    """
    texts: list[bytes] = []
    numbers: list[int] = []
    for number in of.live.tolist():
        text = _text(of.words[number], symbols.of_bytes)
        spelled = None if text is None else rewrites.spelled(text) if isinstance(text, str) else text
        if spelled is not None:
            texts.append(spelled.encode() if isinstance(spelled, str) else spelled)
            numbers.append(number)
    _check_ids(of, numbers)
    others = [symbol.encode() for symbol in unknown]
    return Tokens(texts, np.array(numbers, dtype=np.int32), of, others, fuses=symbols.fuses)


def _text(word: Word, of_bytes: bool) -> str | bytes | None:
    """Return the text of a token; None if it is a symbol of several characters."""
    if any(len(cast(str, symbol)) != 1 for symbol in word):
        return None
    text = "".join(cast("tuple[str, ...]", word))
    if not of_bytes:
        return text
    data = bytes(map(BYTE_OF.__getitem__, text))
    return data if BYTES_OF_UTF8.issuperset(data) else None


def _check_ids(of: Neighbours, numbers: list[int]) -> None:
    if (of.ids[numbers] < 0).any():
        raise UnsupportedFeatureError("some tokens that merging gives have no ids")


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
