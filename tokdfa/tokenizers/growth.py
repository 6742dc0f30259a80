"""The budget for texts that the steps of a file lengthen: 24 steps that double one character make 16 million of it."""

from __future__ import annotations

from tokdfa.errors import LimitExceededError

__all__ = ["MOST_GROWTH", "check_growth", "most_characters"]

MOST_GROWTH = 64
"""How many times as long a text may become. A character of Unicode becomes 18 at most in any normalization form."""

_ALWAYS = 1 << 12


def most_characters(n: int) -> int:
    """Return the number of characters that a text of n characters may have after all steps."""
    return MOST_GROWTH * n + _ALWAYS


def check_growth(n: int, most: int, step: object) -> None:
    """Refuse a text of n characters, which a step has made or would make, if that is more than `most`.

    Raises
    ------
    LimitExceededError
    """
    if n > most:
        what = f"the steps of the file make a text more than {MOST_GROWTH} times as long"
        raise LimitExceededError(what, value=step, hint=f"it would have {n:,} characters or more")
