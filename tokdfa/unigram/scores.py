"""The sums of the scores of two segmentations of a text, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tokdfa.unigram.model import Arithmetic

__all__ = ["MOST_SHOWN", "Scores"]

MOST_SHOWN = 48
"""The maximum number of characters of a text whose sums are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The sums of the scores of two segmentations of a text, up to where they agree again.

    All sums are those that the library has, in its own arithmetic, from the beginning of the text or pre-token on.

    Attributes
    ----------
    before : float
        The sum up to where the two part.
    best : float
        That of the best segmentation.
    given : float or None
        That of the given ids; None if these are no segmentation of the text, as with a byte of a character that is a
        piece.
    text : str
        What they segment, normalized: its first 48 characters.
    sums : tuple of float
        The best sum at each place of `text`, its beginning and end included.
    starts : tuple of int
        For each of these places, where the last piece of the best way to it begins, in characters of `text`; negative
        for a place before it.
    arithmetic : {"sentencepiece", "sentencepiece 0.2.1", "tokenizers"}

    Examples
    --------
    >>> vocab = [["?", 0], ["a", -1], ["aaa", -2.5]]
    >>> fields = {"model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}, "decoder": {"type": "Fuse"}}
    >>> scores = tokdfa.load(fields).validate([1, 1, 1]).witness.scores
    >>> scores.best, scores.given, scores.margin
    (-2.5, -3.0, 0.5)
    """

    before: float
    best: float
    given: float | None
    text: str
    sums: tuple[float, ...]
    starts: tuple[int, ...]
    arithmetic: Arithmetic

    @property
    def margin(self) -> float | None:
        """By how much the best sum is greater; 0 if only the order of ways decides, None if there is no other sum."""
        return None if self.given is None else self.best - self.given

    @property
    def is_rounded_late(self) -> bool:
        """Whether sums are compared before they are rounded."""
        return self.arithmetic == "sentencepiece 0.2.1"

    def as_json(self) -> dict[str, Any]:
        """Return the sums as ``tokdfa validate --json`` prints them."""
        return {
            "before": self.before,
            "best": self.best,
            "given": self.given,
            "margin": self.margin,
            "text": self.text,
        }
