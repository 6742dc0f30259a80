"""Sequences of sets of symbols: what texts at a seam end and begin with, as far as certificates go."""

from __future__ import annotations

from tokdfa.errors import UnsupportedFeatureError
from tokdfa.patterns.syntax import Alternate, Concat, Node, Repeat, Symbols, parse
from tokdfa.splices.languages import literal
from tokdfa.unicode import SURROGATES, Ranges, contains, difference

__all__ = ["as_pattern", "is_text", "may_begin", "sequence"]

# Letters with a meaning in a pattern, or in brackets, that the checker reads after a backslash.
_SPECIAL = frozenset(r"\.[](){}*+?^$|-&~#")


def sequence(text: str, *, regex: bool, table: str, name: str) -> list[Ranges]:
    """Return the sets of symbols of a text, or of a regular expression of symbols and classes one after the other.

    Raises
    ------
    UnsupportedFeatureError
        If the expression is of another kind.
    PatternError
        If it cannot be read.
    """
    sets = _sets(parse(text, table) if regex else literal(text, name))
    if sets is None or not all(sets):
        raise UnsupportedFeatureError(
            "there are certificates only for texts, and for expressions of symbols and classes one after the other",
            value=text,
            where=name,
        )
    return sets


def _sets(node: Node) -> list[Ranges] | None:
    if isinstance(node, Symbols):
        return [difference(node.ranges, SURROGATES)]
    if isinstance(node, Repeat) and node.least == node.most:
        inner = _sets(node.body)
        return None if inner is None else inner * node.least
    if isinstance(node, Alternate) or not isinstance(node, Concat):
        return None
    parts = [_sets(part) for part in node.parts]
    return None if None in parts else [each for part in parts if part is not None for each in part]


def as_pattern(sets: list[Ranges]) -> str:
    """Return sets as a pattern that names every symbol, so that it depends on no table of classes."""
    return "".join(map(_as_class, sets))


def _as_class(symbols: Ranges) -> str:
    if len(symbols) == 1 and symbols[0][0] == symbols[0][1]:
        return _letter(symbols[0][0])
    parts = (_letter(first) + (f"-{_letter(last)}" if last > first else "") for first, last in symbols)
    return f"[{''.join(parts)}]"


def _letter(code_point: int) -> str:
    letter = chr(code_point)
    return f"\\{letter}" if letter in _SPECIAL else letter


def may_begin(text: str, sets: list[Ranges]) -> bool:
    """Return whether a text may begin with these sets of symbols, or be the beginning of such a text."""
    return all(contains(symbols, ord(symbol)) for symbol, symbols in zip(text, sets, strict=False))


def is_text(sets: list[Ranges], text: str) -> bool:
    """Return whether these sets of symbols allow one text only, this one."""
    return [*sets] == [((ord(symbol), ord(symbol)),) for symbol in text]
