"""Look-arounds as predicates of offsets in a text: each is a program of its own, and may ask earlier ones.

Atomic groups and possessive repetitions as look-arounds: the first match of a pattern, and nothing else. A backtracking
engine that leaves an atomic group never returns into it. So the group matches only the first match of its body. That is
expressed without the group: an option is taken only where the options before it do not match, and a repetition stops
only where its body does not match.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tokdfa.base.errors import LimitExceededError
from tokdfa.regex.syntax import Alternate, Assertion, Atomic, Concat, LookAhead, Node, Repeat, Symbols, is_nullable
from tokdfa.regex.unicode import LAST, Ranges, complement

if TYPE_CHECKING:
    from tokdfa.regex.program import Program

MAX_PREDICATES = 64


class Neighbour(NamedTuple):
    """Whether the symbol before or after an offset is in a set; an edge of the text counts as `edge`."""

    symbols: Ranges
    edge: bool
    behind: bool


class Words(NamedTuple):
    """Whether a word of the program ends at an offset (`behind`) or begins there."""

    program: Program
    behind: bool


Predicate: TypeAlias = Neighbour | Words


@dataclass
class Predicates:
    """The predicates of a pattern without duplicates, in `found`, each after the ones that it asks."""

    found: list[Predicate] = field(default_factory=list)
    _numbers: dict[Neighbour | tuple[Node, bool], int] = field(default_factory=dict)

    def neighbour(self, symbols: Ranges, edge: bool, behind: bool) -> int:
        """Return the number of the predicate of the symbol before or after an offset."""
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


def committed(node: Node) -> Node | None:
    """Return a pattern that matches only the first match of `node`; None if no such pattern is known."""
    if isinstance(node, Atomic):
        return committed(node.body)
    if isinstance(node, Alternate):
        return _options(list(node.options))
    if isinstance(node, Concat):
        return _sequence(list(node.parts))
    if isinstance(node, Repeat):
        return _repetition(node)
    return node


def has_choice(node: Node) -> bool:
    """Return whether a pattern can be read in more than one way."""
    if isinstance(node, Concat):
        return any(map(has_choice, node.parts))
    if isinstance(node, Repeat):
        return node.least != node.most or has_choice(node.body)
    return isinstance(node, (Alternate, Atomic))


def _options(options: list[Node]) -> Node | None:
    """The options, each where none before it matches."""
    found: Node | None = None
    for option in reversed(options):
        first = committed(option)
        if first is None:
            return None
        found = first if found is None else Alternate((first, Concat((_fails(option), found))))
    return Concat(()) if found is None else found


def _sequence(parts: list[Node]) -> Node | None:
    """The parts; a part with several readings can be decided at once only if no later part can fail."""
    found: list[Node] = []
    for index, part in enumerate(parts):
        rest = parts[index + 1 :]
        if not _is_single(part) and not all(map(_never_fails, rest)):
            return None
        first = committed(part)
        if first is None:
            return None
        found.append(first)
    return Concat(tuple(found))


def _repetition(node: Repeat) -> Node | None:
    """The first iterations of the body, up to the first offset where it fails."""
    body, least, most = node.body, node.least, node.most
    first = committed(body)
    if first is None or is_nullable(body):
        return None
    if least > 1 and not _is_single(body):
        return None
    if node.mode == "lazy" or least == most:
        return Repeat(first, least, least)
    stop = _fails(body)
    if most is None:
        return Concat((Repeat(first, least, None), stop))
    return Alternate((Repeat(first, most, most), Concat((Repeat(first, least, most - 1), stop))))


def _is_single(node: Node) -> bool:
    """Return whether a pattern has at most one match at an offset, or commits to one by itself."""
    if isinstance(node, Concat):
        return all(map(_is_single, node.parts))
    if isinstance(node, Repeat):
        return node.mode == "possessive" or (node.least == node.most and _is_single(node.body))
    return not isinstance(node, Alternate)


def _never_fails(node: Node) -> bool:
    if isinstance(node, Concat):
        return all(map(_never_fails, node.parts))
    return isinstance(node, Repeat) and node.least == 0


def _fails(node: Node) -> Node:
    if isinstance(node, Symbols):
        return LookAhead(complement(node.ranges, ((0, LAST),)), True, True)
    return Assertion(node, behind=False, negated=True)
