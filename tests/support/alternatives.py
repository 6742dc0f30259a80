"""Gage's compression by pairs of bytes, and encoding by the longest pieces of a vocabulary first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar, cast

from tokdfa.base.errors import TrainingError
from tokdfa.training.greedy import train_greedy

T = TypeVar("T", bytes, str)


@dataclass(frozen=True, slots=True)
class Compressed(Generic[T]):
    """Compressed data, and the pair that each new symbol replaces, in the order in which they were introduced.

    A pair may contain earlier new symbols.
    """

    text: T
    table: tuple[tuple[T, T], ...]


def compress(data: T, spare: T | None = None) -> Compressed[T]:
    """Replace pairs by unused symbols until no pair occurs twice, or no symbol is left; ties go to the oldest pair.

    The `spare` symbols are introduced in their order. By default they are the bytes that `data` does not use, down from
    255, or the capital letters that it does not use, backwards from Z. One that occurs in the data, or twice, is a
    TrainingError.

    Gage, *A New Algorithm for Data Compression* (1994), on the data as a whole; example 3 of BLOG.
    """
    if spare is None:
        spare = _unused(data)
    symbols = [spare[i : i + 1] for i in range(len(spare))]
    if len(set(symbols)) < len(symbols) or any(symbol in data for symbol in symbols):
        raise TrainingError("the spare symbol is already in use", value=spare)
    if not data:
        return Compressed(data, ())
    dictionary = train_greedy({data: 1}, len(symbols), tie="oldest-pair", count="overlapping")
    # Products by the symbols that replace them.
    written: dict[object, T] = {}
    table: list[tuple[T, T]] = []
    for symbol, rule in zip(symbols, dictionary, strict=False):
        left, right = (written.get(part, cast(T, part)) for part in rule)
        table.append((symbol, left + right))
        written[rule.product] = symbol
    return Compressed(_replaced(data, table), tuple(table))


def expand(compressed: Compressed[T]) -> T:
    """Return the data that was compressed."""
    text = compressed.text
    for symbol, pair in reversed(compressed.table):
        text = text.replace(symbol, pair)
    return text


def _replaced(data: T, table: Sequence[tuple[T, T]]) -> T:
    # bytes.replace and str.replace go from left to right without overlaps, as required.
    for symbol, pair in table:
        data = data.replace(pair, symbol)
    return data


def _unused(data: T) -> T:
    if isinstance(data, bytes):
        return bytes(byte for byte in range(255, -1, -1) if byte not in set(data))
    return "".join(letter for letter in "ZYXWVUTSRQPONMLKJIHGFEDCBA" if letter not in data)


class LongestPieceEncoder:
    """Encodes words by a vocabulary: the longest piece that occurs in a word is cut out, then the same for the rest.

    Among pieces of equal length, the earlier one comes first; `unknown` is the token for a segment in which no piece
    occurs. `cache_size` words are kept with their tokens; the least recently used are dropped.

    BLOG, example 2. With a vocabulary trained by merging, the result need not be the one that merging would give.
    """

    def __init__(self, vocabulary: Iterable[str], *, unknown: str = "<unk>", cache_size: int = 1 << 16) -> None:
        self._order = {piece: index for index, piece in enumerate(dict.fromkeys(vocabulary))}
        if "" in self._order:
            raise TrainingError("a piece of a vocabulary must not be empty")
        self._longest = max(map(len, self._order), default=0)
        self._unknown = unknown
        # The tokens of a word.
        self.encode_word = lru_cache(cache_size)(self._cut)

    def encode(self, words: Iterable[str]) -> list[str]:
        """Return the tokens of some words, one after the other."""
        return [token for word in words for token in self.encode_word(word)]

    def _cut(self, word: str) -> tuple[str, ...]:
        # Every offset where a piece occurs, in the order of the vocabulary: O(n · longest piece).
        found = [
            (start - end, self._order[word[start:end]], start)
            for start in range(len(word))
            for end in range(start + 1, min(start + self._longest, len(word)) + 1)
            if word[start:end] in self._order
        ]
        end_of = [0] * len(word)
        taken = bytearray(len(word))
        for negative, _, start in sorted(found):
            end = start - negative
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                end_of[start] = end
        tokens = []
        start = 0
        while start < len(word):
            if end_of[start]:
                tokens.append(word[start : end_of[start]])
                start = end_of[start]
            else:
                tokens.append(self._unknown)
                start = next((i for i in range(start, len(word)) if end_of[i]), len(word))
        return tuple(tokens)


def join_words(tokens: Iterable[str], mark: str = "</w>") -> list[str]:
    """Return the words that tokens spell: the tokens joined, and cut after every mark (BLOG, section on decoding)."""
    words = "".join(tokens).split(mark)
    return words if words[-1] else words[:-1]
