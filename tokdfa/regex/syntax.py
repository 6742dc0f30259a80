"""Patterns become trees: read in the dialect and with the character classes of the library they are written for."""

from __future__ import annotations

import re
import warnings
from importlib import import_module
from typing import Any, NoReturn, cast

from tokdfa.base.budget import Budget
from tokdfa.base.errors import LimitExceededError, PatternError
from tokdfa.regex.dialects import read_dialect
from tokdfa.regex.folds import expand_folds
from tokdfa.regex.graphemes import boundary, grapheme
from tokdfa.regex.operators import Folded, Operators
from tokdfa.regex.tree import (
    Alternate,
    Anchor,
    Assertion,
    Atomic,
    Concat,
    LookAhead,
    Mode,
    Node,
    Repeat,
    Symbols,
    children,
    is_nullable,
)
from tokdfa.regex.unicode import complement, library_of, ranges, union, universe

__all__ = [
    "Alternate",
    "Anchor",
    "Assertion",
    "Atomic",
    "Concat",
    "LookAhead",
    "Mode",
    "Node",
    "Repeat",
    "Symbols",
    "children",
    "is_nullable",
    "parse",
]


def parse(pattern: str, table: str = "regex", budget: Budget | None = None) -> Node:
    """Read a pattern; captures do not matter, so the tree has no groups.

    The depth of the tree is at most a small multiple of :data:`MAX_NESTING`. The table names the library, for its
    dialect and character classes: its newest table or, with a version, another, as in "tokenizers==0.20.3". `regex`
    means its version 0 behaviour; tokenizers uses Oniguruma, and tiktoken uses fancy-regex.

    A PatternError names what is not valid in the dialect, or not supported, such as a back-reference, recursion or a
    conditional group, and its offset. A LimitExceededError says that groups are nested too deeply, or the pattern is
    too long, or takes longer than `budget` allows.
    """
    budget = Budget() if budget is None else budget
    operators = expand_folds(read_dialect(pattern, table, budget), pattern, table)
    return _Conversion(pattern, operators, table, budget).run(_parse_operators(operators, pattern))


def _parse_operators(operators: Operators, pattern: str) -> Any:
    # The parser of the standard library. As every atom is one character, its dialect has no influence.
    parser = import_module("re._parser")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return parser.parse(operators.text)
    except re.error as error:
        at = operators.offsets[error.pos] if error.pos is not None and error.pos < len(operators.offsets) else 0
        raise PatternError(error.msg, value=pattern[at : at + 40], where=f"pattern, offset {at}") from None
    except OverflowError as error:
        raise LimitExceededError(f"the pattern cannot be read: {error}", value=pattern) from None


