"""The answer of `splice`: whether encoding may be cut at a seam, and two texts for which not."""

from __future__ import annotations

from dataclasses import dataclass, field

from tokdfa.display import Displayed
from tokdfa.verdict import Verdict

__all__ = ["Splice", "SplitTexts"]


@dataclass(frozen=True, slots=True)
class SplitTexts(Displayed):
    """Two texts whose ids, one after the other, are not those of the two as one text.

    Attributes
    ----------
    before, after : str
        The texts on both sides of the seam.
    ids_before, ids_after : tuple of int
        The ids of each, encoded separately; those that were given, if they were.
    ids : tuple of int
        The ids of the two as one text.
    shortest : bool
        Whether it is proven that no such texts come before these: by fewer bytes of UTF-8 of both, then of the one
        before the seam, then in the order of bytes.

    Examples
    --------
    >>> found = tokdfa.splice(tokdfa.default_tokenizer(), before="a", after="s").witness
    >>> found.before, found.after, found.ids_before + found.ids_after, found.ids
    ('a', 's', (64, 82), (289,))
    """

    before: str
    after: str
    ids_before: tuple[int, ...]
    ids_after: tuple[int, ...]
    ids: tuple[int, ...]
    shortest: bool = True

    @property
    def text(self) -> str:
        """The two texts as one."""
        return self.before + self.after


@dataclass(frozen=True, slots=True)
class Splice(Verdict[SplitTexts]):
    """Whether ids of texts on both sides of a seam are those of the two as one text, for all texts that were asked for.

    Attributes
    ----------
    holds, witness
        See :class:`~tokdfa.verdict.Verdict`; the witness is a :class:`SplitTexts`.
    reason : str
        The result in words.

    Examples
    --------
    >>> verdict = tokdfa.splice(tokdfa.default_tokenizer(), before="a", after=" ")
    >>> bool(verdict), verdict.witness
    (True, None)
    """

    reason: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        found = self.witness
        if found is None:
            words = "the ids of both texts, one after the other, are always those of the two as one text"
        else:
            kind = "the shortest texts for which not" if found.shortest else "texts for which not"
            apart = " ".join(map(str, found.ids_before)) + " + " + " ".join(map(str, found.ids_after))
            words = (
                f"{kind}: {found.before!r} + {found.after!r}, ids {apart}, as one text {' '.join(map(str, found.ids))}"
            )
        object.__setattr__(self, "reason", words)
