"""A pattern between its text and its tree: operators that a parser for any dialect reads, and atoms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tokdfa.regex.unicode import Ranges

AnchorKind: TypeAlias = Literal[
    "start of text",
    "end of text",
    "start of line",
    "start of line with text",
    "end of line",
    "end of last line",
    "word boundary",
    "inside a word",
    "start of search",
    "grapheme",
    "grapheme boundary",
    "inside a grapheme",
]
"""Where an anchor holds; the last line ends at the end of the text, and before a line feed at the end of the text.

A line with text is one that does not begin at the end of the text. A search starts where the last match ended.
A grapheme is not an anchor, but needs some.
"""


@dataclass(frozen=True, slots=True)
class Folded:
    """A literal or a bracket that Oniguruma reads without case; :mod:`tokdfa.regex.folds` expands it."""

    symbols: Ranges
    is_literal: bool


Atom: TypeAlias = Ranges | AnchorKind | Folded

_FIRST_STAND_IN = 0x10000


@dataclass
class Operators:
    """A pattern in which every atom is one character.

    `text` has the operators: stand-ins for the `atoms`, plain groups ``(?:``, look-arounds, atomic groups, alternation
    and repetition; `offsets` has the offset in the pattern from which each character of it comes. `looks` are the
    offsets of the look-arounds in the pattern, `repeats` the offsets of repeated parts and of atomic groups, the outer
    ones first.
    """

    text: str = ""
    atoms: list[Atom] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    looks: list[int] = field(default_factory=list)
    repeats: list[int] = field(default_factory=list)

    def atom(self, stand_in: int) -> Atom:
        """Return the meaning of the stand-in with that code point."""
        return self.atoms[stand_in - _FIRST_STAND_IN]

    @staticmethod
    def stand_in(number: int) -> str:
        """Return the stand-in of the atom of that index."""
        return chr(_FIRST_STAND_IN + number)

    @staticmethod
    def is_stand_in(symbol: str) -> bool:
        """Return whether a character of the text is a stand-in."""
        return ord(symbol) >= _FIRST_STAND_IN
