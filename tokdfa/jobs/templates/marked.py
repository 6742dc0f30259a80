"""Strings that stand for contents: they are added and stripped, and all other operations on them are noted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

FIRST: Final = 0xF0000
"""The character that stands for the first content; each has four, by the sides on which white space is stripped."""
_LAST: Final = 0xFFFFD

notes: list[dict[str, Any]] = []
"""The operations on contents, and where: ``{"what": …, "line": …, "slots": […]}``."""


def is_marked(value: object) -> bool:
    """Return whether a string, or one in a list or a dict, stands for contents."""
    if isinstance(value, str):
        return any(FIRST <= ord(symbol) <= _LAST for symbol in str.__str__(value))
    if isinstance(value, dict):
        return any(map(is_marked, value.values()))
    return isinstance(value, (list, tuple)) and any(map(is_marked, value))


def mark(value: Any) -> Any:
    """Return a string as one that notes operations on it, if it stands for contents; anything else as it is."""
    return Marked(value) if isinstance(value, str) and not isinstance(value, Marked) and is_marked(value) else value


def slots_in(value: object) -> set[int]:
    """Return the numbers of the contents that a value has."""
    if isinstance(value, str):
        points = map(ord, str.__str__(value))
        return {(point - FIRST) // 4 for point in points if FIRST <= point <= _LAST}
    members = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return {slot for member in members for slot in slots_in(member)}


def note(what: str, *values: object) -> None:
    """Note an operation on contents, with the line of the template."""
    frame, line = sys._getframe(1), None
    while frame is not None and line is None:
        template = frame.f_globals.get("__jinja_template__") or frame.f_globals.get("_tokdfa_template")
        if frame.f_code.co_filename == "<template>" and template is not None:
            line = template.get_corresponding_lineno(frame.f_lineno)
        frame = frame.f_back  # type: ignore[assignment]
    notes.append({"what": what, "line": line, "slots": sorted(set().union(*map(slots_in, values)))})


class Marked(str):
    """A string that stands for contents, or has such characters."""

    __slots__ = ()

    def __str__(self) -> str:
        return self

    def __add__(self, other: str) -> str:
        return Marked(str.__add__(self, other))

    def __radd__(self, other: str) -> str:
        return Marked(str.__add__(other, self))

    def __format__(self, how: str) -> str:
        if how:
            note("format", self)
        return str.__format__(self, how)

    def __bool__(self) -> bool:
        note("a branch on whether it is empty", self)
        return True

    def strip(self, characters: str | None = None) -> str:
        """Return it with the stripping on both sides noted in the characters that stand for contents."""
        return self._stripped(characters, True, True)

    def lstrip(self, characters: str | None = None) -> str:
        """Return it stripped on the left."""
        return self._stripped(characters, True, False)

    def rstrip(self, characters: str | None = None) -> str:
        """Return it stripped on the right."""
        return self._stripped(characters, False, True)

    def _stripped(self, characters: str | None, left: bool, right: bool) -> str:
        if characters is not None and any(not symbol.isspace() for symbol in characters):
            note("strip", self)
        elif characters is not None:
            note("strip of some white space", self)
        text = str.__str__(self)
        text = str.lstrip(text) if left else text
        text = str.rstrip(text) if right else text
        if text and left:
            text = _flagged(text[0], 1) + text[1:]
            if len(text) > 1 and _is_content(text[0]):
                # Nothing may be left of the first content.
                note("strip of more than one content", text)
        if text and right:
            if len(text) > 1 and _is_content(text[-1]):
                note("strip of more than one content", text)
            text = text[:-1] + _flagged(text[-1], 2)
        return mark(text)  # type: ignore[no-any-return]


def _is_content(symbol: str) -> bool:
    return FIRST <= ord(symbol) <= _LAST


def _flagged(symbol: str, flag: int) -> str:
    return chr(FIRST + ((ord(symbol) - FIRST) | flag)) if _is_content(symbol) else symbol


def _noting(name: str) -> Callable[..., Any]:
    plain = getattr(str, name)

    def method(self: Marked, *arguments: Any, **named: Any) -> Any:
        note(name.strip("_"), self, *arguments)
        return mark(plain(self, *arguments, **named))

    return method


# The methods of every object, but for comparing, hashing and showing it.
_KEPT = {*vars(Marked), *vars(object), "__getnewargs__"}
_KEPT -= {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__repr__"}
for _name in dir(str):
    if _name not in _KEPT:
        setattr(Marked, _name, _noting(_name))
