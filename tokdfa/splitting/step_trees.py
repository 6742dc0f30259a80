"""The patterns of the steps of a splitting, as trees."""

from __future__ import annotations

from tokdfa.errors import PatternError
from tokdfa.patterns.budget import Budget
from tokdfa.patterns.syntax import Concat, Node, Repeat, Symbols, children, is_nullable, parse
from tokdfa.splitting.steps import Split, Splitting

__all__ = ["step_tree"]


def step_tree(step: Split, splitting: Splitting, budget: Budget | None = None) -> Node:
    """Return the pattern of a step as a tree.

    Raises
    ------
    PatternError
        If it cannot be read, or can match the empty text, or repeats something that may be empty.
    """
    if step.literal:
        tree: Node = Concat(tuple(Symbols(((ord(symbol), ord(symbol)),)) for symbol in step.pattern))
    else:
        tree = parse(step.pattern, splitting.library, budget)
    if is_nullable(tree):
        raise PatternError("a pattern that splits must not match the empty text", value=step.pattern)
    if _repeats_nullable(tree):
        # Libraries differ in what they prefer when an iteration of a repetition is empty.
        raise PatternError("a split pattern must not repeat something that may be empty", value=step.pattern)
    return tree


def _repeats_nullable(tree: Node) -> bool:
    nodes = [tree]
    for node in nodes:  # grows during the loop
        if isinstance(node, Repeat) and node.most != 1 and is_nullable(node.body):
            return True
        nodes.extend(children(node))
    return False
