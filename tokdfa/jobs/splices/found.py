"""Special tokens in a text, guessed symbol by symbol: an unambiguous automaton that finds the leftmost longest ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

PLAIN: Final = -1
"""The effect of a symbol outside of special tokens; WITHIN continues one, and a number begins that one."""
WITHIN: Final = -2


class Scan(NamedTuple):
    """A guess: the special token that is being read, if any, and the texts that must not turn out to be one."""

    special: int = -1  # Its number; -1 outside
    n_read: int = 0  # The number of its symbols read so far
    # The texts read since offsets where no special token, or a shorter one, was supposed to begin.
    pending: frozenset[str] = frozenset()


# The effect of a symbol: PLAIN, WITHIN or the number of a special token.
Effect: TypeAlias = int


class Found:
    """The guesses about special tokens that are found wherever they occur: the leftmost first, of these the longest."""

    def __init__(self, contents: Sequence[str]) -> None:
        self.contents = tuple(contents)
        self._whole = {*contents}
        self._beginnings = {content[:n] for content in contents for n in range(1, len(content))}

    @property
    def symbols(self) -> list[str]:
        """The symbols that special tokens have, ascending."""
        return sorted({symbol for content in self.contents for symbol in content})

    def may_end(self, scan: Scan) -> bool:
        """Return whether a text can end after a guess."""
        return scan.special < 0

    def moves(self, scan: Scan, symbol: str | None) -> Iterator[tuple[Scan, Effect]]:
        """Yield the guesses after a symbol, with its effects; None is a symbol that no special token has."""
        longer = set() if symbol is None else {begun + symbol for begun in scan.pending}
        if longer & self._whole:
            return
        pending = frozenset(longer & self._beginnings)
        if scan.special >= 0:
            if self.contents[scan.special][scan.n_read] == symbol:
                yield self._within(scan.special, scan.n_read + 1, pending), WITHIN
            return
        for number, content in enumerate(self.contents):
            if content[0] == symbol:
                yield self._within(number, 1, pending), number
        if symbol is None or symbol not in self._whole:
            begun = {symbol} & self._beginnings if symbol is not None else set()
            yield Scan(pending=pending | begun), PLAIN

    def _within(self, special: int, n_read: int, pending: frozenset[str]) -> Scan:
        content = self.contents[special]
        if n_read < len(content):
            return Scan(special, n_read, pending)
        # A longer one at the same offset would be found instead.
        return Scan(pending=pending | ({content} & self._beginnings))


def apart(contents: Iterable[str]) -> frozenset[str]:
    """Return the texts that share nothing with another one of them, or with themselves, in any text that has both."""
    every = {*contents}
    begun: dict[str, set[str]] = {}
    for content in every:
        for n in range(1, len(content) + 1):
            begun.setdefault(content[:n], set()).add(content)
    meeting: set[str] = set()
    for content in every:
        for at in range(len(content)):
            # Contents that begin within this one and continue beyond it, or end with it.
            others = begun.get(content[at:], set()) - ({content} if at == 0 else set())
            # Contents within this one.
            others |= {content[at:end] for end in range(at + 1, len(content) + 1)} & every - {content}
            if others:
                meeting |= {content} | others
    return frozenset(every - meeting)


def overlap(one: str, other: str) -> bool:
    """Return whether a text can have both so that they overlap, other than as the same symbols at the same offset."""
    if one in other or other in one:
        return one != other
    return _meets(one, other) or _meets(other, one)


def _meets(left: str, right: str) -> bool:
    return any(left.endswith(right[:n]) for n in range(1, min(len(left), len(right))))
