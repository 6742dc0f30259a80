"""The counters of split patterns, which make machines large."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tokdfa.errors import LimitExceededError
from tokdfa.patterns.syntax import Repeat, children
from tokdfa.splitting.step_trees import step_tree
from tokdfa.splitting.steps import Splitting

__all__ = ["naming_counters"]

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
        nodes = [step_tree(step, splitting)]
        for node in nodes:  # grows during the loop
            if isinstance(node, Repeat) and max(node.least, node.most or 0) > most:
                most = max(node.least, node.most or 0)
                where = f"pattern{f' {number}' if len(splitting.steps) > 1 else ''}, offset {node.offset}"
            nodes.extend(children(node))
    return (where, most) if where else None
