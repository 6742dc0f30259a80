"""Several expressions as one, and which of them a match is of.

With the patterns ``{"[0-9]{4}": "year", "[0-9]+": "number"}``, the match 1813 is a year, and 42 a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import regex

from tokdfa.base.errors import PatternError, WrongTypeError
from tokdfa.regex.syntax import Anchor, Assertion, Atomic, LookAhead, Node, Repeat, children, is_nullable, parse
from tokdfa.regex.unicode.versions import known_versions

# The texts of this many matches are kept with their names.
_KEPT = 1 << 16


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


class PatternNames:
    """The names of patterns, for the matches of :attr:`pattern`, which :func:`installed_table` reads.

    A match has the name of the first pattern that matches its whole text. Among the matches that a backtracking engine
    finds first this is the pattern that it took: any earlier one would have matched there.
    """

    def __init__(self, named: Mapping[str, str]) -> None:
        self.pattern = alternatives(named)
        names = {pattern: name.encode("utf-8", "surrogateescape") for pattern, name in named.items()}
        self.names = [*dict.fromkeys(names.values())]
        for pattern in names if len(names) > 1 else ():
            if depends_on_context(parse(pattern), (LookAhead, Anchor)):
                what = "a pattern with a look-around, an anchor or an atomic group, among several with names"
                raise PatternError(what, value=pattern, hint="search for it alone")
        self._named = [(regex.compile(pattern), name) for pattern, name in names.items()]
        self.name_of = lru_cache(_KEPT)(self._name_of)

    def _name_of(self, text: bytes) -> bytes:
        """Return the name of a match with this text."""
        if len(self._named) == 1:
            return self._named[0][1]
        whole = text.decode("utf-8")
        found = next((name for own, name in self._named if own.fullmatch(whole)), None)
        if found is None:
            hint = f"its Unicode tables are not those of regex {regex.__version__}; search for each pattern alone"
            raise PatternError("the installed library finds no pattern for a match", value=whole, hint=hint)
        return found
