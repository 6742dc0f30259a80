"""The answer of a decision procedure: yes or no, and the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from tokdfa.display import Displayed

__all__ = ["Verdict"]

W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class Verdict(Displayed, Generic[W]):
    """A decision with its evidence; truthy when the property holds.

    Parameters
    ----------
    holds : bool
        Whether the property holds.
    witness : object, optional
        Evidence against the property (a pair of runs, a rule, a text) when it does not hold, and for some
        properties evidence in favour of it.
    reason : str
        One sentence for a reader.

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