class _Conversion:
    """The conversion of the parser's tree to ours, children first, without recursion."""

    def __init__(self, pattern: str, operators: Operators, table: str, budget: Budget) -> None:
        self.pattern = pattern
        self.budget = budget
        self.operators = operators
        # Both are taken apart in the order in which they are written.
        self.looks, self.repeats = iter(operators.looks), iter(operators.repeats)
        self.table = table
        self.done: list[Node] = []

    def run(self, tree: Any) -> Node:
        """Return the tree; a task is a parsed item to take apart, or a number of results to put together."""
        tasks: list[tuple[str, Any]] = [("SEQUENCE", tree)]
        while tasks:
            self.budget.check_time()
            name, argument = tasks.pop()
            if name == "BUILD":
                build, count = argument
                children = [self.done.pop() for _ in range(count)][::-1]
                self.done.append(build(children))
            else:
                build, items = self.take_apart(name, argument)
                tasks.append(("BUILD", (build, len(items))))
                tasks.extend(reversed(items))
        return self.done.pop()

    def take_apart(self, name: str, argument: Any) -> tuple[Any, list[tuple[str, Any]]]:
        """Return the function that builds a node, and the items from which its children are made."""
        if name == "SEQUENCE":
            return _concat, [(str(op), argument) for op, argument in argument]
        if name == "LITERAL":
            return lambda _: self.leaf(argument), []
        if name == "IN":
            return _alternate, [(str(op), argument) for op, argument in argument]
        if name == "BRANCH":
            return _alternate, [("SEQUENCE", option) for option in argument[1]]
        if name == "SUBPATTERN":
            return _concat, [("SEQUENCE", argument[3])]
        if name == "ATOMIC_GROUP":
            at = next(self.repeats, 0)
            return lambda children: Atomic(children[0], at), [("SEQUENCE", argument)]
        if name in ("ASSERT", "ASSERT_NOT"):
            at = next(self.looks)
            behind, body = argument[0] < 0, argument[1]
            return lambda children: self.look(children[0], behind, name == "ASSERT_NOT", at), [("SEQUENCE", body)]
        if name == "FAILURE":  # a negated look-around at nothing
            at = next(self.looks)
            return lambda _: Assertion(Concat(()), behind=False, negated=True, offset=at), []
        at = next(self.repeats, 0)
        least, most, body = argument
        modes: dict[str, Mode] = {"MAX_REPEAT": "greedy", "MIN_REPEAT": "lazy", "POSSESSIVE_REPEAT": "possessive"}
        bound = None if str(most) == "MAXREPEAT" else int(most)
        return lambda children: self.repeat(children[0], int(least), bound, modes[name], at), [("SEQUENCE", body)]

    def leaf(self, stand_in: int) -> Node:
        atom = self.operators.atom(stand_in)
        if isinstance(atom, tuple):
            return Symbols(atom)
        assert not isinstance(atom, Folded)
        if "grapheme" in atom:
            negated = atom == "inside a grapheme"
            return grapheme(self.table) if atom == "grapheme" else boundary(self.table, negated=negated)
        if atom in ("word boundary", "inside a word"):
            return Anchor(atom, ranges(r"\w", self.table))
        return Anchor(atom)

    def repeat(self, body: Node, least: int, most: int | None, mode: Mode, at: int) -> Node:
        # Oniguruma refuses an assertion among the options, too.
        options = body.options if isinstance(body, Alternate) and library_of(self.table) == "tokenizers" else (body,)
        if any(isinstance(option, (LookAhead, Assertion, Anchor)) for option in options):
            self.refuse("an assertion is repeated, which means the same as a single one", at)
        return Repeat(body, least, most, mode, at)

    def look(self, body: Node, behind: bool, negated: bool, at: int) -> Node:
        nodes = [body]
        for node in nodes:  # grows during the loop
            if isinstance(node, Anchor) and node.kind == "start of search":
                self.refuse(r"\G in a look-around is not supported", at)
            if behind and (isinstance(node, Atomic) or (isinstance(node, Repeat) and node.mode == "possessive")):
                self.refuse("an atomic group or possessive repetition in a look-behind is not supported", at)
            nodes.extend(children(node))
        endless = any(isinstance(node, Repeat) and node.most is None for node in nodes)
        if behind and library_of(self.table) == "tokenizers" and endless and is_nullable(body):
            self.refuse("Oniguruma refuses a look-behind of any length, none included", at)
        test = None if behind else _one_symbol_test(body)
        if test is None:
            return Assertion(body, behind, negated, at)
        if not negated:
            return test
        return LookAhead(complement(test.ranges, universe(self.table)), not test.at_end, not test.at_broken)

    def refuse(self, what: str, at: int) -> NoReturn:
        raise PatternError(what, value=self.pattern[at : at + 40], where=f"pattern, offset {at}")


def _concat(parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Concat(tuple(parts))


def _alternate(options: list[Node]) -> Node:
    if all(isinstance(option, Symbols) for option in options):
        return Symbols(union(*(cast(Symbols, option).ranges for option in options)))
    return options[0] if len(options) == 1 else Alternate(tuple(options))


def _one_symbol_test(node: Node) -> LookAhead | None:
    """Return the look-ahead that holds where the node can begin; None if more than the next symbol decides it."""
    if isinstance(node, Symbols):
        return LookAhead(node.ranges, False)
    if isinstance(node, LookAhead):
        return node
    if isinstance(node, Anchor) and node.kind in ("end of text", "end of line"):
        return LookAhead(((10, 10),) if node.kind == "end of line" else (), True)
    if isinstance(node, Alternate):
        tests = [_one_symbol_test(option) for option in node.options]
        known = [test for test in tests if test is not None]
        if len(known) == len(tests):
            ends, broken = any(test.at_end for test in known), any(test.at_broken for test in known)
            return LookAhead(union(*(test.ranges for test in known)), ends, broken)
    return None
