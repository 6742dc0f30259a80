"""A difference made small: parts are left out of a text, or of ids, while the difference stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["shrunk"]

T = TypeVar("T", str, list[int])
MOST = 3000


def shrunk(whole: T, differs: Callable[[T], bool], most: int = MOST) -> T:
    """Return a part for which `differs` holds as for the whole; it is asked up to `most` times."""
    asked, size = 0, max(len(whole) // 2, 1)
    while True:
        at, smaller = 0, False
        while at < len(whole) and asked < most:
            part = whole[:at] + whole[at + size :]
            asked += 1
            if differs(part):
                whole, smaller = part, True
            else:
                at += size
        if asked >= most or (size == 1 and not smaller):
            return whole
        size = max(size // 2, 1)
