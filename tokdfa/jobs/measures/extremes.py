"""The values of `bounds`: a fewest or a most, such as bytes per token, with its text and the bound that is proved."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tokdfa.base.suggestions import SuggestsNames

__all__ = ["Bounds", "Extreme", "Extremes"]


@dataclass(frozen=True, slots=True)
class Extreme(SuggestsNames):
    """A fewest or a most over all texts, such as the most bytes per token.

    Attributes
    ----------
    value : Fraction, optional
        The value of `text`, or the value that texts approach if `repeated` is repeated; None if it is infinite.
    proved : Fraction, optional
        The limit that is proved: no text has less, for a fewest, or more, for a most. None if the value is infinite, or
        no limit is known.
    text : str
    ids : tuple of int
        The ids of the text.
    repeated : str, optional
        The part of the text that can be repeated any number of times, with the same ids each time.
    is_timed_out : bool
        Whether the value is not exact because its share of `max_seconds` ended.

    Examples
    --------
    >>> most = tokdfa.bounds(tokdfa.default_tokenizer(), language="[a-z]+").bytes.most
    >>> str(most.value), most.is_exact, most.text
    ('10', True, 'oluntarily')
    """

    value: Fraction | None
    proved: Fraction | None
    text: str
    ids: tuple[int, ...]
    repeated: str | None = None
    is_timed_out: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether the value equals the limit that is proved."""
        return self.value == self.proved


@dataclass(frozen=True, slots=True)
class Extremes(SuggestsNames):
    """The fewest and the most, such as of the bytes per token.

    Attributes
    ----------
    fewest, most : Extreme

    Examples
    --------
    >>> found = tokdfa.bounds(tokdfa.default_tokenizer(), n_bytes=100)
    >>> str(found.tokens.fewest.value), str(found.tokens.most.value)
    ('8', '100')
    """

    fewest: Extreme
    most: Extreme


@dataclass(frozen=True, slots=True)
class Bounds(SuggestsNames):
    """The result of :func:`tokdfa.bounds`: limits of bytes, characters and tokens over all texts.

    Attributes
    ----------
    bytes, characters : Extremes
        The number of them per token.
    tokens : Extremes, optional
        The number of tokens of a text, if a language or a number of bytes is given.
    other : Extreme, optional
        The most tokens of the other tokenizer per token.

    Examples
    --------
    >>> found = tokdfa.bounds(tokdfa.default_tokenizer())
    >>> str(found.bytes.most.value), found.bytes.most.text
    ('14', ' circumstances')
    """

    bytes: Extremes
    characters: Extremes
    tokens: Extremes | None = None
    other: Extreme | None = None
