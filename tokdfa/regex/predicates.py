"""Look-arounds as predicates of places in a text: each is a program of its own, which may ask those before it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tokdfa.base.errors import LimitExceededError
from tokdfa.regex.unicode import Ranges

if TYPE_CHECKING:
    from tokdfa.regex.program import Program
    from tokdfa.regex.syntax import Node

__all__ = ["Neighbour", "Predicate", "Predicates", "Words"]

MAX_PREDICATES = 64


class Neighbour(NamedTuple):
    """Whether the symbol before or after a place is in a set; an edge of the text counts as `edge`."""

    symbols: Ranges
    edge: bool
    behind: bool


class Words(NamedTuple):
    """Whether a word of the program ends at a place (`behind`) or begins there."""

    program: Program
    behind: bool


Predicate: TypeAlias = Neighbour | Words


@dataclass
class Predicates:
    """The predicates of a pattern, those that others ask before them, without duplicates.

    Attributes
    ----------
    found : list of Predicate
    """

    found: list[Predicate] = field(default_factory=list)
    _numbers: dict[Neighbour | tuple[Node, bool], int] = field(default_factory=dict)

    def neighbour(self, symbols: Ranges, edge: bool, behind: bool) -> int:
        """Return the number of the predicate of the symbol before or after a place."""
        key = Neighbour(symbols, edge, behind)
        if key not in self._numbers:
            self._numbers[key] = self._add(key)
        return self._numbers[key]

    def known(self, body: Node, behind: bool) -> int | None:
        """Return the number of the predicate of a look-around; None if it is new."""
        return self._numbers.get((body, behind))

    def words(self, body: Node, behind: bool, program: Program) -> int:
        """Add the predicate of a look-around and return its number."""
        self._numbers[body, behind] = self._add(Words(program, behind))
        return self._numbers[body, behind]

    def _add(self, predicate: Predicate) -> int:
        if len(self.found) >= MAX_PREDICATES:
            what = f"the pattern has more than {MAX_PREDICATES} look-arounds"
            raise LimitExceededError(what, hint="use fewer different ones")
        self.found.append(predicate)
        return len(self.found) - 1
