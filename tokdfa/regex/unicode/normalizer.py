"""What every normalizer answers: the text that it makes of a text, and where it treats the two sides separately."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tokdfa.regex.unicode.normalization import Form


class Substitution(NamedTuple):
    """What is put before a text that is not empty, and what some characters become; nothing else is done to it."""

    prefix: str
    becomes: dict[str, str]

    def then(self, other: Substitution) -> Substitution:
        """Return the substitution that does this one and then another one."""
        after = other.becomes
        becomes = after | {old: after.get(new, new) for old, new in self.becomes.items()}
        return Substitution(other.prefix + "".join(after.get(each, each) for each in self.prefix), becomes)


class Sides(NamedTuple):
    """The characters on both sides of a boundary after normalization; None for a left one that is not known.

    The right one may become any of `others` instead, because of what follows it: in NFC, "=" before U+0338 becomes "≠".
    """

    left: str | None
    right: str
    others: frozenset[str] = frozenset()


class Normalizer(ABC):
    """A function from text to text. Equal normalizers do the same.

    One that overrides nothing but the call treats no two sides of a text separately.
    """

    @abstractmethod
    def __call__(self, text: str) -> str:
        """Return `text` normalized."""

    @property
    def only_form(self) -> Form | None:
        """The normalization form that texts are brought into, if nothing else is done to them."""
        return None

    @property
    def substitution(self) -> Substitution | None:
        """All that it does, if characters become others one by one and something is put before the text."""
        return None

    @property
    def keeps_beginning(self) -> bool:
        """Whether the beginning of the normalized text always comes from the beginning of the text."""
        return False

    @property
    def is_local(self) -> bool:
        """Whether it may treat the two sides of a text separately somewhere; see `sides`."""
        return False

    @property
    def touches_ends(self) -> bool:
        """Whether it does something to a text because it begins or ends there."""
        return False

    def sides(self, left: str, right: str) -> Sides | None:
        """Return what becomes of two neighbouring characters, whatever precedes and follows them.

        Parameters
        ----------
        left, right : str
            One character each.

        Returns
        -------
        Sides or None
            None if the two sides may influence each other, or it is not known. Otherwise the normalized text is that of
            what precedes the boundary, followed by what `later` makes of the rest.
        """
        return None

    @property
    def later(self) -> Normalizer | None:
        """The normalizer of the text after such a boundary: one that does nothing to the beginning of a text."""
        return self

    def touched(self, characters: frozenset[str]) -> frozenset[str] | None:
        """Return those of some characters because of which it may change a text.

        None if that is not known, or it changes words between single spaces in another way.
        """
        return None
