"""Gage's compression, which replaces the most frequent pair of bytes by a byte that the data does not use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from tokdfa.base.errors import TrainingError
from tokdfa.training.greedy import train_greedy

__all__ = ["Compressed", "compress", "expand"]

T = TypeVar("T", bytes, str)


@dataclass(frozen=True, slots=True)
class Compressed(Generic[T]):
    """Compressed data, and the pair that each new symbol replaces, in the order in which they were introduced.

    A pair may contain earlier new symbols.
    """

    text: T
    table: tuple[tuple[T, T], ...]


def compress(data: T, spare: T | None = None) -> Compressed[T]:
    """Replace pairs by unused symbols until no pair occurs twice, or no symbol is left.

    Ties go to the oldest pair.

    Parameters
    ----------
    data : bytes or str
    spare : bytes or str, optional
        The symbols to introduce, in this order. By default the bytes that `data` does not use, down from 255, or the
        capital letters that it does not use, backwards from Z.

    Raises
    ------
    TrainingError
        If a spare symbol occurs in the data, or twice.

    Notes
    -----
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
