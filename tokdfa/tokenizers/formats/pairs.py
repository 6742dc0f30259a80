"""The rules of a file as pairs of strings, which are looked up in a vocabulary without becoming strings of Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from tokdfa.arrays import Uint8Array

__all__ = ["Joined", "Pairs", "joined"]


class Joined(NamedTuple):
    """Strings in UTF-8, separated by a byte that none of them contains."""

    text: bytes
    separator: int


def joined(parts: Sequence[str]) -> Joined:
    """Join strings, which have no lone surrogates.

    Raises
    ------
    TypeError
        If one is not a string.
    """
    text = "\0".join(parts).encode("utf-8")
    if text.count(0) == len(parts) - 1:
        return Joined(text, 0)
    # No byte of UTF-8 is 0xFF.
    return Joined("\udcff".join(parts).encode("utf-8", "surrogateescape"), 0xFF)


class Pairs:
    """The rules of a file as written.

    Parameters
    ----------
    text : bytes or uint8 array
        The rules in UTF-8, separated by `outer`; each is two parts separated by `inner`. Where that does not hold,
        `columns` raises.
    n_rules : int
    inner, outer : int
        Bytes that no part contains.
    columns : callable
        Returns the left parts and the right ones as strings, or raises the error that the file deserves.
    where : callable
        Returns the position of a rule for messages.
    """

    def __init__(
        self,
        text: bytes | Uint8Array,
        n_rules: int,
        inner: int,
        outer: int,
        columns: Callable[[], tuple[list[str], list[str]]],
        where: Callable[[int], str],
    ) -> None:
        self.text = text
        self.inner = inner
        self.outer = outer
        self.where = where
        self._n_rules = n_rules
        self._columns = columns

    @classmethod
    def of_columns(cls, left: list[str], right: list[str], where: Callable[[int], str]) -> Pairs:
        """Return rules whose parts are strings already, without lone surrogates."""
        text, separator = joined([*chain.from_iterable(zip(left, right, strict=True))])
        return cls(text, len(left), separator, separator, lambda: (left, right), where)

    @cached_property
    def columns(self) -> tuple[list[str], list[str]]:
        """The left parts and the right ones."""
        return self._columns()

    @property
    def left(self) -> list[str]:
        """The left parts."""
        return self.columns[0]

    @property
    def right(self) -> list[str]:
        """The right parts."""
        return self.columns[1]

    def __len__(self) -> int:
        return self._n_rules
