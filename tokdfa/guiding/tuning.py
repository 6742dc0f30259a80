"""The limits of deciding what a grammar forces."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "Tuning"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The limits of :func:`tokdfa.forced`. They change what is left undecided, never what is decided.

    Parameters
    ----------
    max_moves : int
        Number of moves between states after which the question is refused.
    max_counted : int
        Number of moves after which texts of more bytes are not counted.
    max_searched : int
        Number of ways that are gone on from before the search for a shortest text is given up.
    """

    max_moves: int = 1 << 28
    max_counted: int = 1 << 22
    max_searched: int = 1 << 14


DEFAULT = Tuning()
