"""Pieces of a text with their multiplicities: what a greedy trainer trains on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import regex

__all__ = ["GPT2_PATTERN", "count_pieces"]

GPT2_PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


def count_pieces(texts: Iterable[str], pattern: str = GPT2_PATTERN) -> dict[bytes, int]:
    """Return the UTF-8 pieces into which `pattern` splits the texts, with multiplicities, in order of first use."""
    compiled = regex.compile(pattern)
    pieces: Counter[str] = Counter()
    for text in texts:
        pieces.update(compiled.findall(text))
    return {piece.encode(): count for piece, count in pieces.items()}
