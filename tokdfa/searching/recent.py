"""A small cache of the values made last."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from tokdfa.locks import SHARED

__all__ = ["RecentlyMade"]

T = TypeVar("T")


class RecentlyMade(Generic[T]):
    """The values asked for last, by their keys.

    Parameters
    ----------
    size : int
        The number of values kept.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._kept: dict[Hashable, T] = {}

    def find(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key, made now unless it is kept."""
        with SHARED:
            found = self._kept.pop(key, None)
            if found is not None:
                self._kept[key] = found
                return found
        made = make()
        with SHARED:
            self._kept[key] = made
            while len(self._kept) > self.size:
                self._kept.pop(next(iter(self._kept)))
        return made
