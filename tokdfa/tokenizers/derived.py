"""Tables that are computed from a tokenizer, and kept by it: made once, gone with it."""

from __future__ import annotations

import os
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Event, Lock, get_ident
from typing import Any, Generic, TypeAlias, TypeVar

Owner = TypeVar("Owner")
_Name: TypeAlias = tuple[Callable[..., Any], tuple[Hashable, ...]]

MOST_KEYED = 16
"""The most tables of one factory that are kept for different keys; the one used longest ago goes first."""


class OfTokenizer(Generic[Owner]):
    """A table that refers to its tokenizer, which keeps it, without keeping the tokenizer alive.

    Whoever uses the table holds the tokenizer.
    """

    def __init__(self, tokenizer: Owner) -> None:
        self._owner = weakref.ref(tokenizer)

    @property
    def tokenizer(self) -> Owner:
        """The tokenizer."""
        tokenizer = self._owner()
        if tokenizer is None:
            raise ReferenceError("the tokenizer of this table is gone")
        return tokenizer


class _Building:
    """A table that a thread is making; other threads wait for `done`."""

    def __init__(self) -> None:
        self.done = Event()
        self.thread = get_ident()


class DerivedTables:
    """The tables of one tokenizer, by the functions that make them and their keys.

    No lock is held while a table is made: threads that want the same one wait for it, others do not. Those `made` that
    have a key are in the order of their last use.
    """

    def __init__(self) -> None:
        self.made: OrderedDict[_Name, Any] = OrderedDict()
        self._building: dict[_Name, _Building] = {}
        self._lock = Lock()
        _ALL.add(self)

    def get(self, owner: object, factory: Callable[..., Any], key: tuple[Hashable, ...]) -> Any:
        """Return ``factory(owner, *key)``, which one thread makes while the others wait.

        An error that the factory raises is not kept: the next call tries again.
        """
        name = factory, key
        while True:
            with self._lock:
                if name in self.made:
                    if key:
                        self.made.move_to_end(name)
                    return self.made[name]
                building = self._building.get(name)
                if building is None:
                    building = self._building[name] = _Building()
                    break
            if building.thread == get_ident():
                raise RecursionError(f"{factory.__qualname__} needs its own result")
            building.done.wait()
        try:
            table = factory(owner, *key)
            with self._lock:
                self._keep(name, table)
            return table
        finally:
            with self._lock:
                self._building.pop(name, None)
            building.done.set()

    def _keep(self, name: _Name, table: object) -> None:
        """Keep a table, and let the oldest one of its factory go if there are too many with keys."""
        self.made[name] = table
        factory, key = name
        if key:
            keyed = [other for other in self.made if other[0] is factory and other[1]]
            if len(keyed) > MOST_KEYED:
                del self.made[keyed[0]]

    def renew(self) -> None:
        """Forget, in a forked process, the threads that do not exist in it."""
        self._lock = Lock()
        self._building.clear()


_ALL: weakref.WeakSet[DerivedTables] = weakref.WeakSet()


def _renew() -> None:
    for tables in list(_ALL):
        tables.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
