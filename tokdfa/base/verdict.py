"""The answer of a decision procedure: yes or no, with evidence; and kinds of findings, which describe themselves."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from tokdfa.base.suggestions import SuggestsNames

__all__ = ["DescribedEnum", "Verdict", "cut_short"]


class Displayed(SuggestsNames):
    """Something that notebooks show as a picture or a table; see :func:`tokdfa.draw.display.bundle`."""

    __slots__ = ()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from tokdfa.draw.display import bundle

        return bundle(self)


W = TypeVar("W")


@dataclass(frozen=True, slots=True, repr=False)
class Verdict(Displayed, Generic[W]):
    """A decision with its evidence; truthy when the property holds.

    Parameters
    ----------
    holds : bool
        Whether the property holds.
    witness : object, optional
        Evidence against the property (a pair of runs, a rule, a text) if it does not hold. Some properties also give
        evidence when they hold.
    reason : str
        One sentence that explains the decision.

    Examples
    --------
    >>> d = tokdfa.Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab")
    >>> verdict = d.properness()
    >>> bool(verdict), verdict.witness
    (True, None)
    >>> verdict = tokdfa.Dictionary([("ab", "c"), ("a", "b")], alphabet="abc").properness()
    >>> bool(verdict), verdict.witness.index, verdict.witness.part
    (False, 0, 'ab')
    """

    holds: bool
    witness: W | None = None
    reason: str = ""

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        """Return a few lines at most, however long the evidence is."""
        witness = "" if self.witness is None else f"; {cut_short(repr(self.witness), 150)}"
        said = f": {cut_short(self.reason, 120)}" if self.reason else ""
        return f"{type(self).__name__}({self.holds}{said}{witness})"


class DescribedEnum(StrEnum):
    """A string with a `meaning`: each member is written as its value and one sentence."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> DescribedEnum:
        """Return a member with its meaning."""
        self = str.__new__(cls, value)
        self._value_ = value
        self.meaning = meaning
        return self


def cut_short(text: str, most: int) -> str:
    """Return a text for display, cut to at most so many characters, the last an ellipsis."""
    return text if len(text) <= most else text[: most - 1] + "…"
