"""What comes in the place of a match: a text, or a template that refers to what the match has captured."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import regex

from tokdfa.base.errors import PatternError, WrongTypeError
from tokdfa.regex.syntax import Assertion, Atomic, Node, Repeat, children, parse

__all__ = ["Template", "check_replacement"]

# An escaped backslash, or a group. What looks like one and is an octal escape does no harm.
_GROUP = regex.compile(r"\\(?:(g<0>)|(g<|[1-9])|(?s:.))")


class Template:
    r"""A replacement, as `re.sub` reads it: ``\1`` and ``\g<name>`` are groups, and ``\n`` is a line feed.

    The pattern is what is searched for: an expression, or words, which have no groups.

    Attributes
    ----------
    text : bytes or None
        The replacement, if it is the same for all matches.
    captures : bool
        Whether it depends on what the groups of the pattern have captured.
    looks_far : bool
        Whether captures may depend on text that is far from the match.
    pattern : regex.Pattern
        The expression; for words, one that matches any text.
    """

    def __init__(self, pattern: str | Iterable[str | bytes], replacement: str) -> None:
        self._replacement = replacement
        self.pattern: Any = regex.compile(pattern if isinstance(pattern, str) else "(?s:.*)")
        try:
            _with_groups_of(self.pattern).expand(replacement)
        except (regex.error, IndexError) as error:
            what = f"the replacement is not a template for this pattern: {error}"
            raise PatternError(what, value=replacement, hint=r"a backslash is written \\") from None
        groups = [found.group(1, 2) for found in _GROUP.finditer(replacement)]
        self.captures = any(other is not None for _, other in groups)
        self.text: bytes | None = None
        self.looks_far = False
        if not any(whole or other for whole, other in groups):
            self.text = _encoded(regex.sub("x", replacement, "x"), replacement)
        elif self.captures and isinstance(pattern, str):
            self.looks_far = _looks_far(parse(pattern))

    def of_whole(self, text: bytes) -> bytes:
        """Return the replacement of a match with this text, if nothing else is captured."""
        return self.of_match(regex.fullmatch("(?s:.*)", text.decode("utf-8")))

    def of_match(self, match: Any) -> bytes:
        """Return the replacement of a match of :attr:`pattern`."""
        return _encoded(match.expand(self._replacement), self._replacement)


def _with_groups_of(pattern: Any) -> Any:
    """Return a match of the empty text that has the groups of a pattern."""
    names = {number: name for name, number in pattern.groupindex.items()}
    groups = (f"(?P<{names[number]}>)" if number in names else "()" for number in range(1, pattern.groups + 1))
    return regex.match("".join(groups), "")


def check_replacement(replacement: object) -> None:
    """Refuse a replacement that is not a string."""
    if not isinstance(replacement, str):
        hint = r"a template such as r'\1' refers to groups" if callable(replacement) else None
        raise WrongTypeError("a replacement must be a str", value=replacement, hint=hint)


def _encoded(text: str, replacement: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        what = "the replacement has half of a surrogate pair, which cannot occur in a text"
        raise PatternError(what, value=replacement, where=f"character {error.start}") from None


def _looks_far(tree: Node) -> bool:
    """Return whether which path a match takes may depend on more than the symbols beside it."""
    nodes = [tree]
    for node in nodes:  # grows during the loop
        if isinstance(node, (Atomic, Assertion)) or (isinstance(node, Repeat) and node.mode == "possessive"):
            return True
        nodes.extend(children(node))
    return False
