"""Checks of state, token and symbol numbers, and of the size of explicit automata."""

from __future__ import annotations

import operator

from tokdfa.errors import AutomatonError, LimitExceededError

__all__ = ["check_budget", "checked"]


def checked(value: int, bound: int, what: str, where: str) -> int:
    """Return `value` after checking that it is an integer from 0 to `bound` - 1."""
    try:
        number = operator.index(value)
    except TypeError:
        raise AutomatonError(f"a {what} must be an integer", value=value, where=where) from None
    if not 0 <= number < bound:
        raise AutomatonError(f"{what} out of range", value=value, where=where, hint=f"0 to {bound - 1} exist")
    return number


def check_budget(what: str, count: int, limit: int) -> None:
    """Raise LimitExceededError if `count` exceeds `limit`."""
    if count > limit:
        raise LimitExceededError(f"the explicit DFA would have more than {limit} {what}", hint=f"raise max_{what}")
