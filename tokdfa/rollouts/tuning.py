"""How many rollouts are taken up at once."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "Tuning"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of checking rollouts. They change what it costs, never what it finds.

    Parameters
    ----------
    parcel : int
        Number of ids from which on the rollouts collected go to a thread.
    most_rollouts : int
        Number of rollouts from which on they do so.
    """

    parcel: int = 1 << 18
    most_rollouts: int = 1 << 12


DEFAULT = Tuning()
