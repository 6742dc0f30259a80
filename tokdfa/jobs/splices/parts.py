"""Texts with slots: the text of a template, and the slots to fill in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from tokdfa.base.errors import PatternError, WrongTypeError
from tokdfa.base.verdict import Displayed
from tokdfa.jobs.splices.languages import ANYTHING, Language, language_of, literal, regular
from tokdfa.regex.syntax import Alternate, Concat, Node, Symbols

__all__ = ["Part", "Slot", "checked_parts", "nodes", "parts_of"]


@dataclass(frozen=True, slots=True)
class Slot(Displayed):
    """A part of a text that is filled in, such as the content of a turn.

    Attributes
    ----------
    name : str
        Its name, for people.
    pattern : str, optional
        A regular expression that all of the text that is filled in matches; by default it is any text.
    strips_left, strips_right : bool
        Whether white space is removed from that text at its beginning, and at its end, as ``str.strip`` does.

    Examples
    --------
    >>> from tokdfa.jobs.splices.parts import Slot, parts_of
    >>> parts_of("<user>{content|trim}</user>")[1] == Slot("content", strips_left=True, strips_right=True)
    True
    """

    name: str = ""
    pattern: str | None = None
    strips_left: bool = False
    strips_right: bool = False

    @property
    def is_any(self) -> bool:
        """Whether any text may be filled in."""
        return self.pattern is None

    def node(self, table: str = "regex") -> Node:
        """Return the pattern of the texts that get there."""
        if self.pattern is not None:
            return regular(self.pattern, table, f"slot {self.name}")
        if not (self.strips_left or self.strips_right):
            return ANYTHING
        solid = Symbols(_not_white_space())
        edge: Node = solid
        first, last = (edge if strips else ANYTHING for strips in (self.strips_left, self.strips_right))
        return Alternate((Concat(()), solid, Concat((first, ANYTHING, last))))

    def language(self, table: str = "regex") -> Language:
        """Return the language of the texts that get there."""
        return language_of(f"slot {self.name}", self.node(table))

    def holds(self, text: str) -> bool:
        """Return whether a text may get there, without a pattern."""
        return not ((self.strips_left and text[:1].isspace()) or (self.strips_right and text[-1:].isspace()))


Part: TypeAlias = str | Slot

_SLOT = re.compile(r"\{\{|\}\}|\{(\w+)(\|trim)?(?::((?:[^{}\\]|\\.|\{[^{}]*\})+))?\}|([{}])")


def parts_of(text: str) -> tuple[Part, ...]:
    r"""Return the parts of a text in which slots are written as ``{name}``, ``{name|trim}`` or ``{name:regex}``.

    Two braces are one, literally.

    Examples
    --------
    >>> from tokdfa.jobs.splices.parts import parts_of
    >>> [part if isinstance(part, str) else part.name for part in parts_of("a{{{b:[0-9]+}c")]
    ['a{', 'b', 'c']
    """
    parts: list[Part] = []
    at = 0
    for match in _SLOT.finditer(text):
        name, trim, pattern, wrong = match.groups()
        if wrong is not None:
            raise PatternError(
                "a brace that is not part of a slot",
                value=text[match.start() : match.start() + 20],
                where=f"character {match.start()}",
                hint="write a slot as {name}, {name|trim} or {name:regex}, and a brace twice",
            )
        parts.append(text[at : match.start()])
        parts.append(match.group()[0] if name is None else Slot(name, pattern, trim is not None, trim is not None))
        at = match.end()
    return checked_parts([*parts, text[at:]])


def checked_parts(parts: str | Iterable[Part]) -> tuple[Part, ...]:
    """Return parts with no two literal neighbours and none empty."""
    if isinstance(parts, str):
        return parts_of(parts)
    if not isinstance(parts, Iterable):
        raise WrongTypeError("a text with slots, or a list of texts and slots, is expected", value=parts)
    found: list[Part] = []
    for part in parts:
        if isinstance(part, Slot):
            if part.pattern is not None and (part.strips_left or part.strips_right):
                raise PatternError("a slot with a pattern cannot strip as well", value=part.name)
            found.append(part)
            continue
        if not isinstance(part, str):
            raise WrongTypeError("a text or a slot is expected", value=part, where=f"part {len(found)}")
        literal(part, f"part {len(found)}")
        if part and found and isinstance(found[-1], str):
            found[-1] += part
        elif part:
            found.append(part)
    return tuple(found)


def nodes(parts: Sequence[Part], what: str, table: str = "regex") -> list[Node]:
    """Return the patterns of parts."""
    return [literal(part, what) if isinstance(part, str) else part.node(table) for part in parts]


@lru_cache(maxsize=1)
def _not_white_space() -> tuple[tuple[int, int], ...]:
    """Return the ranges of the code points that ``str.strip`` leaves."""
    white = [point for point in range(0x110000) if chr(point).isspace()]
    edges = [-1, *white, 0x110000]
    return tuple((a + 1, b - 1) for a, b in pairwise(edges) if a + 1 <= b - 1)
