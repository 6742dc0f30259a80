"""The values of `bounds`: the fewest and the most of something, each with its text and the bound that is proved."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tokdfa.base.suggestions import SuggestsNames

__all__ = ["Bounds", "Extreme", "Extremes"]


@dataclass(frozen=True, slots=True)
class Extreme(SuggestsNames):
    """The fewest or the most of something, over all texts.

    Attributes
    ----------
    value : Fraction, optional
        The value of the text; None if it is infinite. If a part of the text may be repeated, the texts approach it.
    proved : Fraction, optional
        The value that no text is beyond; None if that is infinite, or not known.
    text : str
    ids : tuple of int
        Its ids.
    repeated : str, optional
        The part of the text that may be repeated any number of times, with the same ids each time.
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
        """Whether the value is the bound that is proved."""
        return self.value == self.proved


@dataclass(frozen=True, slots=True)
class Extremes(SuggestsNames):
    """The fewest and the most of something.

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
    """How few and how many bytes, characters and tokens texts have.

    Attributes
    ----------
    bytes, characters : Extremes
        A token, over all texts.
    tokens : Extremes, optional
        The tokens of a text, if the texts are of a language or of a number of bytes.
    other : Extreme, optional
        The most tokens of the other tokenizer a token of this one.

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
