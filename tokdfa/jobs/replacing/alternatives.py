"""Several expressions as one, and whether the path of a match depends on its context."""

from __future__ import annotations

from collections.abc import Iterable

import regex

from tokdfa.base.errors import PatternError, WrongTypeError
from tokdfa.regex.syntax import Assertion, Atomic, Node, Repeat, children, is_nullable, parse
from tokdfa.regex.unicode.versions import known_versions


def alternatives(patterns: Iterable[str]) -> str:
    """Return an expression for several ones, with the earlier ones preferred; refused if it means another."""
    options = list(patterns)
    for pattern in options:
        if not isinstance(pattern, str):
            raise WrongTypeError("a pattern must be a str", value=pattern)
        if is_nullable(parse(pattern)):
            raise PatternError("a pattern that matches the empty text, among several", value=pattern)
        if regex.compile(pattern).flags != regex.compile("").flags:
            hint = "write (?i:…) around a part of it"
            raise PatternError("flags for the whole of a pattern, among several", value=pattern, hint=hint)
    if not options:
        raise PatternError("there is no pattern")
    return "|".join(f"(?:{pattern})" for pattern in options) if len(options) > 1 else options[0]


def depends_on_context(tree: Node, others: tuple[type, ...]) -> bool:
    """Return whether the path of a match may depend on more than the symbols next to it, or nodes are of `others`."""
    nodes = [tree]
    for node in nodes:  # grows during the loop
        if isinstance(node, (Atomic, Assertion, *others)) or (isinstance(node, Repeat) and node.mode == "possessive"):
            return True
        nodes.extend(children(node))
    return False


def installed_table() -> str:
    """Return the table with the classes of the installed library, which reads the text of matches again."""
    version = regex.__version__
    return f"regex=={version}" if version in known_versions("regex") else "regex"
