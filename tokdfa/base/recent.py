"""An LRU cache by size: of values of different sizes, those asked for last are kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sized
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Values by their keys; those asked for last are kept, of up to `most` entries together.

    >>> squares = Recent(most=100, entries=lambda value: value)
    >>> squares.get(3, lambda n: [n * n])
    [9]
    """

    def __init__(self, most: int, entries: Callable[[V], Sized]) -> None:
        self._most, self._entries = most, entries
        self._known: OrderedDict[K, V] = OrderedDict()
        self._n_kept = 0

    def get(self, key: K, make: Callable[[K], V]) -> V:
        """Return the value of a key, made if it is not kept."""
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        found = self._known[key] = make(key)
        self._n_kept += len(self._entries(found))
        while self._n_kept > self._most and len(self._known) > 1:
            self._n_kept -= len(self._entries(self._known.popitem(last=False)[1]))
        return found
