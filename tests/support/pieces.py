"""Counting the pieces of texts, slowly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tokdfa.tokenizers.pretokenizers.pretokenizer import pretokenizer


def count_pieces(texts: Iterable[str], pattern: str | None = "gpt2") -> dict[bytes, int]:
    """Return the UTF-8 pieces of texts with their multiplicities, in the order of their first occurrence.

    Without a pattern every text is one piece.
    """
    split = (lambda text: [text] if text else []) if pattern is None else pretokenizer(pattern).split
    return {piece.encode(): count for piece, count in Counter(piece for text in texts for piece in split(text)).items()}
