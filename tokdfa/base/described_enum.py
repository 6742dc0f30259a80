"""Names with a sentence about each: the kinds of what is found, which are printed as strings."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["DescribedEnum"]


class DescribedEnum(StrEnum):
    """A string with a meaning: each member is written as its value and one sentence.

    Attributes
    ----------
    meaning : str
    """

    meaning: str

    def __new__(cls, value: str, meaning: str) -> DescribedEnum:
        """Return a member with its meaning."""
        self = str.__new__(cls, value)
        self._value_ = value
        self.meaning = meaning
        return self
