"""The patterns of the steps of a splitting, as trees, and their counters, which make machines large."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from tokdfa.base.budget import Budget
from tokdfa.base.errors import LimitExceededError, PatternError
from tokdfa.regex.syntax import Alternate, Concat, Node, Repeat, Symbols, children, is_nullable, parse
from tokdfa.regex.unicode import ranges, union
from tokdfa.regex.unicode.tables import names
from tokdfa.tokenizers.pretokenizers.steps import ONE_SCRIPT, Split, Splitting


def step_tree(step: Split, splitting: Splitting, budget: Budget | None = None) -> Node:
    """Return the pattern of a step as a tree.

    Raises PatternError if it cannot be read, repeats something that may be empty, or can match the empty text and is of
    tiktoken, which fails on a piece without text.
    """
    if step.literal:
        tree: Node = Concat(tuple(Symbols(((ord(symbol), ord(symbol)),)) for symbol in step.pattern))
    elif step.pattern == ONE_SCRIPT:
        any_script = ranges("unicode_script_any", splitting.table)
        scripts = [name for name in names(splitting.table) if re.fullmatch(r"unicode_script_\d+", name)]
        sets = [ranges(name, splitting.table) for name in scripts]
        tree = Alternate(
            tuple(Concat((Symbols(one), Repeat(Symbols(union(one, any_script)), 0, None))) for one in sets)
        )
    else:
        tree = parse(step.pattern, splitting.table, budget)
    if splitting.library == "tiktoken" and is_nullable(tree):
        what = "a pattern that splits must not match the empty text: tiktoken fails on a piece without text"
        raise PatternError(what, value=step.pattern)
    repeats = (node for node in _nodes(tree) if isinstance(node, Repeat) and node.most != 1)
    if (repeated := next((node for node in repeats if is_nullable(node.body)), None)) is not None:
        # Libraries differ in their preference when an iteration of a repetition is empty.
        raise PatternError(
            "a split pattern must not repeat something that may be empty",
            value=step.pattern[repeated.offset : repeated.offset + 40],
            where=f"pattern, offset {repeated.offset}",
        )
    return tree


def _nodes(tree: Node) -> Iterator[Node]:
    """Yield the nodes of a tree, nearest to its root first."""
    nodes = [tree]
    for node in nodes:  # grows during the loop
        yield node
        nodes.extend(children(node))


_LARGE = 32


@contextmanager
def naming_counters(splitting: Splitting) -> Iterator[None]:
    """Let the error that a budget is spent name the largest counter of the patterns, if there is a large one."""
    try:
        yield
    except LimitExceededError as error:
        found = _largest(splitting)
        if found is None:
            raise
        where, count = found
        hint = f"it counts to {count} there, and a machine keeps every count apart"
        raise LimitExceededError(error.what, where=where, hint=hint) from None


def _largest(splitting: Splitting) -> tuple[str, int] | None:
    most, where = _LARGE, ""
    for number, step in enumerate(splitting.steps):
        for node in _nodes(step_tree(step, splitting)):
            if isinstance(node, Repeat) and max(node.least, node.most or 0) > most:
                most = max(node.least, node.most or 0)
                where = f"pattern{f' {number}' if len(splitting.steps) > 1 else ''}, offset {node.offset}"
    return (where, most) if where else None
