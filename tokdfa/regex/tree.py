"""Patterns as trees over sets of code points: they depend on no dialect, nor on a version of Unicode."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tokdfa.regex.operators import AnchorKind
from tokdfa.regex.unicode import Ranges

Mode: TypeAlias = Literal["greedy", "lazy", "possessive"]


@dataclass(frozen=True, slots=True)
class Symbols:
    """One symbol of a set of code points."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Concat:
    """The parts one after the other; no parts are the empty pattern."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternate:
    """One of two or more options; the first is preferred."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The body `least` to `most` times, without an upper limit if `most` is None.

    `greedy` prefers more, `lazy` fewer, and `possessive` takes the first match of greedy and never backtracks into it.
    `offset` is the offset of the body in the pattern, for messages.
    """

    body: Node
    least: int
    most: int | None
    mode: Mode = "greedy"
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Atomic:
    """The first match of the body, and no other; `offset` is the offset in the pattern, for messages."""

    body: Node
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class LookAhead:
    """The empty word where the next symbol is in `ranges`, and at the end of the text if `at_end`.

    Before bytes that are not a symbol it is there if `at_broken`, as they match nothing, which a negated one asks for.
    """

    ranges: Ranges
    at_end: bool
    at_broken: bool = False


@dataclass(frozen=True, slots=True)
class Anchor:
    """The empty word where `kind` holds; for a word boundary, `word` is the set of the symbols of words."""

    kind: AnchorKind
    word: Ranges = ()


@dataclass(frozen=True, slots=True)
class Assertion:
    """The empty word where the body matches the text after it or, with `behind`, before it; or, `negated`, does not.

    `offset` is the offset in the pattern, for messages.
    """

    body: Node
    behind: bool
    negated: bool
    offset: int = field(default=0, compare=False)


Node: TypeAlias = Symbols | Concat | Alternate | Repeat | Atomic | LookAhead | Assertion | Anchor


def children(node: Node) -> tuple[Node, ...]:
    """Return the parts that a node is made of."""
    if isinstance(node, Concat):
        return node.parts
    if isinstance(node, Alternate):
        return node.options
    if isinstance(node, (Repeat, Atomic, Assertion)):
        return (node.body,)
    return ()


def is_nullable(node: Node) -> bool:
    """Return whether the pattern may match the empty word somewhere."""
    if isinstance(node, Symbols):
        return False
    if isinstance(node, Concat):
        return all(map(is_nullable, node.parts))
    if isinstance(node, Alternate):
        return any(map(is_nullable, node.options))
    if isinstance(node, Repeat):
        return node.least == 0 or is_nullable(node.body)
    if isinstance(node, Atomic):
        return is_nullable(node.body)
    return True
