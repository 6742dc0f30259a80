"""The size limits of the automata that a command writes out."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "Tuning"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of the commands that show explicit automata: they limit the waiting time before a refusal.

    Parameters
    ----------
    max_transitions : int
        Number of transitions of an explicit token DFA that is drawn or whose locality is measured.
    max_explored_transitions : int
        Number of transitions of T^D(L) of which ``info --language`` counts the members: some seconds' worth.
    max_pairs : int
        Number of pairs of states that are remembered to find from which k on an automaton is k-local.
    """

    max_transitions: int = 2_000_000
    max_explored_transitions: int = 500_000
    max_pairs: int = 20_000_000


DEFAULT = Tuning()
