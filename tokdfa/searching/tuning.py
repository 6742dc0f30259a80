"""When a search finds out what every token does, and how much it may remember of it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "Tuning"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of searching. They change what a search costs, never what it finds.

    Parameters
    ----------
    block : int
        Number of ids that are searched at once. What is kept of them has to stay in the second-level cache.
    patience : int
        Number of ids of a stream after which it pays to find out what every token does to the automaton of the
        pattern; before that, tokens are read byte by byte.
    max_entries : int
        Number of entries that the table of what tokens do may have, by states and classes of tokens. An automaton too
        large for it remembers the outcomes of tokens as it meets them.
    """

    block: int = 1 << 18
    patience: int = 1 << 16
    max_entries: int = 1 << 24


DEFAULT = Tuning()
